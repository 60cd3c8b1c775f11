// Computes the mean and standard deviation of each channel of images, with values in [0, 1].
#ifndef OPENSET_DATA_INSPECT_CHANNEL_STATISTICS_H_
#define OPENSET_DATA_INSPECT_CHANNEL_STATISTICS_H_

#include <cstdint>
#include <vector>

#include "data/image_source.h"

namespace openset {

// Statistics over the pixels of all added images. Each image counts equally, whatever its size. If all images have one
// size, these are the statistics that are published for data sets.
class ChannelStatistics {
 public:
  // Precondition: `image` has at least one pixel, and as many channels as earlier images.
  void Add(const Image& image);

  int64_t images() const { return images_; }

  // One number for each channel: the mean m of the images' means, and sqrt(s - m^2), where s is the mean of the images'
  // mean squares. Empty if no image was added.
  std::vector<double> Means() const;
  std::vector<double> Deviations() const;

 private:
  int64_t images_ = 0;
  std::vector<double> sum_;
  std::vector<double> sum_of_squares_;
};

}  // namespace openset

#endif  // OPENSET_DATA_INSPECT_CHANNEL_STATISTICS_H_
