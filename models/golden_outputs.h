// Networks against what PyTorch computes with them; tools/peers/make_model_golden.py writes the files.
#ifndef OPENSET_MODELS_GOLDEN_OUTPUTS_H_
#define OPENSET_MODELS_GOLDEN_OUTPUTS_H_

#include <string>

#include "models/model.pb.h"

namespace openset {

// Expects that the network, with the weights and images of the golden file, has its outputs in evaluation mode and, of
// one training step, its outputs, loss, gradients and buffers: to 1e-9 in f64 and 1e-3 in f32, relative to the largest
// value of the tensor or 1. Gradients and buffers are compared by sums over their elements.
void ExpectGoldenOutputs(const ModelSpec& spec, const InputSpec& input, const std::string& path);

}  // namespace openset

#endif  // OPENSET_MODELS_GOLDEN_OUTPUTS_H_
