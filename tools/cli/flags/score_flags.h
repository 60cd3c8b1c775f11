// Flags of the commands that read scores, and what they make.
#ifndef OPENSET_TOOLS_CLI_FLAGS_SCORE_FLAGS_H_
#define OPENSET_TOOLS_CLI_FLAGS_SCORE_FLAGS_H_

#include <string>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "eval/report/document.h"
#include "tools/evaluation/request.pb.h"
#include "tools/evaluation/scored_samples.h"

ABSL_DECLARE_FLAG(std::string, format);
ABSL_DECLARE_FLAG(std::string, out);
ABSL_DECLARE_FLAG(std::string, metrics);

namespace openset {

// Names of the flags that say how samples are read: --score, --fit and the roles of sets.
std::vector<std::string> SampleFlags();
// Of those that say how intervals are made: --ci_method, --replicates, --level, --seed, --threads.
std::vector<std::string> IntervalFlags();

SampleOptions SampleOptionsFromFlags();
IntervalOptions IntervalOptionsFromFlags();

// Of files as the user names them.
SampleReader FileReader(const std::vector<std::string>& files);
// Of --fit; empty without it.
SampleReader FitReader();
// The samples of `files`, scored as the flags say (tools/evaluation/scored_samples.h).
absl::StatusOr<ScoredSamples> ReadScoredSamples(const std::vector<std::string>& files);

// --format. Errors: kInvalidArgument.
absl::StatusOr<TextFormat> FormatFromFlags();

// To --out, or to standard output.
absl::Status WriteOut(absl::string_view text);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_SCORE_FLAGS_H_
