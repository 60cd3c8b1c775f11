// Warnings about presets that replace parts of methods.
#ifndef OPENSET_EXPERIMENTS_SPEC_RESOLVE_PRESET_WARNINGS_H_
#define OPENSET_EXPERIMENTS_SPEC_RESOLVE_PRESET_WARNINGS_H_

#include <string>
#include <vector>

#include "experiments/spec/resolve/resolve_method.h"

namespace openset {

// Returns a line for each head, open-set source, inference or score of a method that one of its presets replaces by
// another kind, with the position in the preset. There are none for a preset's form for the method (METHOD+PRESET),
// which replaces parts on purpose.
std::vector<std::string> PresetWarnings(const LoadedMethod& method);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_PRESET_WARNINGS_H_
