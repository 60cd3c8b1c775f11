// Images of noise, generated when they are read.
#ifndef OPENSET_DATA_READERS_NOISE_SOURCE_H_
#define OPENSET_DATA_READERS_NOISE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "data/catalog.pb.h"
#include "data/image_source.h"

namespace openset {

// Returns `samples` images of `shape`, all of class 0, as NoiseImages in data/catalog.proto says. Reading never fails.
// Precondition: the shape has a height and width; `noise` obeys its schema and has its defaults filled in.
std::shared_ptr<const ImageSource> MakeNoiseSource(const NoiseImages& noise, const std::string& data_set,
                                                   const std::string& part, int64_t samples, const ImageShape& shape);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_NOISE_SOURCE_H_
