// What other code needs to know about an open set: what it costs, what it reads, and what it asks of a method.
#ifndef OPENSET_EXPERIMENTS_SPEC_METHOD_OPEN_SET_TRAITS_H_
#define OPENSET_EXPERIMENTS_SPEC_METHOD_OPEN_SET_TRAITS_H_

#include "experiments/spec/method.proto.h"

namespace openset {

struct OpenSetTraits {
  // The images that pass through the network for each training image, in addition to the passes over training images.
  double more_images = 0;
  // Whether it reads the task's external images.
  bool external = false;
  // Whether each of its samples belongs to a slot of the batch, so that losses can pair by slot.
  bool slots = false;
  // Whether its images are mixtures with those of the batch.
  bool mixes_images = false;
  // Whether the network sees its images in place of the batch (OpenSetSource::ReplacesBatch()).
  bool replaces_batch = false;
  // How many stages the network must have, because their feature maps are read.
  int stages = 0;
  // Whether images must have a size that is a power of two, at least 8.
  bool power_of_two = false;
};

// The defaults, if `open_set` has no member.
OpenSetTraits TraitsOf(const OpenSetSpec& open_set);

// Whether a training of the method reads the task's external images.
bool ReadsExternalImages(const MethodSpec& method);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_METHOD_OPEN_SET_TRAITS_H_
