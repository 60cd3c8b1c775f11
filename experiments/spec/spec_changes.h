// What the command line lays over an experiment.
#ifndef OPENSET_EXPERIMENTS_SPEC_SPEC_CHANGES_H_
#define OPENSET_EXPERIMENTS_SPEC_SPEC_CHANGES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/resolve/resolve_method.h"

namespace openset {

struct SpecChanges {
  // "PATH=VALUE", each laid over what is before it: a field of every method that has it ("training.epochs=5",
  // "loss.open_auc.lambda=0.2"), over its presets and the experiment's override; or of the experiment itself
  // ("train_limit_per_class=100").
  std::vector<std::string> set;
  // "0..4" or "0,3,7..9", in the place of the experiment's; "": as written.
  std::string seeds;
  // In the place of the experiment's; none: as written. LoadExperiment() takes them as people type them
  // (MeantMethod()).
  std::vector<std::string> methods;

  // "--set=training.epochs=5", "--seeds=0..4", "--methods=a,b".
  std::vector<std::string> Texts() const;
};

// Errors of both, with the flag: kInvalidArgument for what is no PATH=VALUE, a field that no method has or a value that
// does not fit it, a field that names files, and seeds that are no numbers.
absl::Status ChangeSpec(const SpecChanges& changes, ExperimentSpec* spec);
absl::Status ChangeMethods(const SpecChanges& changes, const std::vector<LoadedMethod*>& methods);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_SPEC_CHANGES_H_
