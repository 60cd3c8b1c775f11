// Finds the files of a data set's part.
#ifndef OPENSET_DATA_SETS_PART_FILES_H_
#define OPENSET_DATA_SETS_PART_FILES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/catalog.pb.h"
#include "data/formats/part_format.h"
#include "data/image_source.h"

namespace openset {

// Looks for each file in the data folders in order, and returns the first layout whose files all exist. Errors:
// kNotFound for an unknown part, and for missing files, with the folders and how to get the files.
absl::StatusOr<FoundPart> FindPartFiles(const DataSetInfo& info, absl::string_view part,
                                        const std::vector<std::string>& data_folders);

// The states (core/files/file_state.h) of the files from which a part is read. Of 200,000 images, they take 2 MB and a
// fraction of a second.
class PartStates {
 public:
  // Looks at all files of the part. Errors: those of FindPartFiles() and PartFormat::Open().
  static absl::StatusOr<PartStates> Of(const DataSetInfo& info, absl::string_view part,
                                       const std::vector<std::string>& data_folders);

  // The part as a source if its images are in separate files, otherwise null.
  const std::shared_ptr<const ImageSource>& images() const { return images_; }

  // Returns the path of a file that has been written, replaced or removed since Of(); "" if there is none. Of images in
  // separate files, looks only at those that `is_read` contains, by sample.
  std::string FindChange(const std::vector<bool>& is_read) const;

 private:
  // Hashes of the states.
  std::vector<std::string> files_;
  std::vector<uint64_t> file_states_;
  std::shared_ptr<const ImageSource> images_;
  std::vector<uint64_t> image_states_;
};

}  // namespace openset

#endif  // OPENSET_DATA_SETS_PART_FILES_H_
