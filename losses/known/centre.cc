#include "losses/known/centre.h"

#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "core/tensor/torch.h"
#include "losses/parameters.h"

namespace openset {
namespace {

class Centre : public LossTerm {
 public:
  explicit Centre(const LossSetting& setting) {
    RandomStream random(setting.seed, "loss.centre");
    centre_ = DrawParameter({setting.classes, setting.features}, setting.device, [&] { return random.Normal(); });
  }

  at::Tensor Compute(const LossInput& input) override {
    return (input.known.feature - centre_.index_select(0, input.batch.label)).square().sum(1).mean() / 2;
  }

  std::vector<std::pair<std::string, at::Tensor>> Parameters() const override { return {{"centre", centre_}}; }

 private:
  at::Tensor centre_;  // [K, D]
};

}  // namespace

std::unique_ptr<LossTerm> MakeCentre(const LossSetting& setting) { return std::make_unique<Centre>(setting); }

}  // namespace openset
