#include "eval/statistics/exact_interval.h"

#include "eval/metrics/metric_table.h"
#include "eval/statistics/distributions.h"

namespace openset {

ExactInterval ClopperPearson(int64_t successes, int64_t trials, double confidence) {
  const double tail = (1 - confidence) / 2;
  const double k = static_cast<double>(successes);
  const double n = static_cast<double>(trials);
  ExactInterval interval;
  if (successes > 0) interval.low = BetaQuantile(tail, k, n - k + 1);
  if (successes < trials) interval.high = BetaQuantile(1 - tail, k + 1, n - k);
  return interval;
}

double ClopperPearsonUpper(int64_t successes, int64_t trials, double delta) {
  if (successes == trials) return 1;
  return BetaQuantile(1 - delta, static_cast<double>(successes) + 1, static_cast<double>(trials - successes));
}

std::optional<ExactInterval> IntervalAtTheEdge(const MetricSpec& metric, const RankedInput& ranked, double value,
                                               double confidence) {
  const std::optional<int64_t> trials = RowOf(metric.kind_case()).traits.trials(metric, ranked);
  if (!trials.has_value() || *trials == 0 || (value != 0 && value != 1)) return std::nullopt;
  return ClopperPearson(value == 1 ? *trials : 0, *trials, confidence);
}

}  // namespace openset
