// Points of the risk-coverage curve.
#ifndef OPENSET_EVAL_METRICS_SELECTIVE_RISK_COVERAGE_H_
#define OPENSET_EVAL_METRICS_SELECTIVE_RISK_COVERAGE_H_

#include <cstdint>

#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"
#include "eval/metrics/selective/aurc.h"

namespace openset {

// k = ceil(coverage * samples), at least 1; 0 if there are no samples. Rounding errors of the product don't count: k is
// 55 for 0.55 of 100. Preconditions: samples >= 0, 0 < coverage <= 1.
int64_t SamplesAtCoverage(double coverage, int64_t samples);

// (errors among the k = SamplesAtCoverage(coverage, n) samples with the lowest unknown scores) / k, in expectation over
// the orders of equal scores. In [0, 1], lower is better. Absent without known samples (kKnown). Precondition: 0 <
// coverage <= 1.
MetricResult RiskAtCoverage(const RankedInput& ranked, RiskOver over, double coverage);

// Share of samples that are accepted at the largest threshold at which the risk of the accepted samples is at most
// `risk`; 0 if there is none. In [0, 1], higher is better. Absent without known samples (kKnown). Precondition:
// 0 <= risk <= 1.
MetricResult CoverageAtRisk(const RankedInput& ranked, RiskOver over, double risk);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_SELECTIVE_RISK_COVERAGE_H_
