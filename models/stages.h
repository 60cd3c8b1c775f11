// The number of stages of a network that expose their feature maps.
#ifndef OPENSET_MODELS_STAGES_H_
#define OPENSET_MODELS_STAGES_H_

#include "models/model.pb.h"

namespace openset {

// Returns Backbone::num_stages() of the network that `model` describes (models/model.h). It is 0 for transformers and
// scripts, which do not expose stages.
int NumStages(const ModelSpec& model);

}  // namespace openset

#endif  // OPENSET_MODELS_STAGES_H_
