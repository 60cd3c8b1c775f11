// ModelSpec -> Model.
#ifndef OPENSET_MODELS_MAKE_MODEL_H_
#define OPENSET_MODELS_MAKE_MODEL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "core/random.h"
#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// A model for `num_classes` known classes and input images as in `input`, initialised from `random`. LibTorch's default
// generator is left as it was.
// spec.weights is not read: models/import_weights.h does that.
// Errors: kInvalidArgument if the backbone can't take such images (too small); those of MakeTorchScriptModel().
// Precondition: the specs obey their schema's rules and have their defaults filled in.
absl::StatusOr<std::shared_ptr<Model>> MakeModel(const ModelSpec& spec, const InputSpec& input, int num_classes,
                                                 RandomStream* random, const ModelUse& use = {});

}  // namespace openset

#endif  // OPENSET_MODELS_MAKE_MODEL_H_
