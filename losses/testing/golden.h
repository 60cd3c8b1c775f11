// Expected values in losses/testdata/*.json.
#ifndef OPENSET_LOSSES_TESTING_GOLDEN_H_
#define OPENSET_LOSSES_TESTING_GOLDEN_H_

#include <string>

#include "core/tensor/torch.h"
#include "nlohmann/json.hpp"

namespace openset {

// The file losses/testdata/NAME; fails the process if there is none.
nlohmann::json ReadGolden(const std::string& name);

// f64, from a list of numbers or a list of lists of the same length.
at::Tensor TensorOf(const nlohmann::json& value);

}  // namespace openset

#endif  // OPENSET_LOSSES_TESTING_GOLDEN_H_
