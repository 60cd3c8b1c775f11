// Compares networks with PyTorch's. tools/peers/make_model_golden.py writes the golden files.
#ifndef OPENSET_MODELS_TESTING_GOLDEN_OUTPUTS_H_
#define OPENSET_MODELS_TESTING_GOLDEN_OUTPUTS_H_

#include <string>

#include "core/tensor/torch.h"
#include "models/checkpoint.h"
#include "models/model.pb.h"

namespace openset {

// Element i is sin(i^2 / 100 + phase). f64.
at::Tensor Sines(at::IntArrayRef shape, int phase);

// Sets the parameters and buffers of the golden files' networks, all from Sines().
void FillWithSines(TensorMap* state);

// Expects that the network, with the weights and images of the golden file, gives the file's outputs in evaluation mode
// and, in one training step, its outputs, loss, gradients and buffers. The tolerance is 1e-9 in f64 and `f32_tolerance`
// in f32, relative to the largest value of the tensor or 1. Gradients and buffers are compared by sums over their
// elements. In a deep network, rounding moves some units across the kink of their ReLU, and the differences add up in
// the gradients.
void ExpectGoldenOutputs(const ModelSpec& spec, const InputSpec& input, const std::string& path,
                         double f32_tolerance = 1e-3);

}  // namespace openset

#endif  // OPENSET_MODELS_TESTING_GOLDEN_OUTPUTS_H_
