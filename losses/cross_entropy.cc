// Softmax cross entropy with label smoothing.
//
//   mean_b -sum_c q_bc log p_bc,   p_b = softmax(z_b / T),
//
// where z [B, K] are the logits, T is the temperature and q is the smoothed target (SmoothingTarget in loss.proto), for
// which all K outputs are classes. With normalise_logits, z is divided by its length plus 1e-7 (LogitNorm, Wei et al.,
// ICML 2022). If open samples are the last class, the result is a weighted mean over known and open samples: (sum over
// known + sum over open of weight * loss) / (B + sum of weight).
//
// At least 0; with label smoothing, at least the entropy of the target. Needs LossInput.open only if open samples are a
// class.
#include <memory>

#include "core/logging.h"
#include "core/tensor/torch.h"
#include "losses/loss_members.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

constexpr double kLengthOffset = 1e-7;

class CrossEntropy : public LossTerm {
 public:
  explicit CrossEntropy(const CrossEntropySpec& spec) : spec_(spec) {}

  at::Tensor Compute(const LossInput& input) override {
    const at::Tensor known = PerSample(input.known.logits, input.batch.label);
    if (!spec_.open_set_is_last_class()) return known.mean();
    CHECK(input.open != nullptr) << "cross entropy over open samples needs an open-set source";
    const at::Tensor& logits = input.open->output.logits;
    const at::Tensor last = at::full({logits.size(0)}, logits.size(1) - 1, input.batch.label.options());
    return WeightedMean(at::cat({known, PerSample(logits, last)}),
                        at::cat({at::ones_like(known), input.open->weight.to(known.scalar_type())}));
  }

 private:
  at::Tensor PerSample(const at::Tensor& logits, const at::Tensor& label) const {
    at::Tensor scaled = spec_.temperature() == 1 ? logits : logits / spec_.temperature();
    if (spec_.normalise_logits()) scaled = scaled / (logits.norm(2, 1, /*keepdim=*/true) + kLengthOffset);
    const at::Tensor log_p = at::log_softmax(scaled, 1);
    const double e = spec_.label_smoothing();
    const at::Tensor of_label = MinusAtLabel(log_p, label);
    if (e == 0) return of_label;
    // q = on_label at the label + on_each everywhere.
    const double classes = logits.size(1);
    double on_each = 0;
    double on_label = 0;
    switch (spec_.smoothing_target()) {
      case CrossEntropySpec::OTHER_CLASSES:
        on_each = classes > 1 ? e / (classes - 1) : 0;
        on_label = 1 - e - on_each;
        break;
      case CrossEntropySpec::ALL_CLASSES:
        on_each = e / classes;
        on_label = 1 - e;
        break;
      case CrossEntropySpec::SMOOTHING_TARGET_UNSPECIFIED:
        LOG(FATAL) << "smoothing_target is unspecified";
    }
    return on_label * of_label - on_each * log_p.sum(1);
  }

  const CrossEntropySpec spec_;
};

}  // namespace

std::unique_ptr<LossTerm> Make(const CrossEntropySpec& spec, const LossSetting&) {
  return std::make_unique<CrossEntropy>(spec);
}

}  // namespace openset
