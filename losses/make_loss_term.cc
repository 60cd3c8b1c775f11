#include "losses/make_loss_term.h"

#include <string>
#include <utility>
#include <vector>

#include "core/tensor/torch.h"
#include "losses/loss_members.h"

namespace openset {
namespace {

// lambda * term.
class Scaled : public LossTerm {
 public:
  Scaled(double lambda, std::unique_ptr<LossTerm> term) : lambda_(lambda), term_(std::move(term)) {}

  at::Tensor Compute(const LossInput& input) override { return term_->Compute(input) * lambda_; }
  void EndStep() override { term_->EndStep(); }
  std::vector<std::pair<std::string, at::Tensor>> Parameters() const override { return term_->Parameters(); }
  std::vector<std::pair<std::string, at::Tensor>> State() const override { return term_->State(); }

 private:
  const double lambda_;
  const std::unique_ptr<LossTerm> term_;
};

}  // namespace

std::unique_ptr<LossTerm> MakeLossTerm(const LossTermSpec& spec, const LossSetting& setting) {
  std::unique_ptr<LossTerm> term = Make(spec, setting);
  if (spec.lambda() == 1) return term;
  return std::make_unique<Scaled>(spec.lambda(), std::move(term));
}

}  // namespace openset
