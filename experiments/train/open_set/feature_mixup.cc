// Open-set source: mixtures of two samples' features (manifold mixup), as FeatureMixupSpec in open_set.proto says.
//
// Each step draws a random order of the n mixed samples, then one coefficient or n of them, and makes n open samples
// from x_i = feature_i and x_j = feature_order(i). The model's head computes the output from them; gradients flow
// through it into both features. slot is i; weight is 1 if the labels differ and 0 if they are equal. A batch that
// can't be halved gives an output of 0 rows.
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/logging.h"
#include "core/tensor/torch.h"
#include "experiments/train/open_set/open_set_members.h"

namespace openset {
namespace {

class FeatureMixup : public OpenSetSource {
 public:
  explicit FeatureMixup(const FeatureMixupSpec& spec) : spec_(spec) {}

  absl::Status Draw(const DrawContext& context) override {
    const int64_t n = CountOf(context.label);
    if (n == 0) return absl::OkStatus();
    context.staging->Add(at::tensor(context.random->Permutation(n), at::kLong));
    std::vector<double> draws(spec_.one_coefficient_per_batch() ? 1 : n);
    for (double& draw : draws) draw = Coefficient(context.random);
    // In both types that features have in losses, so that the device need not convert it.
    const at::Tensor coefficient = at::tensor(draws, at::kDouble).unsqueeze(1);
    context.staging->Add(coefficient.to(at::kFloat));
    context.staging->Add(coefficient);
    return absl::OkStatus();
  }

  void Take(Staging* staging, Batch* batch) const override {
    if (CountOf(batch->label) == 0) return;
    for (int i = 0; i < 3; ++i) batch->open->tensor.push_back(staging->Next());
  }

  OpenSet Make(const Context& context) override {
    const int64_t n = CountOf(context.batch.label), begin = context.batch.label.size(0) - n;
    const at::Tensor feature = context.known.feature.slice(0, begin);
    const at::Tensor label = context.batch.label.slice(0, begin);
    if (n == 0) return Nothing(context.known, label);

    const std::vector<at::Tensor>& drawn = context.batch.open->tensor;
    const at::Tensor& order = drawn[0];
    // At least f32, whatever the precision of the backbone.
    const at::ScalarType dtype = at::promote_types(feature.scalar_type(), at::kFloat);
    const at::Tensor& coefficient = dtype == at::kFloat ? drawn[1] : drawn[2];

    // Not by index_select(), whose gradient takes about 16 kernels on a GPU.
    const at::Tensor mixture = coefficient * feature + (1 - coefficient) * at::embedding(feature, order);
    return {context.head(mixture), at::arange(n, label.options()), label.ne(label.index_select(0, order)).to(dtype)};
  }

 private:
  // Draws until the coefficient is within the limits. Returns 1/2, which always is, if a million draws are not.
  double Coefficient(RandomStream* random) const {
    for (int attempt = 0; attempt < 1'000'000; ++attempt) {
      const double draw = random->Beta(spec_.alpha(), spec_.alpha());
      if (draw >= spec_.min_coefficient() && draw <= spec_.max_coefficient()) return draw;
    }
    return 0.5;
  }

  // Returns the number of mixed samples, the last ones of the batch.
  int64_t CountOf(const at::Tensor& label) const {
    const int64_t size = label.size(0);
    switch (spec_.mixed()) {
      case FeatureMixupSpec::WHOLE_BATCH:
        return size;
      case FeatureMixupSpec::SECOND_HALF:
        return size % 2 == 0 ? size / 2 : 0;
      case FeatureMixupSpec::MIXED_UNSPECIFIED:
        break;
    }
    LOG(FATAL) << "mixed is unspecified";
  }

  static OpenSet Nothing(const ModelOutput& known, const at::Tensor& label) {
    return {known.Rows(0, 0), at::empty({0}, label.options()), at::empty({0}, known.feature.options())};
  }

  const FeatureMixupSpec spec_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<OpenSetSource>> Make(const FeatureMixupSpec& spec, const OpenSetSetting&) {
  return std::make_unique<FeatureMixup>(spec);
}

}  // namespace openset
