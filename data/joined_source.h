// Joins several parts of a data set into one source.
#ifndef OPENSET_DATA_JOINED_SOURCE_H_
#define OPENSET_DATA_JOINED_SOURCE_H_

#include <memory>
#include <vector>

#include "data/image_source.h"

namespace openset {

// The samples of all sources, one source after the other. Their groups stay separate, in the same order. Height and
// width are 0 if the sources differ in them. Precondition: there is at least one source, and all have the same number
// of channels.
std::shared_ptr<const ImageSource> JoinSources(std::vector<std::shared_ptr<const ImageSource>> sources);

}  // namespace openset

#endif  // OPENSET_DATA_JOINED_SOURCE_H_
