// Bootstrap confidence intervals (Efron and Tibshirani 1993) that never sort again: a replicate is a set of weights.
#ifndef OPENSET_EVAL_STATISTICS_BOOTSTRAP_H_
#define OPENSET_EVAL_STATISTICS_BOOTSTRAP_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/random.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"
#include "eval/statistics/replicate_interval.h"

namespace openset {

struct BootstrapOptions {
  int replicates = 10000;
  double confidence = 0.95;
  IntervalMethod method = IntervalMethod::kBca;
  uint64_t seed = 0;
  int threads = 1;  // changes no number
};

// OK, or kInvalidArgument: fewer than 2 replicates, a confidence that is not in (0, 1), no threads.
absl::Status CheckOptions(const BootstrapOptions& options);

// A number with its interval; absent with the reason where it or the interval is undefined. The interval is undefined
// where more than 1 % of the replicates are; those that are do not count.
struct IntervalValue {
  std::optional<double> value;
  double low = 0;
  double high = 0;
  std::string absent_reason;
  std::string note;  // what the interval is instead of what was asked for, if anything
};

// Metrics of an input, in their order, each with its interval; that of Clopper and Pearson (exact_interval.h) where the
// metric is a share, has the value 0 or 1, and so have all replicates. Stratified: as many known samples, and as many
// of each group of unknown ones, as there are; a sample of weight w is w samples. The same options give the same bits.
// Errors: those of CheckMetrics and CheckOptions.
absl::StatusOr<std::vector<IntervalValue>> BootstrapIntervals(absl::Span<const MetricSpec> metrics,
                                                              const RankedInput& ranked,
                                                              const BootstrapOptions& options);

// ---- For other statistics of samples.

// Puts Clopper and Pearson's interval, with a note, in the place of one without width at 0 or 1 of a metric that is a
// share (exact_interval.h). `ranked` holds, by its weights, the samples that the metric is of.
void WidenAtTheEdge(const MetricSpec& metric, const RankedInput& ranked, double confidence, IntervalValue* interval);

// The samples of each stratum, one of weight w listed w times.
using Strata = std::vector<std::vector<uint32_t>>;
// Known samples, then each group of unknown ones; strata without samples are left out.
Strata StrataOf(const RankedInput& ranked);

// How often each sample is drawn when as many samples as a stratum has are drawn from it with replacement, added to
// `weight` [N].
void DrawReplicate(const Strata& strata, RandomStream* random, std::vector<uint32_t>* weight);

// Statistics of weighted samples; called by one thread.
using Statistics = std::function<std::vector<MetricResult>(absl::Span<const uint32_t> weight)>;

// One stratum without one of its parts.
struct LeaveOut {
  int stratum = 0;
  int part = 0;
  int parts = 0;
};

struct Replicates {
  std::vector<MetricResult> estimate;                      // of the samples as they are
  std::vector<std::vector<std::optional<double>>> values;  // [statistic][replicate]
  // For kBca: the jackknife, and each statistic of it.
  std::vector<LeaveOut> jackknife;
  std::vector<std::vector<std::optional<double>>> left;  // [statistic][jackknife]
};
// `make_statistics` is called once a thread. Precondition: CheckOptions.
Replicates Bootstrap(const std::function<Statistics()>& make_statistics, const Strata& strata, int64_t num_samples,
                     const BootstrapOptions& options);

// sum_s sum_i U_si^3 / m_s^3 / (6 (sum_s sum_i U_si^2 / m_s^2)^(3/2)) with U_si = (m_s - 1) (mean_s - value_si) over
// the m_s parts of stratum s: the several-sample form of Efron and Tibshirani, Eq. 14.15, as scipy.stats.bootstrap has
// it. 0 if it is undefined.
double Acceleration(absl::Span<const LeaveOut> jackknife, absl::Span<const std::optional<double>> left);

// The interval of another confidence, that of several comparisons at once (replicate_interval.h).
struct AdjustedInterval {
  double confidence = 0;  // given
  double low = 0;
  double high = 0;
};

// Of one statistic, or of a function of several, from its values of the samples, of the replicates and of the jackknife
// (empty for kPercentile). `p_value`, if not null, gets that of no difference from 0 (replicate_interval.h), and
// `adjusted` its interval.
IntervalValue IntervalOf(const MetricResult& estimate, absl::Span<const std::optional<double>> values,
                         absl::Span<const LeaveOut> jackknife, absl::Span<const std::optional<double>> left,
                         const BootstrapOptions& options, double* p_value = nullptr,
                         AdjustedInterval* adjusted = nullptr);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_BOOTSTRAP_H_
