// Images in separate files, named by text files with one line for each.
#ifndef OPENSET_DATA_READERS_IMAGE_LIST_H_
#define OPENSET_DATA_READERS_IMAGE_LIST_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/catalog.pb.h"
#include "data/image_source.h"

namespace openset {

// Returns the images that the lines of `lists` name, in their order, as `format` says (ImageListFiles in
// data/catalog.proto). Nothing is decoded before Read() (data/readers/image_folder.h). Empty lines are skipped. `root`:
// the folder to which the paths are relative; a "/" at the beginning of a path is ignored. `part_table` and
// `clusters`: the files of format.part_table and format.clusters, "" if there is none. `class_name`: in the order of
// the class ids. The number of a cluster in a column is made of its name, so that it is the same in all lists. Errors:
// a read error (core/files/system_calls.h); kDataLoss, with file and line, for a line with too few columns, an unknown
// class, a path that leaves `root`, an empty cluster, and a key of the list that the part table lacks or has twice;
// kInvalidArgument for a malformed table of clusters (ReadImageClusters()), or an image that it lacks.
absl::StatusOr<std::shared_ptr<const ImageSource>> OpenImageList(
    const std::string& root, const std::vector<std::string>& lists, const std::string& part_table,
    const std::string& clusters, const ImageListFiles& format, const std::vector<std::string>& class_name,
    const ImageShape& shape, const std::string& part);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IMAGE_LIST_H_
