// Reads samples and computes the unknown score that a request names.
#ifndef OPENSET_TOOLS_EVALUATION_SCORED_SAMPLES_H_
#define OPENSET_TOOLS_EVALUATION_SCORED_SAMPLES_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "eval/files/sample_set.h"
#include "eval/report/evaluation_hints.h"
#include "tools/evaluation/request.pb.h"

namespace openset {

struct ScoredSamples {
  SampleSet samples;  // with an unknown score
  std::string note;   // names the score
  ScoreOrigin origin = ScoreOrigin::kOutputs;
};

// Reads samples from files, or from arrays in memory.
using SampleReader = std::function<absl::StatusOr<SampleSet>(const SetRoles& roles, ScoreDirection direction)>;

// Returns the samples of `read` with the score options.score; without one, with the score that the samples have,
// otherwise with max_softmax. `read_fit` reads the samples that scores are fitted to, and is called only if a score is
// computed; it may be null. Errors: those of ParseScore(), of the readers and of ApplyScore(); kInvalidArgument for
// higher_is_known together with a score.
absl::StatusOr<ScoredSamples> ScoreSamples(const SampleOptions& options, const SampleReader& read,
                                           const SampleReader& read_fit);

}  // namespace openset

#endif  // OPENSET_TOOLS_EVALUATION_SCORED_SAMPLES_H_
