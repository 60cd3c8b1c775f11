// Parses metrics and scores in the syntax of flags and requests.
#ifndef OPENSET_TOOLS_EVALUATION_PARSE_SPECS_H_
#define OPENSET_TOOLS_EVALUATION_PARSE_SPECS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "eval/metrics/metric.pb.h"
#include "eval/scores/score.pb.h"

namespace openset {

// Parses members of MetricSpec, separated by commas: "auroc, partial_openauc { max_ofpr: 0.1 }, early=partial_openauc {
// max_ofpr: 0.05 }". Fields that differ from their defaults are in braces; "NAME=" distinguishes metrics of the same
// kind. Synonyms are accepted ("AUC, fpr95"; core/text/synonyms.h), and so are names of metrics at a level
// ("ccr_at_0.01fpr"; eval/metrics/names/level_name.h). An empty text means all metrics. Errors: kInvalidArgument with
// `flag` for an unknown name (with the known ones), an invalid field, or two metrics with the same name.
absl::StatusOr<std::vector<MetricSpec>> ParseMetrics(absl::string_view flag, absl::string_view text);

// Returns our name of the metric that a synonym ("fpr95") stands for; returns other names unchanged.
std::string MeantMetric(absl::string_view name);

// Parses "energy" or "energy { temperature: 2 }". Errors: the same.
absl::StatusOr<ScoreSpec> ParseScore(absl::string_view flag, absl::string_view text);

}  // namespace openset

#endif  // OPENSET_TOOLS_EVALUATION_PARSE_SPECS_H_
