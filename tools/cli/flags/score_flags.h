// Flags of the commands that read scores, and the objects that are made from them.
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

// The names of the flags for reading samples: --score, --fit and the roles of sets.
std::vector<std::string> SampleFlags();
// The names of the flags for intervals: --ci_method, --replicates, --level, --seed, --threads.
std::vector<std::string> IntervalFlags();

SampleOptions SampleOptionsFromFlags();
IntervalOptions IntervalOptionsFromFlags();

// Reads files, whose paths are relative to the user's folder.
SampleReader FileReader(const std::vector<std::string>& files);
// Reads the files of --fit. Empty without the flag.
SampleReader FitReader();
// Reads the samples of `files` and computes the score of the flags (tools/evaluation/scored_samples.h).
absl::StatusOr<ScoredSamples> ReadScoredSamples(const std::vector<std::string>& files);

// --format. Errors: kInvalidArgument.
absl::StatusOr<TextFormat> FormatFromFlags();

// Writes to the file of --out, or to standard output.
absl::Status WriteOut(absl::string_view text);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_SCORE_FLAGS_H_
