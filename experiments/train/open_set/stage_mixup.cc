// Open-set source: mixtures of the feature maps after the network's last stage but one, as StageMixupSpec in
// open_set.proto says. Each step has floor(B / 2) open samples of weight 1, without slots. The order is drawn before
// the share. Source: Zhou et al., CVPR 2021 (CVPR21-Proser, proser_unknown_detection.py). There the known samples of
// the loss are the other half of the batch; here they are the whole batch, in a separate pass.
//
// `stages`: the number of the network's stages. Precondition: at least 2.
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/logging.h"
#include "core/tensor/torch.h"
#include "experiments/train/open_set/open_set_members.h"

namespace openset {
namespace {

class StageMixup : public OpenSetSource {
 public:
  StageMixup(const StageMixupSpec& spec, int stages) : spec_(spec), stage_(stages - 1) {
    CHECK(stage_ >= 1) << "stage mixup needs a network of two stages or more";
  }

  absl::Status Draw(const DrawContext& context) override {
    const int64_t n = context.label.size(0) / 2;
    if (n == 0) return absl::OkStatus();
    context.staging->Add(at::tensor(context.random->Permutation(n), at::kLong));
    context.number->push_back(context.random->Beta(spec_.alpha(), spec_.alpha()));
    return absl::OkStatus();
  }

  void Take(Staging* staging, Batch* batch) const override {
    if (batch->label.size(0) >= 2) batch->open->tensor.push_back(staging->Next());
  }

  OpenSet Make(const Context& context) override {
    const int64_t n = context.batch.label.size(0) / 2;
    const at::TensorOptions number = context.known.logits.options().requires_grad(false);
    if (n == 0) return {context.known.Rows(0, 0), {}, at::ones({0}, number)};
    const at::Tensor& order = context.batch.open->tensor[0];
    const double share = context.batch.open->number[0];
    std::vector<at::Tensor> maps;
    context.forward_from(0, context.batch.image.narrow(0, 0, n), &maps);
    const at::Tensor& map = maps[static_cast<size_t>(stage_ - 1)];
    const at::Tensor mixture = share * map + (1 - share) * map.index_select(0, order);
    return {context.forward_from(stage_, mixture, nullptr), {}, at::ones({n}, number)};
  }

 private:
  const StageMixupSpec spec_;
  const int stage_;  // the maps before this stage are mixed
};

}  // namespace

absl::StatusOr<std::unique_ptr<OpenSetSource>> Make(const StageMixupSpec& spec, const OpenSetSetting& setting) {
  return std::make_unique<StageMixup>(spec, setting.stages);
}

}  // namespace openset
