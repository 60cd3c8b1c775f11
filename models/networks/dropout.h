// Dropout (Srivastava et al. 2014; of whole channels: Tompson et al. 2015) whose masks come from a generator that the
// owner of the network gives it.
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

  // In training mode x * m / (1 - p), where the elements of m, one for each of x's or for each of its channels ([B, C]
  // of x [B, C, ...]), are 0 with probability p and otherwise 1. What x has few digits for is computed in f32. In
  // evaluation mode, or for p = 0, x. Gradients flow through what is kept. Precondition: where it drops, a generator is
  // set, of x's device.
  at::Tensor Forward(const at::Tensor& x);

  void SetGenerator(const at::Generator& generator) { generator_ = generator; }

 private:
  const double probability_;
  const Drops drops_;
  std::optional<at::Generator> generator_;
};

}  // namespace openset

#endif  // OPENSET_MODELS_NETWORKS_DROPOUT_H_
