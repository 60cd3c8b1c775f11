#include "eval/metrics/evaluate.h"

#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/in_parallel.h"
#include "core/proto/proto_rules.h"
#include "core/status_macros.h"
#include "eval/metrics/metric.h"

namespace openset {
namespace {

// The least number of samples for several threads; one metric then takes a millisecond.
constexpr int64_t kWorthThreads = 200000;

std::string ContradictionOf(const FprAtTprSpec& spec) {
  if (spec.has_grid_low() != spec.has_grid_high()) return "has only one of grid_low and grid_high; set both or neither";
  if (spec.has_grid_low() && spec.grid_low() >= spec.grid_high()) {
    return absl::StrCat("grid_low must be below grid_high (", spec.grid_low(), " and ", spec.grid_high(), ")");
  }
  return "";
}

}  // namespace

std::string ContradictionOf(const MetricSpec& metric) {
  if (metric.has_fpr_at_95tpr()) return ContradictionOf(metric.fpr_at_95tpr());
  if (metric.has_fpr_at_95tpr_unknown_positive()) return ContradictionOf(metric.fpr_at_95tpr_unknown_positive());
  return "";
}

absl::Status CheckMetrics(absl::Span<const MetricSpec> metrics) {
  std::set<std::string> names;
  for (int i = 0; i < metrics.size(); ++i) {
    for (const FieldProblem& problem : FindProblems(metrics[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat("metric[", i, "]", problem.path.empty() ? "" : ".", problem.path, " ", problem.message));
    }
    const std::string name = MetricName(metrics[i]);
    if (const std::string problem = ContradictionOf(metrics[i]); !problem.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("metric[", i, "]: ", name, " ", problem));
    }
    if (!names.insert(name).second) {
      return absl::InvalidArgumentError(absl::StrCat("metric[", i, "]: there is another metric named '", name,
                                                     "'; where they differ in their settings, give one a name"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<MetricValue>> Evaluate(absl::Span<const MetricSpec> metrics, const RankedInput& ranked) {
  OPENSET_RETURN_IF_ERROR(CheckMetrics(metrics));
  std::vector<MetricValue> values(metrics.size());
  const auto compute = [&](int64_t m) {
    MetricResult result = ComputeMetric(metrics[m], ranked);
    values[m] = {MetricName(metrics[m]), result.value, std::move(result.absent_reason)};
  };
  if (ranked.input().num_samples() >= kWorthThreads) {
    InParallel(static_cast<int64_t>(metrics.size()), compute);
  } else {
    for (size_t m = 0; m < metrics.size(); ++m) compute(static_cast<int64_t>(m));
  }
  return values;
}

absl::StatusOr<std::vector<MetricValue>> Evaluate(absl::Span<const MetricSpec> metrics, const EvaluationInput& input) {
  OPENSET_RETURN_IF_ERROR(CheckMetrics(metrics));
  return Evaluate(metrics, RankedInput(input));
}

namespace {

std::optional<GroupValues> MeanOver(absl::Span<const GroupValues> groups, absl::Span<const Group> infos,
                                    Distance distance, absl::string_view name) {
  GroupValues mean;
  int count = 0;
  for (int g = 0; g < groups.size(); ++g) {
    if (infos[g].distance != distance) continue;
    mean.unknown_samples += groups[g].unknown_samples;
    if (count++ == 0) {
      mean.values = groups[g].values;
      continue;
    }
    for (int m = 0; m < mean.values.size(); ++m) {
      MetricValue& sum = mean.values[m];
      const MetricValue& value = groups[g].values[m];
      if (!sum.value.has_value()) continue;
      if (value.value.has_value()) {
        *sum.value += *value.value;
      } else {
        sum = value;
      }
    }
  }
  if (count == 0) return std::nullopt;
  mean.name = std::string(name);
  for (MetricValue& value : mean.values) {
    if (value.value.has_value()) *value.value /= count;
  }
  return mean;
}

}  // namespace

std::vector<uint32_t> WeightsOfGroup(const RankedInput& ranked, int32_t group) {
  const EvaluationInput& input = ranked.input();
  std::vector<uint32_t> weight(input.num_samples());
  for (int64_t i = 0; i < input.num_samples(); ++i) {
    weight[i] = !input.IsUnknown(i) || input.group()[i] == group ? ranked.weight(i) : 0;
  }
  return weight;
}

absl::StatusOr<GroupedValues> EvaluateGroups(absl::Span<const MetricSpec> metrics, const RankedInput& ranked,
                                             absl::Span<const Group> groups) {
  const EvaluationInput& input = ranked.input();
  if (input.group().empty()) return absl::InvalidArgumentError("the samples have no groups");
  if (groups.size() < input.num_groups()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the samples have group ", input.num_groups() - 1, "; only ", groups.size(), " groups are named"));
  }
  GroupedValues result;
  RankedInput part = ranked;
  for (int32_t g = 0; g < groups.size(); ++g) {
    part.Reweight(WeightsOfGroup(ranked, g));
    GroupValues values;
    values.name = groups[g].name;
    values.known_samples = part.total().known();
    values.unknown_samples = part.total().unknown;
    OPENSET_ASSIGN_OR_RETURN(values.values, Evaluate(metrics, part));
    result.groups.push_back(std::move(values));
  }
  for (const auto& [distance, name] : {std::pair(Distance::kNear, "near"), std::pair(Distance::kFar, "far")}) {
    if (auto mean = MeanOver(result.groups, groups, distance, name)) result.means.push_back(*std::move(mean));
  }
  result.pool.name = "pool";
  result.pool.unknown_samples = ranked.total().unknown;
  OPENSET_ASSIGN_OR_RETURN(result.pool.values, Evaluate(metrics, ranked));
  return result;
}

absl::StatusOr<std::vector<GroupValues>> EvaluateKnownSets(absl::Span<const MetricSpec> metrics,
                                                           const RankedInput& ranked,
                                                           absl::Span<const int32_t> known_set,
                                                           absl::Span<const std::string> names) {
  const EvaluationInput& input = ranked.input();
  if (known_set.size() != input.num_samples()) {
    return absl::InvalidArgumentError(
        absl::StrCat("known_set has ", known_set.size(), " samples, label has ", input.num_samples()));
  }
  for (size_t i = 0; i < known_set.size(); ++i) {
    if (known_set[i] < static_cast<int64_t>(names.size())) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("known_set is ", known_set[i], " in row ", i, "; only ", names.size(), " sets are named"));
  }
  std::vector<GroupValues> sets;
  RankedInput part = ranked;
  std::vector<uint32_t> weight(input.num_samples());
  for (int32_t set = 0; set < names.size(); ++set) {
    for (int64_t i = 0; i < input.num_samples(); ++i) {
      weight[i] = input.IsUnknown(i) || known_set[i] == set ? ranked.weight(i) : 0;
    }
    part.Reweight(weight);
    GroupValues values;
    values.name = names[set];
    values.known_samples = part.total().known();
    values.unknown_samples = part.total().unknown;
    OPENSET_ASSIGN_OR_RETURN(values.values, Evaluate(metrics, part));
    sets.push_back(std::move(values));
  }
  return sets;
}

}  // namespace openset
