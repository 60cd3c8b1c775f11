// Mean and standard deviation of each channel of images, with values in [0, 1].
#ifndef OPENSET_DATA_INSPECT_CHANNEL_STATISTICS_H_
#define OPENSET_DATA_INSPECT_CHANNEL_STATISTICS_H_

#include <cstdint>
#include <vector>

#include "data/image_source.h"

namespace openset {

// Over the pixels of all images that were added; each image counts alike, whatever its size. Of images of one size this
// is what data sets are published with.
class ChannelStatistics {
 public:
  // Precondition: it has as many channels as those before, and a pixel.
  void Add(const Image& image);

  int64_t images() const { return images_; }

  // One for each channel: the mean m of the images' means, and sqrt(s - m^2), s the mean of their mean squares. Empty
  // if no image was added.
  std::vector<double> Means() const;
  std::vector<double> Deviations() const;

 private:
  int64_t images_ = 0;
  std::vector<double> sum_;
  std::vector<double> sum_of_squares_;
};

}  // namespace openset

#endif  // OPENSET_DATA_INSPECT_CHANNEL_STATISTICS_H_
