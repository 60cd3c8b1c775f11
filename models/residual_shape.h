// The shapes of residual networks (He et al., CVPR 2016), for the code that builds them and the code that counts their
// operations.
#ifndef OPENSET_MODELS_RESIDUAL_SHAPE_H_
#define OPENSET_MODELS_RESIDUAL_SHAPE_H_

#include <vector>

#include "models/model.pb.h"

namespace openset {

struct ResidualShape {
  std::vector<int> blocks;  // of each stage; the first block of each but the first stage halves the image
  int width = 0;            // channels of the stem
  // Blocks have three convolutions, to four times the stage's channels, instead of two, to these channels. The first
  // stage has the stem's channels, each further one twice as many.
  bool bottlenecks = false;
  // The stem is a 7x7 convolution of stride 2 and 3x3 max pooling of stride 2, instead of a 3x3 convolution.
  bool large_images = false;
};

// The specs' defaults may be filled in or not.
ResidualShape ResidualShapeOf(const ResnetCifarSpec& spec);
ResidualShape ResidualShapeOf(const ResnetImagenetSpec& spec);

}  // namespace openset

#endif  // OPENSET_MODELS_RESIDUAL_SHAPE_H_
