// Finds the methods that need no training of their own, for one model.
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
  // The methods with this model and input instead of their own, and without training.
  std::vector<LoadedMethod> methods;

  struct Skipped {
    std::string name;
    std::string why;
  };
  std::vector<Skipped> skipped;
};

// Returns those of `methods` that can be used on `model`, in their order. A method is post hoc if it is trained once,
// with plain cross entropy on a linear head: then only its inference and its score distinguish it. Other methods are
// skipped, and so are methods that score like an earlier one or need something that the model lacks (dropout,
// features). Errors: kInvalidArgument, with the field's path, for a model or input that is invalid in every method.
absl::StatusOr<PostHocMethods> MakePostHoc(std::vector<LoadedMethod> methods, const ModelSpec& model,
                                           const InputSpec& input);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_POST_HOC_H_
