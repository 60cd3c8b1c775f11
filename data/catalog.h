// What is known about data sets without reading their files.
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
  // Reads NAME.textproto of each data set in a folder. Errors: a read error (core/files/system_calls.h) for the folder;
  // kInvalidArgument with "FILE:LINE: path: problem" lines for files that can't be read, don't parse, break the rules
  // of catalog.proto, have another name than their data set, or are contradictory.
  static absl::StatusOr<Catalog> Open(const std::string& folder);
  // Reads several folders into one catalog. Errors: also kInvalidArgument, with both paths, if two folders have files
  // of the same name and different content.
  static absl::StatusOr<Catalog> Open(const std::vector<std::string>& folders);

  // Precondition: no data set has problems.
  explicit Catalog(const std::vector<DataSetInfo>& data_sets);

  // Finds a data set by its name. "folder:/PATH" is a folder of images (data/sets/folder_data_set.h), and
  // "features:/PATH" a file of features (data/sets/feature_data_set.h); they are looked at in the first call. The
  // result lives as long as any copy of this catalog. Thread-safe. Errors: kNotFound with the known names. For a folder
  // or a file of features: a read error (core/files/system_calls.h); kInvalidArgument if the folder has no images, or
  // the arrays are not as they must be; kDataLoss if the archive is corrupt.
  absl::StatusOr<const DataSetInfo*> Find(absl::string_view name) const;

  // Returns null if there is no such data set. For "folder:/PATH" and "features:/PATH", all copies of this catalog
  // share the result.
  DataSetInfo* FindMutable(absl::string_view name);

  // Sorted.
  std::vector<std::string> names() const;

 private:
  // The data sets that Find() has described, by name.
  struct Described {
    std::mutex mutex;
    std::map<std::string, DataSetInfo, std::less<>> found;
  };

  std::map<std::string, DataSetInfo, std::less<>> data_sets_;
  std::shared_ptr<Described> described_ = std::make_shared<Described>();  // copies share it
};

// Returns the number of samples of a selection, computed from the catalog alone: the images of an epoch or a test. For
// draws and lists with limits per class, and for folds and validation samples of clusters, it is an estimate (see
// IsEstimate()). Errors: kNotFound for an unknown
// data set or part, and the other errors of Catalog::Find() for a folder or a file of features; kInvalidArgument for a
// class id out of range; kDataLoss if `part_digest` is set and differs from the digest of the catalog's part: the
// catalog entry, or the files (DataSetPart.content_sha256), have changed since the selection was made.
absl::StatusOr<int64_t> CountSamples(const Selection& selection, const Catalog& catalog);

// Whether the parts have clusters, and the selection a fold or samples for validation, into which whole ones go.
// Precondition: CountSamples() has no error.
bool DividesClusters(const Selection& selection, const Catalog& catalog);

// Whether the selection may have another number of samples than CountSamples() returns: if it divides clusters; or if
// samples are drawn or listed and classes are limited, because fewer samples of a class may be drawn or listed than the
// limit allows. Precondition: CountSamples() has no error.
bool IsEstimate(const Selection& selection, const Catalog& catalog);

}  // namespace openset

#endif  // OPENSET_DATA_CATALOG_H_
