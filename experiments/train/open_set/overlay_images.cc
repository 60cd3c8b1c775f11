// Open-set source: means of two images of different classes, as OverlayImagesSpec in open_set.proto says. Each step has
// ceil(share * B) images, or none if the batch has one class. Source: w4k2/torchosr, models/OverlaySoftmax.
#include <cmath>
#include <map>
#include <memory>

#include "absl/status/statusor.h"
#include "core/tensor/torch.h"
#include "experiments/train/open_set/extra_images.h"
#include "experiments/train/open_set/open_set_members.h"

namespace openset {
namespace {

class OverlayImages : public ExtraImageSource {
 public:
  explicit OverlayImages(const OverlayImagesSpec& spec) : spec_(spec) {}

  absl::Status Draw(const DrawContext& context) override {
    const at::Tensor on_host = context.label.contiguous();
    const int64_t* begin = on_host.const_data_ptr<int64_t>();
    const std::vector<int64_t> label(begin, begin + on_host.numel());
    std::map<int64_t, std::vector<int64_t>> by_label;
    for (size_t i = 0; i < label.size(); ++i) by_label[label[i]].push_back(static_cast<int64_t>(i));
    if (by_label.size() < 2) return absl::OkStatus();
    std::vector<std::vector<int64_t>> classes;
    for (auto& [_, samples] : by_label) classes.push_back(std::move(samples));
    const auto count = static_cast<int64_t>(std::ceil(spec_.share() * static_cast<double>(label.size())));
    std::vector<int64_t> first, second;
    for (int64_t i = 0; i < count; ++i) {
      const auto [a, b] =
          spec_.pairs() == OverlayImagesSpec::RANDOM ? RandomPair(label, context.random) : Cycle(classes, i);
      first.push_back(a);
      second.push_back(b);
    }
    context.staging->Add(at::tensor(first, at::kLong));
    context.staging->Add(at::tensor(second, at::kLong));
    context.number->push_back(static_cast<double>(count));
    return absl::OkStatus();
  }

  void Take(Staging* staging, Batch* batch) const override {
    if (batch->open->number.empty()) return;
    const at::Tensor a = batch->image.index_select(0, staging->Next());
    const at::Tensor b = batch->image.index_select(0, staging->Next());
    batch->open->image = ((a + b) / 2).contiguous(batch->image.suggest_memory_format());
  }

 private:
  using Pair = std::pair<int64_t, int64_t>;

  static Pair RandomPair(const std::vector<int64_t>& label, RandomStream* random) {
    while (true) {
      const auto a = static_cast<int64_t>(random->Below(label.size()));
      const auto b = static_cast<int64_t>(random->Below(label.size()));
      if (label[a] != label[b]) return {a, b};
    }
  }

  // `classes`: the samples of each class, in ascending order of the labels.
  static Pair Cycle(const std::vector<std::vector<int64_t>>& classes, int64_t i) {
    const auto count = static_cast<int64_t>(classes.size());
    int64_t pair = i % (count * (count - 1) / 2);
    int64_t a = 0;
    for (; pair >= count - 1 - a; ++a) pair -= count - 1 - a;
    const std::vector<int64_t>& first = classes[a];
    const std::vector<int64_t>& second = classes[a + 1 + pair];
    return {first[i % first.size()], second[i % second.size()]};
  }

  const OverlayImagesSpec spec_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<OpenSetSource>> Make(const OverlayImagesSpec& spec, const OpenSetSetting&) {
  return std::make_unique<OverlayImages>(spec);
}

}  // namespace openset
