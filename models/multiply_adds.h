// The computational cost of a network.
#ifndef OPENSET_MODELS_MULTIPLY_ADDS_H_
#define OPENSET_MODELS_MULTIPLY_ADDS_H_

#include <cstdint>
#include <optional>

#include "models/model.pb.h"

namespace openset {

// Returns the multiply-adds for one image: the sum over convolutions (k * k * C_in * C_out * H_out * W_out) and linear
// layers, without norms, activations and pooling. Returns nothing for a script, whose layers are unknown.
// Preconditions: the specs obey their schemas' rules, with defaults filled in or not; `classes` >= 1.
std::optional<int64_t> MultiplyAdds(const ModelSpec& model, const InputSpec& input, int classes);

}  // namespace openset

#endif  // OPENSET_MODELS_MULTIPLY_ADDS_H_
