// Changes to a study from the command line.
#ifndef OPENSET_EXPERIMENTS_SPEC_SPEC_CHANGES_H_
#define OPENSET_EXPERIMENTS_SPEC_SPEC_CHANGES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/resolve/resolve_method.h"

namespace openset {

struct SpecChanges {
  // "PATH=VALUE"; later ones override earlier ones. PATH is a field of methods ("training.epochs=5",
  // "loss.open_auc.lambda=0.2"), set in every method that has it after its presets and the study's override, or a field
  // of the study itself ("train_limit_per_class=100").
  std::vector<std::string> set;
  // "0..4" or "0,3,7..9": replaces the study's seeds; "": as written.
  std::string seeds;
  // Replaces the study's methods; empty: as written. LoadExperiment() also accepts other spellings (MeantMethod()).
  std::vector<std::string> methods;

  // "--set=training.epochs=5", "--seeds=0..4", "--methods=a,b".
  std::vector<std::string> Texts() const;
};

// Errors of both, with the flag: kInvalidArgument for text that is not PATH=VALUE, a field that no method has, a value
// that does not fit its field, a field that names files, and seeds that are not numbers.
absl::Status ChangeSpec(const SpecChanges& changes, ExperimentSpec* spec);
absl::Status ChangeMethods(const SpecChanges& changes, const std::vector<LoadedMethod*>& methods);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_SPEC_CHANGES_H_
