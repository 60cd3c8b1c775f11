// Images in files of their own, named by text files with a line for each.
#ifndef OPENSET_DATA_READERS_IMAGE_LIST_H_
#define OPENSET_DATA_READERS_IMAGE_LIST_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/catalog.pb.h"
#include "data/image_source.h"

namespace openset {

// The images of the lines of `lists` in their order, as `format` says (ImageListFiles in data/catalog.proto). Nothing
// is decoded before Read (data/readers/image_files.h). Empty lines are passed over. `root`: the folder that the paths
// start from; a "/" before a path is left out. `part_table`: the file of format.part_table, "" if there is none.
// `class_name`: in the order of the class ids. Errors, with file and line: kNotFound for a list that is not there;
// kDataLoss for a line with too few columns, a class that there is not, a path that leaves `root`, and a key of the
// list that the part table lacks or has twice.
absl::StatusOr<std::shared_ptr<const ImageSource>> OpenImageList(const std::string& root,
                                                                 const std::vector<std::string>& lists,
                                                                 const std::string& part_table,
                                                                 const ImageListFiles& format,
                                                                 const std::vector<std::string>& class_name,
                                                                 const ImageShape& shape, const std::string& part);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IMAGE_LIST_H_
