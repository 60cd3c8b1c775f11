#include "data/open_set/feature_mixup.h"

#include <vector>

#include "core/logging.h"
#include "core/tensor/staging.h"
#include "core/tensor/torch.h"

namespace openset {
namespace {

class FeatureMixup : public OpenSetSource {
 public:
  explicit FeatureMixup(const FeatureMixupSpec& spec) : spec_(spec) {}

  OpenSet Make(const Context& context) override {
    const int64_t begin = Begin(context.known.feature.size(0));
    const at::Tensor feature = context.known.feature.slice(0, begin);
    const at::Tensor label = context.batch.label.slice(0, begin);
    const int64_t n = feature.size(0);
    if (n == 0) return Nothing(context.known, label);

    Staging staging;
    staging.Add(at::tensor(context.random->Permutation(n), at::kLong));
    std::vector<double> draws(spec_.one_coefficient_per_batch() ? 1 : n);
    for (double& draw : draws) draw = Coefficient(context.random);
    // At least f32, whatever the precision of the backbone.
    const at::ScalarType dtype = at::promote_types(feature.scalar_type(), at::kFloat);
    staging.Add(at::tensor(draws, at::kDouble).to(dtype).unsqueeze(1));
    staging.MoveTo(feature.device());
    const at::Tensor order = staging.Next(), coefficient = staging.Next();

    const at::Tensor mixture = coefficient * feature + (1 - coefficient) * feature.index_select(0, order);
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

  // Returns the index of the first mixed sample in a batch of `size` samples.
  int64_t Begin(int64_t size) const {
    switch (spec_.mixed()) {
      case FeatureMixupSpec::WHOLE_BATCH:
        return 0;
      case FeatureMixupSpec::SECOND_HALF:
        return size % 2 == 0 ? size / 2 : size;
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

std::unique_ptr<OpenSetSource> MakeFeatureMixup(const FeatureMixupSpec& spec) {
  return std::make_unique<FeatureMixup>(spec);
}

}  // namespace openset
