// ModelSpec -> Model.
#ifndef OPENSET_MODELS_MAKE_MODEL_H_
#define OPENSET_MODELS_MAKE_MODEL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "core/random.h"
#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// Returns a model for `num_classes` known classes and images as in `input`, initialised from `random`. Does not change
// LibTorch's default generator. Does not read spec.weights; see models/import_weights.h. Errors: kInvalidArgument if
// such images are too small for the backbone. For a TorchScript file: a read error (core/files/system_calls.h);
// kFailedPrecondition if it has another SHA-256; kInvalidArgument if it is not a script, or not a network for such
// images and classes (models/torch_script.h). Precondition: the specs obey their schemas' rules and have their defaults
// filled in.
absl::StatusOr<std::shared_ptr<Model>> MakeModel(const ModelSpec& spec, const InputSpec& input, int num_classes,
                                                 RandomStream* random, const ModelUse& use = {});

}  // namespace openset

#endif  // OPENSET_MODELS_MAKE_MODEL_H_
