// The layers that have parameters. Each is bitwise equal to the torch::nn layer of the same kind and gives its tensors
// the same names. Parameters are 0 (batch norm's weight is 1) until they are drawn (models/initialise.h) or set.
#ifndef OPENSET_MODELS_LAYERS_LAYERS_H_
#define OPENSET_MODELS_LAYERS_LAYERS_H_

#include <cstdint>

#include "core/tensor/torch.h"
#include "models/layers/module.h"
#include "models/layers/norm_relu.h"

namespace openset {

// The shape of a convolution with a square kernel; `in` and `out` are channels.
struct ConvolutionShape {
  int64_t in = 0;
  int64_t out = 0;
  int64_t kernel = 0;
  int64_t stride = 1;
  int64_t padding = 0;  // with zeros, on each side
  bool bias = true;
};

// [B, in, H, W] -> [B, out, (H + 2 padding - kernel) / stride + 1, ...].
class Convolution : public Module {
 public:
  explicit Convolution(const ConvolutionShape& shape);
  at::Tensor Forward(const at::Tensor& x) const { return ForwardWith(weight, bias, x); }
  // Forward() with the given values instead of its parameters.
  at::Tensor ForwardWith(const at::Tensor& other_weight, const at::Tensor& other_bias, const at::Tensor& x) const;
  const ConvolutionShape& shape() const { return shape_; }

  at::Tensor weight;  // [out, in, kernel, kernel]
  at::Tensor bias;    // [out]; undefined without

 private:
  const ConvolutionShape shape_;
};

// A transposed convolution: [B, in, H, W] -> [B, out, (H - 1) stride - 2 padding + kernel, ...].
class TransposedConvolution : public Module {
 public:
  explicit TransposedConvolution(const ConvolutionShape& shape);
  at::Tensor Forward(const at::Tensor& x) const;

  at::Tensor weight;  // [in, out, kernel, kernel]
  at::Tensor bias;    // [out]; undefined without

 private:
  const ConvolutionShape shape_;
};

// (x - mean) / sqrt(variance + 1e-5) * weight + bias for each channel of x [B, C, H, W]. Training mode uses the batch's
// mean and variance, and moves the running ones a tenth of the way to them. Evaluation mode uses the running ones.
// Precondition in training mode: more than one value per channel (else c10::Error).
class BatchNorm : public Module {
 public:
  explicit BatchNorm(int64_t channels);
  at::Tensor Forward(const at::Tensor& x);
  // relu(Forward(x) + shortcut), in fewer passes over memory and with the same bits.
  at::Tensor ForwardRelu(const at::Tensor& x, const Relu& relu = {});
  // Forward(convolution.Forward(x)). With folding on, evaluation mode computes one convolution instead, whose weights
  // are `convolution`'s times weight / sqrt(running_var + 1e-5). Except for rounding, the result is the same.
  at::Tensor ForwardAfter(const Convolution& convolution, const at::Tensor& x);
  // The same for ForwardRelu(convolution.Forward(x), relu).
  at::Tensor ForwardReluAfter(const Convolution& convolution, const at::Tensor& x, const Relu& relu = {});
  void SetFolding(bool on) { folds_ = on; }  // off at first
  // Resets the statistics to those before the first batch.
  void ResetStatistics();
  // With it, the running statistics are the means over the batches since ResetStatistics(), as in PyTorch's layer
  // without a momentum. Off at first.
  void SetCumulative(bool on) { is_cumulative_ = on; }

  at::Tensor weight, bias, running_mean, running_var;  // [C]
  at::Tensor num_batches_tracked;                      // i64 []

 private:
  NormTensors Tensors() const;
  NormOptions Options() const;
  bool Folds() const { return folds_ && !is_training(); }
  at::Tensor Folded(const Convolution& convolution, const at::Tensor& x) const;
  void CountBatch(const at::Tensor& x);

  bool folds_ = false;
  bool is_cumulative_ = false;
};

// SetFolding() of all batch norms in `module`.
void SetFolding(const Module& module, bool on);

// x [B, in] -> x weight^T + bias, [B, out].
class Linear : public Module {
 public:
  Linear(int64_t in, int64_t out);
  at::Tensor Forward(const at::Tensor& x) const;

  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // [out]
};

}  // namespace openset

#endif  // OPENSET_MODELS_LAYERS_LAYERS_H_
