#include "eval/scores/make_score.h"

#include "absl/strings/str_cat.h"
#include "core/proto/proto_rules.h"
#include "eval/scores/score_members.h"

namespace openset {

absl::StatusOr<std::unique_ptr<Score>> MakeScore(const ScoreSpec& spec) {
  for (const FieldProblem& problem : FindProblems(spec)) {
    return absl::InvalidArgumentError(
        absl::StrCat("score", problem.path.empty() ? "" : ".", problem.path, " ", problem.message));
  }
  return Make(spec);
}

}  // namespace openset
