// The passes over memory of norm_relu.h, for CPUs with AVX2 and FMA. x, y and the gradients are [rows, channels], of
// type T: float, or Bf16. What belongs to a channel is [channels], in f32. Channels are a multiple of 8.
//
// They compute in f32. Every sum adds rows in their order, and a product is fused with a sum where LibTorch's kernels
// for AVX2 do this. What is stored as Bf16 is rounded once, to nearest, ties to even.
#ifndef OPENSET_MODELS_LAYERS_NORM_RELU_PASSES_H_
#define OPENSET_MODELS_LAYERS_NORM_RELU_PASSES_H_

#include <cstdint>

namespace openset::norm_relu {

// The upper half of a float's bits.
using Bf16 = uint16_t;

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
template <typename T>
void AddRows(const Rows& rows, const T* x, float* sum);

// sum += (x - mean)^2.
template <typename T>
void AddSquares(const Rows& rows, const T* x, const float* mean, float* sum);

// y = relu(scale x + offset + shortcut). `shortcut` may be null.
template <typename T>
void Rectify(const Rows& rows, const Map& map, const T* x, const T* shortcut, T* y);

// With g = gradient relu'(scale x + offset): sum += g and product += (x - mean) g.
template <typename T>
void AddGradients(const Rows& rows, const Map& map, const T* gradient, const T* x, const float* mean, float* sum,
                  float* product);

// The same with g = gradient relu'(y); also stores g. For y = relu(... + shortcut), whose argument is not kept.
template <typename T>
void AddGradientsByOutput(const Rows& rows, const Map& map, const T* gradient, const T* y, const T* x,
                          const float* mean, T* g, float* sum, float* product);

// The gradient of x from g: ((g - mean_gradient) - (x - mean) k) inverse_std weight.
struct NormGradient {
  const float* mean = nullptr;
  const float* mean_gradient = nullptr;
  const float* k = nullptr;
  const float* inverse_std = nullptr;
  const float* weight = nullptr;
};

// With g = gradient relu'(scale x + offset).
template <typename T>
void Differentiate(const Rows& rows, const Map& map, const NormGradient& norm, const T* gradient, const T* x,
                   T* x_gradient);

// With the g that AddGradientsByOutput() stored. `x_gradient` must not be `g`.
template <typename T>
void DifferentiateStored(const Rows& rows, const NormGradient& norm, const T* g, const T* x, T* x_gradient);

}  // namespace openset::norm_relu

#endif  // OPENSET_MODELS_LAYERS_NORM_RELU_PASSES_H_
