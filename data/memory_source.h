// Images in memory.
#ifndef OPENSET_DATA_MEMORY_SOURCE_H_
#define OPENSET_DATA_MEMORY_SOURCE_H_

#include <memory>
#include <string>

#include "data/image_set.h"
#include "data/image_source.h"

namespace openset {

// `part`: the name of the source's only group. Reading never fails.
std::shared_ptr<const ImageSource> MakeMemorySource(ImageSet set, std::string part);

}  // namespace openset

#endif  // OPENSET_DATA_MEMORY_SOURCE_H_
