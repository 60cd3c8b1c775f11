// What is known of data sets without reading them.
#ifndef OPENSET_DATA_CATALOG_H_
#define OPENSET_DATA_CATALOG_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/catalog.pb.h"
#include "data/task.pb.h"

namespace openset {

// Data sets by name.
class Catalog {
 public:
  // Reads NAME.textproto of each data set in a folder. Errors: kNotFound if there is no such folder; kInvalidArgument
  // with "FILE:LINE: path: problem" lines for files that don't parse, break the rules of catalog.proto, have another
  // name than their data set, or are contradictory.
  static absl::StatusOr<Catalog> Open(const std::string& folder);
  // Those of several folders beside each other. Errors: also kInvalidArgument for a data set that two folders have
  // files of, with both; copies of one file are no such two.
  static absl::StatusOr<Catalog> Open(const std::vector<std::string>& folders);

  // Precondition: no data set has problems.
  explicit Catalog(const std::vector<DataSetInfo>& data_sets);

  // "folder:/PATH" is a folder of images (data/sets/folder_data_set.h), which is listed when it is first asked for. It
  // lives as long as a copy of this catalog. From any thread. Errors: kNotFound with the known names; those of
  // DescribeFolder().
  absl::StatusOr<const DataSetInfo*> Find(absl::string_view name) const;

  // Null if there is none. Of a "folder:/PATH" that of all copies of this catalog.
  DataSetInfo* FindMutable(absl::string_view name);

  // Sorted.
  std::vector<std::string> names() const;

 private:
  // Folders that were asked for, by name.
  struct Folders {
    std::mutex mutex;
    std::map<std::string, DataSetInfo, std::less<>> found;
  };

  std::map<std::string, DataSetInfo, std::less<>> data_sets_;
  std::shared_ptr<Folders> folders_ = std::make_shared<Folders>();  // copies share it
};

// How many samples a selection has, by the catalog alone: the images of an epoch, or of a test; at most so many where
// they are drawn and limited. Errors: kNotFound for an unknown data set or part; kInvalidArgument for a class id out of
// range; kFailedPrecondition if `part_digest` is set and is not that of the catalog's part, which then has changed
// since the selection was made, or whose files have (DataSetPart.content_sha256).
absl::StatusOr<int64_t> CountSamples(const Selection& selection, const Catalog& catalog);

// Whether it may have fewer samples than CountSamples() says: of a class that is limited, fewer may be drawn or listed
// than the limit.
bool MayHaveFewer(const Selection& selection);

}  // namespace openset

#endif  // OPENSET_DATA_CATALOG_H_
