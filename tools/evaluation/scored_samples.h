// Samples with an unknown score, as a request asks for it.
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
  std::string note;   // which score it is
  ScoreOrigin origin = ScoreOrigin::kOutputs;
};

// Reads samples: of files, or of arrays in memory.
using SampleReader = std::function<absl::StatusOr<SampleSet>(const SetRoles& roles, ScoreDirection direction)>;

// What `read` gives, scored by options.score; without one by the score that is there, else by max_softmax. `read_fit`
// reads the samples that scores are fitted on, and is called where there is a score to compute; it may be empty.
// Errors: those of ParseScore(), of the readers and of ApplyScore(); kInvalidArgument for higher_is_known together with
// a score.
absl::StatusOr<ScoredSamples> ScoreSamples(const SampleOptions& options, const SampleReader& read,
                                           const SampleReader& read_fit);

}  // namespace openset

#endif  // OPENSET_TOOLS_EVALUATION_SCORED_SAMPLES_H_
