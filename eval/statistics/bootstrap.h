// Bootstrap confidence intervals (Efron and Tibshirani 1993). A replicate is a set of weights, so nothing is sorted
// again.
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
#include "eval/metrics/evaluate.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"
#include "eval/statistics/intervals.h"

namespace openset {

struct BootstrapOptions {
  int replicates = 10000;
  double confidence = 0.95;
  IntervalMethod method = IntervalMethod::kBca;
  uint64_t seed = 0;
  int threads = 1;  // does not affect results
};

// OK, or kInvalidArgument: fewer than 2 replicates, a confidence that is not in (0, 1), no threads.
absl::Status CheckOptions(const BootstrapOptions& options);

// A number with its interval; absent, with the reason, if the number or the interval is undefined. The interval is
// undefined if more than 1 % of the replicates are; otherwise, undefined replicates are ignored.
struct IntervalValue {
  std::optional<double> value;
  double low = 0;
  double high = 0;
  double standard_error = 0;  // the standard deviation of the replicates
  std::string absent_reason;
  std::string note;  // how the interval differs from the requested one, if it does
};

// The metrics of an input, in their order, each with its interval. If a metric is a share, and it and all replicates
// have the value 0 or all have 1, the interval is Clopper and Pearson's (intervals.h). Replicates are stratified:
// each has as many known samples, and as many of each group of unknown ones, as the input. A sample of weight w counts
// as w samples. If the input has clusters, whole ones are drawn, and no exact interval is used; if a cluster has
// samples of several strata, there is only one stratum. The same options give the same bits. Errors: kInvalidArgument
// for metrics that CheckMetrics() refuses, or options that CheckOptions() refuses.
absl::StatusOr<std::vector<IntervalValue>> BootstrapIntervals(absl::Span<const MetricSpec> metrics,
                                                              const RankedInput& ranked,
                                                              const BootstrapOptions& options);

// ---- For other statistics of samples.

// If the interval has no width, adds a note: all replicates agree, which says little about the uncertainty.
void NoteNoWidth(IntervalValue* interval);

// If the metric is a share (intervals.h) and its interval has no width and is at 0 or 1, replaces it with Clopper
// and Pearson's, with a note. For other metrics, NoteNoWidth(). The weights of `ranked` define the samples of the
// metric.
void WidenAtTheEdge(const MetricSpec& metric, const RankedInput& ranked, double confidence, IntervalValue* interval);

// The samples of each cluster, in the order of the clusters' numbers; a sample of weight w is listed w times, and
// clusters without samples are left out. Empty if the input has no clusters.
std::vector<std::vector<uint32_t>> ClustersOf(const RankedInput& ranked);

// The units of each stratum: samples, a sample of weight w listed w times, or indices of ClustersOf().
using Strata = std::vector<std::vector<uint32_t>>;
// Known samples, then each group of unknown ones; strata without units are left out.
Strata StrataOf(const RankedInput& ranked);

// Draws from each stratum, with replacement, as many units as it has. Adds to `weight` how often each was drawn.
void DrawReplicate(const Strata& strata, RandomStream* random, std::vector<uint32_t>* weight);

// Statistics of weighted samples; called by one thread.
using Statistics = std::function<std::vector<MetricResult>(absl::Span<const uint32_t> weight)>;

// The units without one part of one stratum.
struct LeaveOut {
  int stratum = 0;
  int part = 0;
  int parts = 0;
};

struct Replicates {
  std::vector<MetricResult> estimate;                      // of the original samples
  std::vector<std::vector<std::optional<double>>> values;  // [statistic][replicate]
  // For kBca: the jackknife samples, and the statistics of each.
  std::vector<LeaveOut> jackknife;
  std::vector<std::vector<std::optional<double>>> left;  // [statistic][jackknife]
};
// Of the samples of `ranked`. `make_statistics` is called once per thread. Precondition: CheckOptions.
Replicates Bootstrap(const std::function<Statistics()>& make_statistics, const RankedInput& ranked,
                     const BootstrapOptions& options);

// sum_s sum_i U_si^3 / m_s^3 / (6 (sum_s sum_i U_si^2 / m_s^2)^(3/2)) with U_si = (m_s - 1) (mean_s - value_si) over
// the m_s parts of stratum s: the several-sample form of Efron and Tibshirani, Eq. 14.15, as scipy.stats.bootstrap has
// it. 0 if it is undefined.
double Acceleration(absl::Span<const LeaveOut> jackknife, absl::Span<const std::optional<double>> left);

// An interval at another confidence, for several comparisons at once (intervals.h).
struct AdjustedInterval {
  double confidence = 0;  // set by the caller
  double low = 0;
  double high = 0;
};

// The interval of a statistic, or of a function of several, from its values for the samples, the replicates and the
// jackknife (empty for kPercentile). Unless null, sets `p_value` to the p-value of no difference from 0
// (intervals.h), and `adjusted` to the interval at its confidence.
IntervalValue IntervalOf(const MetricResult& estimate, absl::Span<const std::optional<double>> values,
                         absl::Span<const LeaveOut> jackknife, absl::Span<const std::optional<double>> left,
                         const BootstrapOptions& options, double* p_value = nullptr,
                         AdjustedInterval* adjusted = nullptr);

// ---- Intervals for several groups of unknown samples, and for the means over the near and the far groups.

struct GroupInterval {
  std::string name;                    // a group's name, or "near", "far" or "pool"
  std::vector<IntervalValue> metrics;  // in their order
};

// The columns of EvaluateGroups (groups, means, pool), each metric with its interval. A replicate draws the known
// samples once for all groups, so that a mean's interval accounts for its groups sharing them. For the value 0 or 1,
// groups and the pool get the same intervals as from BootstrapIntervals(); a mean's interval is a point if all
// replicates agree. Errors: kInvalidArgument for metrics that CheckMetrics() or options that CheckOptions() refuses,
// for an input without groups, or if `groups` has fewer groups than the input.
absl::StatusOr<std::vector<GroupInterval>> GroupIntervals(absl::Span<const MetricSpec> metrics,
                                                          const RankedInput& ranked, absl::Span<const Group> groups,
                                                          const BootstrapOptions& options);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_BOOTSTRAP_H_
