// Changes of a study by the command line, and the text of the changed study.
#ifndef OPENSET_EXPERIMENTS_SPEC_SPEC_CHANGES_H_
#define OPENSET_EXPERIMENTS_SPEC_SPEC_CHANGES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/resolve/resolve_method.h"

namespace openset {

// ---- Changes of a study by the command line.

struct SpecChanges {
  // "PATH=VALUE". Each sets a field of every method that has it ("training.epochs=5", "loss.open_auc.lambda=0.2"), and
  // overrides presets, the study's override, and earlier values; or a field of the study itself
  // ("train_limit_per_class=100").
  std::vector<std::string> set;
  // "0..4" or "0,3,7..9", instead of the study's seeds; "": as written.
  std::string seeds;
  // Replace the study's methods; empty: the methods as written. LoadExperiment() accepts synonyms (SuggestedMethod()),
  // and takes "softmax" for the study's "softmax+laptop" if the study has no other form of it.
  std::vector<std::string> methods;

  // "PATH=VALUE,VALUE": each adds an axis to the study.
  std::vector<std::string> axis;

  // "auroc: 1.0", a metric of the study and the difference that matters, or the fields of Until (experiment.proto);
  // instead of the study's `until`. "": as written.
  std::string until;

  // Labels of the records that the run makes: names. They change neither the study nor its trials.
  std::vector<std::string> tag;

  // "--set=training.epochs=5", "--seeds=0..4", "--methods=a,b", "--axis=training.epochs=5,10",
  // "--until=auroc: 1.0"; without the tags.
  std::vector<std::string> Texts() const;
};

// kInvalidArgument for a tag that is no name (core/text/name.h), and for one given twice.
absl::Status CheckTags(const std::vector<std::string>& tags);

// Returns the study's name with its changes, for folders and lists: "critters+epochs=5", without the prefix "training."
// of a field; "critters+1a2b3c4d" if the changes are long or have characters that folders' names should not have.
// Different changes have different names. `overrides` are SpecChanges::Texts().
std::string VariantName(const std::string& study, absl::Span<const std::string> overrides);

// Errors of both, with the flag: kInvalidArgument if it is not PATH=VALUE, for a field that no method has, a value that
// does not fit it, a field that names files, and seeds that are not numbers.
absl::Status ChangeSpec(const SpecChanges& changes, ExperimentSpec* spec);
absl::Status ChangeMethods(const SpecChanges& changes, const std::vector<LoadedMethod*>& methods);

// ---- The text of a study as the command line changed it.

struct SpecLine {
  std::string text;
  bool changed = false;  // the line is not in the spec as written
};

// Returns the lines of ToText() of `changed`, the result of ChangeSpec() on `written`. The fields of methods that
// `overrides` (SpecChanges::Texts()) sets are in its `override`. If a flag's field can't be there (a loss term that
// only the methods' files have), the flag becomes a comment on its own line.
std::vector<SpecLine> ChangedSpecLines(const ExperimentSpec& written, ExperimentSpec changed,
                                       absl::Span<const std::string> overrides);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_SPEC_CHANGES_H_
