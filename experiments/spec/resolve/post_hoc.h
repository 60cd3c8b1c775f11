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
  // The methods, with the model and the input instead of their own, and without training.
  std::vector<LoadedMethod> methods;

  struct Skipped {
    std::string name;
    std::string why;
  };
  std::vector<Skipped> skipped;
};

// Returns those of `methods` that can be used on `model`, in their order. A method is post hoc if it trains one network
// with a linear head and plain cross entropy, so that it differs from others only in inference and score. Skips the
// others, those with the same score as an earlier one, and those that need something that the model lacks (dropout,
// features). Errors: kInvalidArgument for a model or input that no method can have, with the field's path.
absl::StatusOr<PostHocMethods> MakePostHoc(std::vector<LoadedMethod> methods, const ModelSpec& model,
                                           const InputSpec& input);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_POST_HOC_H_
