#include "data/open_set/overlay_images.h"

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "core/torch.h"
#include "data/open_set/image_source.h"

namespace openset {
namespace {

class OverlayImages : public ImageSource {
 public:
  explicit OverlayImages(const OverlayImagesSpec& spec) : spec_(spec) {}

  at::Tensor ExtraImages(const Batch& batch, RandomStream* random) override {
    const at::Tensor label = batch.label.cpu();
    std::map<int64_t, std::vector<int64_t>> of_class;
    for (int64_t i = 0; i < label.size(0); ++i) of_class[label[i].item<int64_t>()].push_back(i);
    if (of_class.size() < 2) return {};
    const auto count = static_cast<int64_t>(std::ceil(spec_.share() * label.size(0)));
    std::vector<int64_t> first, second;
    for (int64_t i = 0; i < count; ++i) {
      const auto [a, b] = spec_.pairs() == OverlayImagesSpec::RANDOM ? RandomPair(label, random) : Cycle(of_class, i);
      first.push_back(a);
      second.push_back(b);
    }
    const auto gather = [&](const std::vector<int64_t>& rows) {
      return batch.image.index_select(0, at::tensor(rows, at::kLong).to(batch.image.device()));
    };
    return ((gather(first) + gather(second)) / 2).contiguous(at::MemoryFormat::ChannelsLast);
  }

 private:
  using Pair = std::pair<int64_t, int64_t>;

  static Pair RandomPair(const at::Tensor& label, RandomStream* random) {
    while (true) {
      const auto a = static_cast<int64_t>(random->Below(label.size(0)));
      const auto b = static_cast<int64_t>(random->Below(label.size(0)));
      if (label[a].item<int64_t>() != label[b].item<int64_t>()) return {a, b};
    }
  }

  static Pair Cycle(const std::map<int64_t, std::vector<int64_t>>& of_class, int64_t i) {
    std::vector<const std::vector<int64_t>*> classes;
    for (const auto& entry : of_class) classes.push_back(&entry.second);
    const int64_t count = static_cast<int64_t>(classes.size());
    int64_t pair = i % (count * (count - 1) / 2);
    int64_t a = 0;
    for (; pair >= count - 1 - a; ++a) pair -= count - 1 - a;
    const std::vector<int64_t>& first = *classes[a];
    const std::vector<int64_t>& second = *classes[a + 1 + pair];
    return {first[i % first.size()], second[i % second.size()]};
  }

  const OverlayImagesSpec spec_;
};

}  // namespace

std::unique_ptr<OpenSetSource> MakeOverlayImages(const OverlayImagesSpec& spec) {
  return std::make_unique<OverlayImages>(spec);
}

}  // namespace openset
