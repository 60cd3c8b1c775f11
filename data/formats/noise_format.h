// Images of noise, which have no files (NoiseImages in data/catalog.proto).
#ifndef OPENSET_DATA_FORMATS_NOISE_FORMAT_H_
#define OPENSET_DATA_FORMATS_NOISE_FORMAT_H_

#include "data/formats/part_format.h"

namespace openset {

const PartFormat& NoiseFormat();

}  // namespace openset

#endif  // OPENSET_DATA_FORMATS_NOISE_FORMAT_H_
