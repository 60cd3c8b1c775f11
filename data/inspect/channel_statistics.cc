#include "data/inspect/channel_statistics.h"

#include <algorithm>
#include <cmath>

namespace openset {

void ChannelStatistics::Add(const Image& image) {
  sum_.resize(image.channels);
  sum_of_squares_.resize(image.channels);
  ++images_;
  const int64_t size = image.height * image.width;
  for (int64_t c = 0; c < image.channels; ++c) {
    int64_t total = 0, squares = 0;
    for (int64_t i = 0; i < size; ++i) {
      const int64_t value = image.pixels[c * size + i];
      total += value;
      squares += value * value;
    }
    sum_[c] += static_cast<double>(total) / (255.0 * static_cast<double>(size));
    sum_of_squares_[c] += static_cast<double>(squares) / (255.0 * 255.0 * static_cast<double>(size));
  }
}

std::vector<double> ChannelStatistics::Means() const {
  std::vector<double> means;
  for (const double sum : sum_) means.push_back(sum / static_cast<double>(images_));
  return means;
}

std::vector<double> ChannelStatistics::Deviations() const {
  std::vector<double> deviations = Means();
  for (size_t c = 0; c < deviations.size(); ++c) {
    const double variance = sum_of_squares_[c] / static_cast<double>(images_) - deviations[c] * deviations[c];
    deviations[c] = std::sqrt(std::max(0.0, variance));  // rounding may make it negative for constant images
  }
  return deviations;
}

}  // namespace openset
