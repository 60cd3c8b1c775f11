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

namespace openset {

enum class IntervalMethod {
  // Quantiles of the replicates.
  kPercentile,
  // Bias-corrected and accelerated (Efron 1987). The acceleration is from a jackknife that leaves out one sample, or
  // one of 200 parts of a larger stratum.
  kBca,
};

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
};

// Metrics of an input, in their order, each with its interval. Stratified: as many known samples, and as many of each
// group of unknown ones, as there are; a sample of weight w is w samples. The same options give the same bits.
// Errors: those of CheckMetrics and CheckOptions.
absl::StatusOr<std::vector<IntervalValue>> BootstrapIntervals(absl::Span<const MetricSpec> metrics,
                                                              const RankedInput& ranked,
                                                              const BootstrapOptions& options);

// ---- For other statistics of samples.

// The samples of each stratum, one of weight w listed w times.
using Strata = std::vector<std::vector<uint32_t>>;
// Known samples, then each group of unknown ones; strata without samples are left out.
Strata StrataOf(const RankedInput& ranked);

// How often each sample is drawn when as many samples as a stratum has are drawn from it with replacement, added to
// `weight` [N].
void DrawReplicate(const Strata& strata, RandomStream* random, std::vector<uint32_t>* weight);

// Statistics of weighted samples; called by one thread.
using Statistics = std::function<std::vector<MetricResult>(absl::Span<const uint32_t> weight)>;

struct Replicates {
  std::vector<MetricResult> estimate;                      // of the samples as they are
  std::vector<std::vector<std::optional<double>>> values;  // [statistic][replicate]
  std::vector<double> acceleration;                        // one a statistic; for kBca
};
// `make_statistics` is called once a thread. Precondition: CheckOptions.
Replicates Bootstrap(const std::function<Statistics()>& make_statistics, const Strata& strata, int64_t num_samples,
                     const BootstrapOptions& options);

// The interval of each statistic.
std::vector<IntervalValue> IntervalsOf(const Replicates& replicates, const BootstrapOptions& options);

// The q-quantile of ascending values, linear between them (numpy's default). Preconditions: not empty, 0 <= q <= 1.
double SortedQuantile(absl::Span<const double> sorted, double q);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_BOOTSTRAP_H_
