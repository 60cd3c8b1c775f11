// CIDER (Ming et al., ICLR 2023): pulls features towards the prototype of their class on a sphere, and pushes the
// prototypes apart.
//
//   mean_v compactness * -log softmax_c(v . p_c / t)_y + mean_a log mean_{b != a} exp(p_a . p_b / t),
//
// v = P(x) / |P(x)| for the features x [B, D] of the batch and of its views, P(x) = V relu(U x + u) + w the term's own
// network (parameters "hidden.*" [D, D] and "projection.*" [P, D], as PyTorch draws them), y the label, t the
// temperature. The prototypes p [K, P] are the term's state "prototype". In each step, they are updated by one sample
// after the other: p_y <- m p_y + (1 - m) v, divided by its length. In the first sum, they are constants; in the
// second, gradients flow through these updates into the features. With one class, the second sum is 0. Both as in the
// authors' code and OpenOOD, with these differences: a prototype starts at the first v of its class (released: at the
// mean of the v of a set of samples); their code multiplies the first sum by t / 0.07, where 0.07 is a constant in it
// (`compactness` 2 of theirs is 2.857 here).
//
// The term doesn't train the head; a head with stop_gradient is trained by another term. Scores read the features x.
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/logging.h"
#include "core/random.h"
#include "core/tensor/torch.h"
#include "core/tensor/transfer.h"
#include "losses/loss_members.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

// Below this temperature the dispersion is computed from logarithms, because exp(1 / t) exceeds f32 for t < 0.0113.
// Above it, from exponentials, so that earlier trainings keep their bits.
constexpr double kLogDomain = 0.025;

at::Tensor UnitLength(const at::Tensor& rows) { return rows / rows.norm(2, 1, /*keepdim=*/true).clamp_min(1e-12); }

class Cider : public LossTerm {
 public:
  Cider(const CiderSpec& spec, const LossSetting& setting) : spec_(spec) {
    RandomStream random(setting.seed, "loss.cider");
    const double bound = 1 / std::sqrt(static_cast<double>(setting.features));
    const auto draw = [&](at::IntArrayRef shape) {
      return DrawParameter(shape, setting.device, [&] { return random.Uniform(-bound, bound); });
    };
    hidden_ = draw({setting.features, setting.features});
    hidden_bias_ = draw({setting.features});
    projection_ = draw({spec.projection_dim(), setting.features});
    projection_bias_ = draw({spec.projection_dim()});
    prototype_ =
        at::zeros({setting.classes, spec.projection_dim()}, at::TensorOptions(at::kFloat).device(setting.device));
  }

  at::Tensor Compute(const LossInput& input) override {
    const at::Tensor label = input.batch.label.repeat({1 + spec_.extra_views()});
    const at::Tensor v = Project(input);
    const at::Tensor prototype = Moved(v, input.batch.HostLabel().repeat({1 + spec_.extra_views()}));
    moved_ = prototype.detach();
    const at::Tensor near = at::log_softmax(at::mm(v, moved_.t()) / spec_.temperature(), 1);
    return -spec_.compactness() * AtLabel(near, label).mean() + Dispersion(prototype);
  }

  void EndStep() override {
    if (moved_.defined()) prototype_.copy_(moved_);
    moved_ = at::Tensor();
  }

  std::vector<std::pair<std::string, at::Tensor>> Parameters() const override {
    return {{"hidden.weight", hidden_},
            {"hidden.bias", hidden_bias_},
            {"projection.weight", projection_},
            {"projection.bias", projection_bias_}};
  }
  std::vector<std::pair<std::string, at::Tensor>> State() const override { return {{"prototype", prototype_}}; }

 private:
  // The prototypes after the samples `v`, with the labels `host_label` on the CPU, have moved them one after the other.
  // Prototypes do not depend on each other, so round r moves each by the r-th sample of its class, if there is one.
  at::Tensor Moved(const at::Tensor& v, const at::Tensor& host_label) const {
    const int64_t* const label = host_label.const_data_ptr<int64_t>();
    const int64_t classes = prototype_.size(0);
    std::vector<int64_t> seen(static_cast<size_t>(classes));
    std::vector<int64_t> sample;  // [rounds * classes], -1 for none
    for (int64_t i = 0; i < host_label.numel(); ++i) {
      const auto place = static_cast<size_t>(seen[static_cast<size_t>(label[i])]++ * classes + label[i]);
      if (place >= sample.size()) sample.resize(sample.size() + static_cast<size_t>(classes), -1);
      sample[place] = i;
    }
    const at::Tensor index = at::tensor(sample, at::kLong).view({-1, classes, 1});
    Staging staging;
    staging.Add(index.clamp_min(0));
    staging.Add(index.ge(0));
    staging.MoveTo(v.device());
    const std::vector<at::Tensor> mover = RowsAt(v, staging.Next().flatten()).view({-1, classes, v.size(1)}).unbind(0);
    const std::vector<at::Tensor> moves = staging.Next().unbind(0);
    at::Tensor prototype = prototype_.to(v.scalar_type());
    for (size_t round = 0; round < mover.size(); ++round) {
      const at::Tensor moved = spec_.momentum() * prototype + (1 - spec_.momentum()) * mover[round];
      prototype = at::where(moves[round], UnitLength(moved), prototype);
    }
    return prototype;
  }

  at::Tensor Project(const LossInput& input) const {
    std::vector<at::Tensor> feature = {input.known.feature};
    for (int view = 0; view < spec_.extra_views(); ++view) {
      CHECK(input.views != nullptr && input.views->size() > view) << "CIDER needs views";
      feature.push_back((*input.views)[view].feature);
    }
    const at::Tensor x = at::cat(feature);
    const auto as = [&](const at::Tensor& parameter) { return parameter.to(x.scalar_type()); };
    const at::Tensor hidden = at::linear(x, as(hidden_), as(hidden_bias_)).relu();
    return UnitLength(at::linear(hidden, as(projection_), as(projection_bias_)));
  }

  at::Tensor Dispersion(const at::Tensor& prototype) const {
    const int64_t classes = prototype.size(0);
    if (classes == 1) return at::zeros({}, prototype.options());  // no pair
    const at::Tensor likeness = at::mm(prototype, prototype.t()) / spec_.temperature();
    const at::Tensor same = at::eye(classes, likeness.options());
    if (spec_.temperature() < kLogDomain) {
      const at::Tensor others = likeness.masked_fill(same.to(at::kBool), -std::numeric_limits<double>::infinity());
      return (others.logsumexp(1) - std::log(static_cast<double>(classes - 1))).mean();
    }
    const at::Tensor others = likeness.exp() * (1 - same);
    return (others.sum(1) / (classes - 1)).log().mean();
  }

  const CiderSpec spec_;
  at::Tensor hidden_, hidden_bias_, projection_, projection_bias_;
  at::Tensor prototype_;  // [K, P]
  at::Tensor moved_;      // of the current step
};

}  // namespace

std::unique_ptr<LossTerm> Make(const CiderSpec& spec, const LossSetting& setting) {
  return std::make_unique<Cider>(spec, setting);
}

}  // namespace openset
