#include "losses/known/cider.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/logging.h"
#include "core/random.h"
#include "core/tensor/torch.h"
#include "losses/parameters.h"
#include "losses/row_ops.h"

namespace openset {
namespace {

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
    const at::Tensor label = Labels(input);
    const at::Tensor v = Project(input);
    at::Tensor prototype = prototype_.to(v.scalar_type());
    for (int64_t b = 0; b < v.size(0); ++b) {
      const at::Tensor own = label.narrow(0, b, 1);
      const at::Tensor moved =
          spec_.momentum() * prototype.index_select(0, own) + (1 - spec_.momentum()) * v.narrow(0, b, 1);
      prototype = prototype.index_copy(0, own, UnitLength(moved));
    }
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
  at::Tensor Labels(const LossInput& input) const { return input.batch.label.repeat({1 + spec_.extra_views()}); }

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
    const at::Tensor likeness = at::mm(prototype, prototype.t()) / spec_.temperature();
    const at::Tensor others = likeness.exp() * (1 - at::eye(classes, likeness.options()));
    return (others.sum(1) / (classes - 1)).log().mean();
  }

  const CiderSpec spec_;
  at::Tensor hidden_, hidden_bias_, projection_, projection_bias_;
  at::Tensor prototype_;  // [K, P]
  at::Tensor moved_;      // of the step under way
};

}  // namespace

std::unique_ptr<LossTerm> MakeCider(const CiderSpec& spec, const LossSetting& setting) {
  return std::make_unique<Cider>(spec, setting);
}

}  // namespace openset
