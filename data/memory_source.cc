#include "data/memory_source.h"

#include <utility>
#include <vector>

namespace openset {
namespace {

class MemorySource : public ImageSource {
 public:
  MemorySource(ImageSet set, std::string part) : set_(std::move(set)) {
    index_.label = std::move(set_.labels);
    index_.group_name = {std::move(part)};
  }

  const SampleIndex& index() const override { return index_; }
  ImageShape shape() const override { return {set_.channels, set_.height, set_.width}; }

  absl::StatusOr<std::vector<Image>> Read(absl::Span<const int64_t> samples) const override {
    std::vector<Image> images;
    images.reserve(samples.size());
    for (const int64_t sample : samples) {
      const auto begin = set_.pixels.begin() + sample * set_.image_bytes();
      images.push_back({set_.channels, set_.height, set_.width, {begin, begin + set_.image_bytes()}});
    }
    return images;
  }

 private:
  ImageSet set_;  // without its labels
  SampleIndex index_;
};

}  // namespace

std::shared_ptr<const ImageSource> MakeMemorySource(ImageSet set, std::string part) {
  return std::make_shared<MemorySource>(std::move(set), std::move(part));
}

}  // namespace openset
