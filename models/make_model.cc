#include "models/make_model.h"

#include <utility>

#include "core/status_macros.h"
#include "models/heads/head_members.h"
#include "models/networks/network_members.h"
#include "models/torch_script.h"

namespace openset {

absl::StatusOr<std::shared_ptr<Model>> MakeModel(const ModelSpec& spec, const InputSpec& input, int num_classes,
                                                 RandomStream* random, const ModelUse& use) {
  if (spec.has_torch_script()) {
    // The script may draw while its outputs are checked.
    at::Generator generator = at::globalContext().defaultGenerator(use.device);
    const at::Tensor generator_state = generator.get_state();
    auto model = MakeTorchScriptModel(spec.torch_script(), input, num_classes, use);
    generator.set_state(generator_state);
    return model;
  }
  OPENSET_ASSIGN_OR_RETURN(std::shared_ptr<Backbone> backbone, Make(spec, input));
  std::shared_ptr<Head> head = Make(spec.head(), backbone->feature_dim(), num_classes + spec.head().extra_outputs());
  backbone->Initialise(random);
  head->Initialise(random);
  return std::make_shared<Model>(std::move(backbone), std::move(head));
}

}  // namespace openset
