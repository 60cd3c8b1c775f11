// Flags of the commands that read scores, and what they make.
#ifndef OPENSET_TOOLS_CLI_FLAGS_SCORE_FLAGS_H_
#define OPENSET_TOOLS_CLI_FLAGS_SCORE_FLAGS_H_

#include <string>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "eval/files/sample_set.h"
#include "eval/report/evaluation_hints.h"
#include "eval/report/evaluation_report.h"
#include "eval/statistics/bootstrap.h"

ABSL_DECLARE_FLAG(std::string, format);
ABSL_DECLARE_FLAG(std::string, out);
ABSL_DECLARE_FLAG(std::string, metrics);
ABSL_DECLARE_FLAG(std::string, ci_method);

namespace openset {

// Names of the flags that say how samples are read: --score, --fit and the roles of sets.
std::vector<std::string> SampleFlags();
// Of those that say how intervals are made: --ci_method, --replicates, --level, --seed, --threads.
std::vector<std::string> IntervalFlags();

struct ScoredSamples {
  SampleSet samples;  // with an unknown score
  std::string note;   // which score it is
  ScoreOrigin origin = ScoreOrigin::kOutputs;
};
// The samples of `files`, scored by --score; without that flag by the score in the files, else by max_softmax.
absl::StatusOr<ScoredSamples> ReadScoredSamples(const std::vector<std::string>& files);

// Errors: kInvalidArgument with the flag.
absl::StatusOr<BootstrapOptions> BootstrapOptionsFromFlags();

// --format. Errors: kInvalidArgument.
absl::StatusOr<TextFormat> FormatFromFlags();

// To --out, or to standard output.
absl::Status WriteOut(absl::string_view text);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_SCORE_FLAGS_H_
