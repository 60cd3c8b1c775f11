// Specs and images for the tests of models.
#ifndef OPENSET_MODELS_TESTING_TEST_INPUTS_H_
#define OPENSET_MODELS_TESTING_TEST_INPUTS_H_

#include <cstdint>
#include <string>

#include "core/tensor/torch.h"
#include "models/model.pb.h"

namespace openset {

// Parses a spec or an input spec and fills in its defaults. Dies if the text can't be parsed.
ModelSpec ModelSpecOf(const std::string& text);
InputSpec InputSpecOf(const std::string& text);

// Images from N(0, 1), f32 [count, input.channels, input.size, input.size], channels-last.
at::Tensor NoiseImages(int64_t count, const InputSpec& input, uint64_t seed);

}  // namespace openset

#endif  // OPENSET_MODELS_TESTING_TEST_INPUTS_H_
