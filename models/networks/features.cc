// The network of tasks whose samples are feature vectors: the identity.
//
// f32 [B, 1, 1, D] -> [B, D].
// Errors: kInvalidArgument if `dim` is not set, or the head is fitted, which is no training.
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "models/networks/network_members.h"

namespace openset {
namespace {

class Features : public Backbone {
 public:
  explicit Features(int64_t dim) : dim_(dim) {}

  at::Tensor Forward(const at::Tensor& image, int /*norm_set*/) override { return image.flatten(1); }
  int64_t feature_dim() const override { return dim_; }
  void Initialise(RandomStream* /*random*/) override {}

 private:
  const int64_t dim_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<Backbone>> Make(const FeaturesSpec& spec, const InputSpec& /*input*/) {
  if (spec.dim() < 1) return absl::InvalidArgumentError("features: dim is not set");
  if (spec.fitted_case() != FeaturesSpec::FITTED_NOT_SET) {
    return absl::InvalidArgumentError("features: the head is fitted without a network");
  }
  return std::make_shared<Features>(spec.dim());
}

}  // namespace openset
