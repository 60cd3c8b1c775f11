// For `classes` known classes and features of `dim` dimensions on the device. State: "memory" [K n + 1, D], whose last
// row has no meaning, and "seen" i64 [K], the number of features that each class has had.
#include "experiments/train/open_set/virtual_outliers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/statusor.h"
#include "experiments/train/open_set/open_set_members.h"

namespace openset {
namespace {

constexpr double kDiagonal = 1e-4;  // added to the covariance

class VirtualOutliers : public OpenSetSource {
 public:
  VirtualOutliers(const VirtualOutliersSpec& spec, int64_t classes, int64_t dim, at::Device device)
      : spec_(spec),
        classes_(classes),
        dim_(dim),
        memory_(at::zeros({classes * spec.memory() + 1, dim}, at::TensorOptions(at::kFloat).device(device))),
        seen_(at::zeros({classes}, at::TensorOptions(at::kLong).device(device))) {}

  absl::Status Draw(const DrawContext& context) override {
    context.staging->Add(DrawFarPoints(spec_, classes_, dim_, context.random).to(memory_.scalar_type()));
    return absl::OkStatus();
  }

  void Take(Staging* staging, Batch* batch) const override { batch->open->tensor.push_back(staging->Next()); }

  OpenSet Make(const Context& context) override {
    Remember(context.known.feature, context.batch.label);
    const at::Tensor feature = FarFeatures(context.batch.open->tensor[0]).to(context.known.feature.scalar_type());
    OpenSet open;
    open.output = context.head(feature);
    open.weight = seen_.min().ge(spec_.memory()).to(feature.scalar_type()).expand({feature.size(0)});
    return open;
  }

  std::vector<std::pair<std::string, at::Tensor>> State() const override {
    return {{"memory", memory_}, {"seen", seen_}};
  }

 private:
  // [K, kept, D] points of DrawFarPoints() -> [K kept, D].
  at::Tensor FarFeatures(const at::Tensor& far) const {
    const int64_t n = spec_.memory();
    const at::Tensor of_class = memory_.narrow(0, 0, classes_ * n).view({classes_, n, dim_});
    const at::Tensor mean = of_class.mean(1, /*keepdim=*/true);
    const at::Tensor centred = (of_class - mean).view({classes_ * n, dim_});
    const at::Tensor covariance =
        at::mm(centred.t(), centred) / (classes_ * n) + kDiagonal * at::eye(dim_, mean.options());
    const at::Tensor factor = std::get<0>(at::linalg_cholesky_ex(covariance));
    return (mean + at::matmul(far, factor.t())).view({-1, dim_});
  }

  // Adds each feature to its class's, instead of the oldest one if the memory is full.
  void Remember(const at::Tensor& feature, const at::Tensor& label) {
    const int64_t n = spec_.memory();
    const at::Tensor member = label.unsqueeze(1).eq(at::arange(seen_.size(0), label.options())).to(at::kLong);
    const at::Tensor count = member.sum(0);
    // The number of samples of the same class before a sample in the batch. If there are more than n, only the last n
    // are stored.
    const at::Tensor before = member.cumsum(0).gather(1, label.unsqueeze(1)).squeeze(1) - 1;
    const at::Tensor stays = before.ge(count.index_select(0, label) - n);
    const at::Tensor place = label * n + (seen_.index_select(0, label) + before).remainder(n);
    memory_.index_copy_(0, at::where(stays, place, seen_.size(0) * n), feature.detach().to(memory_.scalar_type()));
    seen_.add_(count);
  }

  const VirtualOutliersSpec spec_;
  const int64_t classes_, dim_;
  at::Tensor memory_;
  at::Tensor seen_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<OpenSetSource>> Make(const VirtualOutliersSpec& spec, const OpenSetSetting& setting) {
  return std::make_unique<VirtualOutliers>(spec, setting.classes, setting.feature_dim, setting.device);
}

at::Tensor DrawFarPoints(const VirtualOutliersSpec& spec, int64_t classes, int64_t dim, RandomStream* random) {
  const auto kept = std::min<int64_t>(spec.kept(), spec.draws());
  std::vector<double> lengths;
  std::vector<double> drawn(static_cast<size_t>(spec.draws()));
  for (int64_t c = 0; c < classes; ++c) {
    for (double& square : drawn) square = 2 * random->Gamma(static_cast<double>(dim) / 2);
    std::partial_sort(drawn.begin(), drawn.begin() + kept, drawn.end(), std::greater<double>());
    for (int64_t i = 0; i < kept; ++i) lengths.push_back(std::sqrt(drawn[static_cast<size_t>(i)]));
  }
  const at::Tensor direction = at::empty({classes, kept, dim}, at::kDouble);
  for (int64_t i = 0; i < direction.numel(); ++i) direction.mutable_data_ptr<double>()[i] = random->Normal();
  return direction / direction.norm(2, 2, /*keepdim=*/true) * at::tensor(lengths, at::kDouble).view({classes, kept, 1});
}

}  // namespace openset
