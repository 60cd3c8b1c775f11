// The passes over memory of norm_relu.h, for CPUs with AVX2 and FMA. All arrays are f32. x, y and the gradients are
// [rows, channels]; what belongs to a channel is [channels]. Channels are a multiple of 8.
//
// Every sum adds rows in their order, and a product is fused with a sum where LibTorch's kernels for AVX2 do this.
#ifndef OPENSET_MODELS_LAYERS_NORM_RELU_PASSES_H_
#define OPENSET_MODELS_LAYERS_NORM_RELU_PASSES_H_

#include <cstdint>

namespace openset::norm_relu {

struct Rows {
  int64_t count = 0;
  int64_t channels = 0;
};

// An affine map of each channel, and the ReLU's slope below 0 (0: plain ReLU).
struct Map {
  const float* scale = nullptr;
  const float* offset = nullptr;
  float negative_slope = 0;
};

// sum += x.
void AddRows(const Rows& rows, const float* x, float* sum);

// sum += (x - mean)^2.
void AddSquares(const Rows& rows, const float* x, const float* mean, float* sum);

// y = relu(scale x + offset + shortcut). `shortcut` may be null.
void Rectify(const Rows& rows, const Map& map, const float* x, const float* shortcut, float* y);

// With g = gradient relu'(scale x + offset): sum += g and product += (x - mean) g.
void AddGradients(const Rows& rows, const Map& map, const float* gradient, const float* x, const float* mean,
                  float* sum, float* product);

// The same with g = gradient relu'(y); also stores g. For y = relu(... + shortcut), whose argument is not kept.
void AddGradientsByOutput(const Rows& rows, const Map& map, const float* gradient, const float* y, const float* x,
                          const float* mean, float* g, float* sum, float* product);

// The gradient of x from g: ((g - mean_gradient) - (x - mean) k) inverse_std weight.
struct NormGradient {
  const float* mean = nullptr;
  const float* mean_gradient = nullptr;
  const float* k = nullptr;
  const float* inverse_std = nullptr;
  const float* weight = nullptr;
};

// With g = gradient relu'(scale x + offset).
void Differentiate(const Rows& rows, const Map& map, const NormGradient& norm, const float* gradient, const float* x,
                   float* x_gradient);

// With the g that AddGradientsByOutput() stored. `x_gradient` must not be `g`.
void DifferentiateStored(const Rows& rows, const NormGradient& norm, const float* g, const float* x, float* x_gradient);

}  // namespace openset::norm_relu

#endif  // OPENSET_MODELS_LAYERS_NORM_RELU_PASSES_H_
