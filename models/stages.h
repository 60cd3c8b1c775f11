// How many stages of a network show their feature maps.
#ifndef OPENSET_MODELS_STAGES_H_
#define OPENSET_MODELS_STAGES_H_

#include "models/model.pb.h"

namespace openset {

// Backbone::num_stages() of the network that is made of `model` (models/model.h); 0 for transformers and scripts, which
// show none.
int NumStages(const ModelSpec& model);

}  // namespace openset

#endif  // OPENSET_MODELS_STAGES_H_
