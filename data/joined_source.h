// Several parts of a data set as one.
#ifndef OPENSET_DATA_JOINED_SOURCE_H_
#define OPENSET_DATA_JOINED_SOURCE_H_

#include <memory>
#include <vector>

#include "data/image_source.h"

namespace openset {

// The samples of all sources one after the other; their groups are kept apart, in the same order. The height and width
// are 0 where those of the sources differ. Precondition: there is a source, and all have as many channels.
std::shared_ptr<const ImageSource> JoinSources(std::vector<std::shared_ptr<const ImageSource>> sources);

}  // namespace openset

#endif  // OPENSET_DATA_JOINED_SOURCE_H_
