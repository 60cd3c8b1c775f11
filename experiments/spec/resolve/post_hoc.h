// Methods that need no training of their own, on one model.
#ifndef OPENSET_EXPERIMENTS_SPEC_RESOLVE_POST_HOC_H_
#define OPENSET_EXPERIMENTS_SPEC_RESOLVE_POST_HOC_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/spec/method.proto.h"
#include "models/model.pb.h"

namespace openset {

struct PostHocMethods {
  // With the model and the input in place of their own, and without training.
  std::vector<LoadedMethod> methods;

  struct Skipped {
    std::string name;
    std::string why;
  };
  std::vector<Skipped> skipped;
};

// Of `methods`, those that can be used on `model`, in their order. A method is post hoc if it is trained with plain
// cross entropy on a linear head, once: then all that is its own is how the model is asked and scored. Skipped are the
// others, those that score as one before them does, and those that need what the model lacks (dropout, features).
// Errors: kInvalidArgument for a model or input that no method can have, with the field's path.
absl::StatusOr<PostHocMethods> MakePostHoc(std::vector<LoadedMethod> methods, const ModelSpec& model,
                                           const InputSpec& input);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_POST_HOC_H_
