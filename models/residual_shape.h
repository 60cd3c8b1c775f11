// The shapes of residual networks (He et al., CVPR 2016), for what builds them and for what counts their work.
#ifndef OPENSET_MODELS_RESIDUAL_SHAPE_H_
#define OPENSET_MODELS_RESIDUAL_SHAPE_H_

#include <vector>

#include "models/model.pb.h"

namespace openset {

struct ResidualShape {
  std::vector<int> blocks;  // of each stage; the first block of each but the first stage halves the image
  int width = 0;            // channels of the stem
  // Of three convolutions to four times the stage's channels, instead of two to these channels. The first stage has
  // the stem's channels, each further one twice as many.
  bool bottlenecks = false;
  // A 7x7 convolution of stride 2 and a 3x3 maximum of stride 2 as stem, instead of a 3x3 convolution.
  bool large_images = false;
};

// With the specs' defaults filled in or not.
ResidualShape ResidualShapeOf(const ResnetCifarSpec& spec);
ResidualShape ResidualShapeOf(const ResnetImagenetSpec& spec);

}  // namespace openset

#endif  // OPENSET_MODELS_RESIDUAL_SHAPE_H_
