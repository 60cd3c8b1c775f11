#include "data/readers/noise_source.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/random.h"

namespace openset {
namespace {

class NoiseSource : public ImageSource {
 public:
  NoiseSource(const NoiseImages& noise, std::string name, const std::string& part, int64_t samples,
              const ImageShape& shape)
      : noise_(noise), name_(std::move(name)), shape_(shape) {
    index_.label.assign(samples, 0);
    index_.group_name = {part};
  }

  const SampleIndex& index() const override { return index_; }
  ImageShape shape() const override { return shape_; }

  absl::StatusOr<std::vector<Image>> Read(absl::Span<const int64_t> samples) const override {
    std::vector<Image> images;
    for (const int64_t sample : samples) {
      RandomStream stream(noise_.seed(), absl::StrCat(name_, "/", sample));
      Image image{shape_.channels, shape_.height, shape_.width, std::vector<uint8_t>(shape_.bytes())};
      for (uint8_t& pixel : image.pixels) {
        const double x = noise_.has_gaussian() ? noise_.gaussian().mean() + noise_.gaussian().std() * stream.Normal()
                                               : stream.Uniform();
        pixel = static_cast<uint8_t>(std::floor(255 * std::clamp(x, 0.0, 1.0) + 0.5));
      }
      images.push_back(std::move(image));
    }
    return images;
  }

 private:
  const NoiseImages noise_;
  const std::string name_;  // "DATA_SET/PART"
  const ImageShape shape_;
  SampleIndex index_;
};

}  // namespace

std::shared_ptr<const ImageSource> MakeNoiseSource(const NoiseImages& noise, const std::string& data_set,
                                                   const std::string& part, int64_t samples, const ImageShape& shape) {
  return std::make_shared<NoiseSource>(noise, absl::StrCat(data_set, "/", part), part, samples, shape);
}

}  // namespace openset
