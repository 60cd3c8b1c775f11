// Where the files of a data set's part lie.
#ifndef OPENSET_DATA_SETS_PART_FILES_H_
#define OPENSET_DATA_SETS_PART_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/catalog.pb.h"
#include "data/formats/part_format.h"

namespace openset {

// Looks in each data folder in order for each file, and takes the first layout whose files are all there. Errors:
// kNotFound for an unknown part, and for files that are missing, with the folders and what brings them.
absl::StatusOr<FoundPart> FindPartFiles(const DataSetInfo& info, absl::string_view part,
                                        const std::vector<std::string>& data_folders);

}  // namespace openset

#endif  // OPENSET_DATA_SETS_PART_FILES_H_
