// What presets take from methods.
#ifndef OPENSET_EXPERIMENTS_SPEC_RESOLVE_PRESET_WARNINGS_H_
#define OPENSET_EXPERIMENTS_SPEC_RESOLVE_PRESET_WARNINGS_H_

#include <string>
#include <vector>

#include "experiments/spec/resolve/resolve_method.h"

namespace openset {

// A line for each head, open-set source, inference or score of a method that one of its presets replaces by another
// kind, with the place in the preset. A preset's form for the method (METHOD+PRESET) replaces on purpose: none.
std::vector<std::string> PresetWarnings(const LoadedMethod& method);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_PRESET_WARNINGS_H_
