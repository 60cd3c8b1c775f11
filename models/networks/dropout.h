// Dropout (Srivastava et al. 2014; of complete channels: Tompson et al. 2015) that draws its masks from a given
// generator.
#ifndef OPENSET_MODELS_NETWORKS_DROPOUT_H_
#define OPENSET_MODELS_NETWORKS_DROPOUT_H_

#include <optional>

#include "core/tensor/torch.h"
#include "models/layers/module.h"

namespace openset {

class Dropout : public Module {
 public:
  enum class Drops { kElements, kChannels };

  // 0 <= probability < 1.
  Dropout(double probability, Drops drops) : probability_(probability), drops_(drops) {}

  // In training mode, returns x * m / (1 - p), where m has one element for each of x's elements or channels ([B, C] of
  // x [B, C, ...]), which is 0 with probability p and otherwise 1. If x has a lower precision, computes in f32. In
  // evaluation mode, or for p = 0, returns x. Precondition: in training mode with p > 0, a generator of x's device is
  // set.
  at::Tensor Forward(const at::Tensor& x);

  // Draws the factor by which Forward(x) multiplies x: m / (1 - p), in f32 (in f64 for x in f64). It has x's shape, or
  // [B, C, 1, ...] if channels are dropped. Undefined if Forward() would return x.
  at::Tensor Factor(const at::Tensor& x);

  // Whether Forward() changes its input.
  bool IsOn() const { return is_training() && probability_ > 0; }

  void SetGenerator(const at::Generator& generator) { generator_ = generator; }

 private:
  const double probability_;
  const Drops drops_;
  std::optional<at::Generator> generator_;
};

}  // namespace openset

#endif  // OPENSET_MODELS_NETWORKS_DROPOUT_H_
