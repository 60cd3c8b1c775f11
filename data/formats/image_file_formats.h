// Formats with one file per image, which are read when they are needed.
#ifndef OPENSET_DATA_FORMATS_IMAGE_FILE_FORMATS_H_
#define OPENSET_DATA_FORMATS_IMAGE_FILE_FORMATS_H_

#include <cstdint>
#include <vector>

#include "data/formats/part_format.h"
#include "data/image_source.h"

namespace openset {

const PartFormat& ImageFolderFormat();  // data/readers/image_folder.h
const PartFormat& ImageListFormat();    // data/readers/image_list.h

// Returns the number of samples of each class, in the order of the class ids. Precondition: the labels are ids of the
// data set's classes.
std::vector<int64_t> CountOfEachClass(const DataSetInfo& info, const SampleIndex& index);

}  // namespace openset

#endif  // OPENSET_DATA_FORMATS_IMAGE_FILE_FORMATS_H_
