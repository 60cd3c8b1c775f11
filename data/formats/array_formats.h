// Formats whose files contain many images each; the files are read into memory.
#ifndef OPENSET_DATA_FORMATS_ARRAY_FORMATS_H_
#define OPENSET_DATA_FORMATS_ARRAY_FORMATS_H_

#include "data/formats/part_format.h"

namespace openset {

// Read() returns kDataLoss, with the file, for a label that `class_label` of the catalog does not list.
const PartFormat& IdxFormat();          // data/readers/idx.h
const PartFormat& CifarBinaryFormat();  // data/readers/cifar_binary.h
const PartFormat& PngSheetFormat();     // data/readers/images/png_sheet.h
const PartFormat& MatFormat();          // data/readers/mat.h
const PartFormat& NpzFormat();          // data/readers/npz_images.h
const PartFormat& FeatureFormat();      // data/readers/feature_file.h

}  // namespace openset

#endif  // OPENSET_DATA_FORMATS_ARRAY_FORMATS_H_
