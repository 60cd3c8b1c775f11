// Bringing a data set's files.
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
  // Where the files go.
  std::string data_folder;
  // Where they may be already; `data_folder` among them.
  std::vector<std::string> data_folders;
  // Only what these parts need, by their names; all if none.
  std::vector<std::string> parts;
  // third_party/fetch.sh; "" where packages can't be fetched.
  std::string package_script;
  // Told in a line what is going on.
  std::function<void(const std::string& line)> say;
  // Also files whose SHA-256 nobody states.
  bool unverified = false;
  DownloadOptions download;
};

// Brings the files of the parts that are not there, from the first of the data set's sources that works, and checks all
// of them. Archives are removed once they are unpacked. Does nothing if all is there. No link below the data folder is
// followed.
// Errors: kInvalidArgument for a part that there is not; kUnavailable if no source works, with the reason of each;
// kFailedPrecondition, with what to do, for files that must be brought by hand, or that can't be verified, without
// `unverified`.
absl::Status FetchDataSet(const DataSetInfo& info, const FetchOptions& options);

// CheckFiles() of data/sets/data_set.h for the parts, all if none are named.
absl::Status CheckParts(const DataSetInfo& info, const std::vector<std::string>& parts,
                        const std::vector<std::string>& data_folders);

}  // namespace openset

#endif  // OPENSET_DATA_FETCH_FETCH_DATA_SET_H_
