// OpenSetSpec -> OpenSetSource.
#ifndef OPENSET_EXPERIMENTS_OPEN_SET_SOURCE_H_
#define OPENSET_EXPERIMENTS_OPEN_SET_SOURCE_H_

#include <memory>

#include "core/open_set.h"
#include "experiments/method.pb.h"

namespace openset {

// Precondition: the spec obeys its schema's rules and has its defaults filled in.
std::unique_ptr<OpenSetSource> MakeOpenSetSource(const OpenSetSpec& spec);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_OPEN_SET_SOURCE_H_
