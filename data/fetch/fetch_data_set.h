// Downloads a data set's files.
#ifndef OPENSET_DATA_FETCH_FETCH_DATA_SET_H_
#define OPENSET_DATA_FETCH_FETCH_DATA_SET_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "data/catalog.pb.h"
#include "data/fetch/download.h"

namespace openset {

struct FetchOptions {
  // The folder into which the files are downloaded.
  std::string data_folder;
  // The folders in which they may be already, including `data_folder`.
  std::vector<std::string> data_folders;
  // Only the files of these parts, given by their names; if empty, of all parts.
  std::vector<std::string> parts;
  // The path of third_party/fetch.sh; "" if packages can't be fetched.
  std::string package_script;
  // Called with a line for the user whenever something starts or ends.
  std::function<void(const std::string& line)> say;
  // Also downloads files whose SHA-256 is not known.
  bool unverified = false;
  DownloadOptions download;
};

// Downloads the missing files of the parts from the first of the data set's sources that works, and checks the files of
// these parts. Archives are deleted once they are unpacked. Does nothing if all files are there. No link below the data
// folder is followed. Errors: kInvalidArgument for a part that does not exist; kUnavailable if no source works, with
// the reason of each; kFailedPrecondition, with what to do, for files that must be downloaded by hand, or that can't be
// verified, unless `unverified` is set.
absl::Status FetchDataSet(const DataSetInfo& info, const FetchOptions& options);

// Calls CheckFiles() (data/sets/data_set.h) for the parts, or for all parts if none are named.
absl::Status CheckParts(const DataSetInfo& info, const std::vector<std::string>& parts,
                        const std::vector<std::string>& data_folders);

}  // namespace openset

#endif  // OPENSET_DATA_FETCH_FETCH_DATA_SET_H_
