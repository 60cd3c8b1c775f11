// Metrics and scores as flags and requests write them.
#ifndef OPENSET_TOOLS_EVALUATION_PARSE_SPECS_H_
#define OPENSET_TOOLS_EVALUATION_PARSE_SPECS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "eval/metrics/metric.pb.h"
#include "eval/scores/score.pb.h"

namespace openset {

// "auroc, partial_openauc { max_ofpr: 0.1 }, early=partial_openauc { max_ofpr: 0.05 }": members of MetricSpec,
// separated by commas, each with its fields where they are not the defaults and a name where two are of one kind. What
// people call them leads to ours (core/text/synonyms.h): "AUC, fpr95". Metrics at a level are named by it, and may be
// given by that name: "ccr_at_0.01fpr" (eval/metrics/level_name.h). Empty: all metrics. Errors, kInvalidArgument with
// `flag`: unknown names (with the known ones), fields that can't be, two metrics of one name.
absl::StatusOr<std::vector<MetricSpec>> ParseMetrics(absl::string_view flag, absl::string_view text);

// The metric that people mean by a name ("fpr95"), by ours; the name itself where none is meant.
std::string MeantMetric(absl::string_view name);

// "energy" or "energy { temperature: 2 }". Errors: the same.
absl::StatusOr<ScoreSpec> ParseScore(absl::string_view flag, absl::string_view text);

}  // namespace openset

#endif  // OPENSET_TOOLS_EVALUATION_PARSE_SPECS_H_
