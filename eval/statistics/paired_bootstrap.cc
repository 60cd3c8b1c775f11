#include "eval/statistics/paired_bootstrap.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/metrics/evaluate.h"
#include "eval/metrics/metric_table.h"
#include "eval/statistics/several_methods.h"

namespace openset {
namespace {

using Values = std::vector<std::optional<double>>;

Values Differences(const Values& a, const Values& b) {
  Values differences(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].has_value() && b[i].has_value()) differences[i] = *a[i] - *b[i];
  }
  return differences;
}

MetricResult Difference(const MetricResult& a, const MetricResult& b) {
  if (!a.value.has_value()) return a;
  if (!b.value.has_value()) return b;
  return *a.value - *b.value;
}

absl::Status CheckSamples(absl::Span<const RankedInput* const> methods) {
  if (methods.size() < 2) return absl::InvalidArgumentError("two methods are needed");
  for (size_t m = 1; m < methods.size(); ++m) {
    const EvaluationInput& a = methods[0]->input();
    const EvaluationInput& b = methods[m]->input();
    if (a.num_samples() != b.num_samples()) {
      return absl::InvalidArgumentError(absl::StrCat("the methods must have the same samples: method ", m, " has ",
                                                     b.num_samples(), ", and method 0 has ", a.num_samples()));
    }
    const char* const differ = a.label() != b.label() ? "labels" : a.group() != b.group() ? "groups" : nullptr;
    if (differ == nullptr) continue;
    return absl::InvalidArgumentError(absl::StrCat("the methods must have the same samples: the ", differ,
                                                   " of method ", m, " differ from those of method 0"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<MethodPair>> PairedBootstrap(absl::Span<const MetricSpec> metrics,
                                                        absl::Span<const RankedInput* const> methods,
                                                        const BootstrapOptions& options) {
  OPENSET_RETURN_IF_ERROR(CheckMetrics(metrics));
  OPENSET_RETURN_IF_ERROR(CheckOptions(options));
  OPENSET_RETURN_IF_ERROR(CheckSamples(methods));
  const auto make_statistics = [&]() -> Statistics {
    std::vector<RankedInput> weighted;
    for (const RankedInput* method : methods) weighted.push_back(*method);
    return [metrics, weighted = std::move(weighted)](absl::Span<const uint32_t> weight) mutable {
      std::vector<MetricResult> values;
      for (RankedInput& method : weighted) {
        method.Reweight(weight);
        for (const MetricSpec& metric : metrics) values.push_back(ComputeMetric(metric, method));
      }
      return values;
    };
  };
  const Replicates replicates =
      Bootstrap(make_statistics, StrataOf(*methods[0]), methods[0]->input().num_samples(), options);
  const bool bca = options.method == IntervalMethod::kBca;
  // Makes the interval of a metric of a pair, with its p-value, and the adjusted one.
  const auto set = [&](const MethodPair& pair, size_t m, PairedDifference* result) {
    const size_t of_a = pair.a * metrics.size() + m;
    const size_t of_b = pair.b * metrics.size() + m;
    result->value_a = replicates.estimate[of_a].value;
    result->value_b = replicates.estimate[of_b].value;
    const Values left = bca ? Differences(replicates.left[of_a], replicates.left[of_b]) : Values();
    result->difference = IntervalOf(Difference(replicates.estimate[of_a], replicates.estimate[of_b]),
                                    Differences(replicates.values[of_a], replicates.values[of_b]), replicates.jackknife,
                                    left, options, &result->p_value, &result->adjusted);
  };
  std::vector<MethodPair> pairs;
  for (size_t a = 0; a < methods.size(); ++a) {
    for (size_t b = a + 1; b < methods.size(); ++b) {
      MethodPair pair{static_cast<int>(a), static_cast<int>(b), std::vector<PairedDifference>(metrics.size())};
      for (size_t m = 0; m < metrics.size(); ++m) {
        PairedDifference& result = pair.metrics[m];
        result.adjusted.confidence = options.confidence;
        set(pair, m, &result);
        if (result.difference.value.has_value()) {
          result.verdict = VerdictOf(result.difference.low, result.difference.high);
        }
      }
      pairs.push_back(std::move(pair));
    }
  }
  if (pairs.size() == 1) return pairs;
  for (size_t m = 0; m < metrics.size(); ++m) {
    std::vector<MethodPair*> tested;
    std::vector<double> p_values;
    for (MethodPair& pair : pairs) {
      if (!pair.metrics[m].difference.value.has_value()) continue;
      tested.push_back(&pair);
      p_values.push_back(pair.metrics[m].p_value);
    }
    const std::vector<double> levels = HolmLevels(p_values, 1 - options.confidence);
    for (size_t i = 0; i < tested.size(); ++i) {
      PairedDifference* result = &tested[i]->metrics[m];
      result->adjusted.confidence = 1 - levels[i];
      set(*tested[i], m, result);
    }
  }
  return pairs;
}

}  // namespace openset
