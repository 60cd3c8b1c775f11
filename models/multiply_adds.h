// How much work a network is.
#ifndef OPENSET_MODELS_MULTIPLY_ADDS_H_
#define OPENSET_MODELS_MULTIPLY_ADDS_H_

#include <cstdint>
#include <optional>

#include "models/model.pb.h"

namespace openset {

// Multiply-adds of one image through the network: sums of convolutions (k * k * C_in * C_out * H_out * W_out) and
// linear layers; norms, activations and pooling are left out. None for a script, whose layers are not known.
// Preconditions: the specs obey their schemas' rules, with defaults filled in or not; `classes` >= 1.
std::optional<int64_t> MultiplyAdds(const ModelSpec& model, const InputSpec& input, int classes);

}  // namespace openset

#endif  // OPENSET_MODELS_MULTIPLY_ADDS_H_
