// Warns about parts of methods that presets replace.
#ifndef OPENSET_EXPERIMENTS_SPEC_RESOLVE_PRESET_WARNINGS_H_
#define OPENSET_EXPERIMENTS_SPEC_RESOLVE_PRESET_WARNINGS_H_

#include <string>
#include <vector>

#include "experiments/spec/resolve/resolve_method.h"

namespace openset {

// Returns a line for each head, open-set source, inference or score of a method that one of its presets replaces by
// another kind, with the position in the preset's file. A preset's version for the method (METHOD+PRESET) replaces
// parts on purpose and causes no warning.
std::vector<std::string> PresetWarnings(const LoadedMethod& method);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_PRESET_WARNINGS_H_
