#include "tools/evaluation/scored_samples.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/files/apply_score.h"
#include "tools/evaluation/parse_specs.h"

namespace openset {

absl::StatusOr<ScoredSamples> ScoreSamples(const SampleOptions& options, const SampleReader& read,
                                           const SampleReader& read_fit) {
  SetRoles roles;
  roles.known.assign(options.known().begin(), options.known().end());
  roles.unknown.assign(options.unknown().begin(), options.unknown().end());
  roles.near.assign(options.near().begin(), options.near().end());
  roles.far.assign(options.far().begin(), options.far().end());
  roles.skip.assign(options.skip().begin(), options.skip().end());
  ScoredSamples result;
  ScoreSpec spec;
  if (!options.score().empty()) {
    OPENSET_ASSIGN_OR_RETURN(spec, ParseScore("--score", options.score()));
  }
  if (options.higher_is_known() && !options.score().empty()) {
    return absl::InvalidArgumentError(
        "--higher_is_known: applies to the score in the files, but --score computes another one");
  }
  OPENSET_ASSIGN_OR_RETURN(result.samples, read(roles, options.higher_is_known() ? ScoreDirection::kHigherIsKnown
                                                                                 : ScoreDirection::kHigherIsUnknown));
  if (options.score().empty() && !result.samples.unknown_score.empty()) {
    result.note =
        absl::StrCat("unknown score: ", options.higher_is_known() ? "minus that of the file" : "that of the file");
    result.origin = options.higher_is_known() ? ScoreOrigin::kFileNegated : ScoreOrigin::kFile;
    return result;
  }
  if (options.score().empty()) {
    spec.mutable_max_softmax();
    result.note = absl::StrCat("unknown score: ", ScoreText(spec), " (--score= takes another)");
  } else {
    result.note = absl::StrCat("unknown score: ", ScoreText(spec));
  }
  SampleSet train;
  if (read_fit != nullptr) {
    OPENSET_ASSIGN_OR_RETURN(train, read_fit({}, ScoreDirection::kHigherIsUnknown));
  }
  OPENSET_RETURN_IF_ERROR(ApplyScore(spec, read_fit != nullptr ? &train : nullptr, &result.samples));
  return result;
}

}  // namespace openset
