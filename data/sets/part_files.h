// Finds the files of a data set's part.
#ifndef OPENSET_DATA_SETS_PART_FILES_H_
#define OPENSET_DATA_SETS_PART_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/catalog.pb.h"
#include "data/formats/part_format.h"

namespace openset {

// Looks for each file in the data folders in order, and returns the first layout whose files all exist. Errors:
// kNotFound for an unknown part, and for missing files, with the folders and how to get the files.
absl::StatusOr<FoundPart> FindPartFiles(const DataSetInfo& info, absl::string_view part,
                                        const std::vector<std::string>& data_folders);

}  // namespace openset

#endif  // OPENSET_DATA_SETS_PART_FILES_H_
