// Area under the risk-coverage curve: how well a score tells right from wrong predictions.
#ifndef OPENSET_EVAL_METRICS_SELECTIVE_AURC_H_
#define OPENSET_EVAL_METRICS_SELECTIVE_AURC_H_

#include <cstdint>
#include <vector>

#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"
#include "eval/metrics/selective/risk_metric.pb.h"

namespace openset {

// Over which samples, and what is an error.
enum class RiskOver {
  kKnown,  // known samples; wrong predictions
  kPool,   // all samples; wrong predictions and every unknown sample: "unknown detection"
};

// Samples and errors of a tie block, or of all.
struct Risk {
  int64_t samples = 0;
  int64_t errors = 0;
};
Risk RiskOf(const Tally& tally, RiskOver over);

enum class AurcForm {
  // (1/n) sum over k = 1 .. n of (errors among the k samples of the lowest unknown score) / k, its expectation over the
  // orders of equal scores.
  kExpected,
  // The same with equal scores in the order of the input, the correct ones first, or the wrong ones first.
  kInputOrder,
  kCorrectFirst,
  kErrorFirst,
  // Trapezoids between the distinct scores; the first risk also holds at coverage 0 (FD-Shifts).
  kTrapezoidDistinct,
  // Trapezoids from coverage 1/n to 1, divided by 1 - 1/n, equal scores in the order of the input (torch-uncertainty).
  // Absent for one sample.
  kTrapezoidNormalised,
};
AurcForm FormOf(AurcSpec::Form form);

// In [0, 1], lower is better; the error rate for constant scores (kExpected). Tables show it times 1000. Absent without
// known samples (kKnown).
MetricResult Aurc(const RankedInput& ranked, RiskOver over = RiskOver::kKnown, AurcForm form = AurcForm::kExpected);

enum class AurcOracle {
  kAsymptotic,  // r + (1 - r) ln(1 - r) for the error rate r
  kExact,       // of n samples, all correct ones first
};

// Aurc() less that of the best score for the same predictions. In [0, 1] with kExpected, lower is better; with other
// forms it may be a little below 0. Absent as Aurc().
MetricResult ExcessAurc(const RankedInput& ranked, RiskOver over = RiskOver::kKnown,
                        AurcOracle oracle = AurcOracle::kAsymptotic, AurcForm form = AurcForm::kExpected);

enum class AugrcForm {
  kTrapezoidDistinct,    // between distinct scores, from coverage 0
  kTrapezoidNormalised,  // as AurcForm's
};
AugrcForm FormOf(AugrcSpec::Form form);

// Area under the generalised risk-coverage curve (Traub et al. 2024): (errors among the accepted) / n over coverage, in
// trapezoids between distinct scores. In [0, 0.5], lower is better. Absent as Aurc().
MetricResult Augrc(const RankedInput& ranked, RiskOver over = RiskOver::kKnown,
                   AugrcForm form = AugrcForm::kTrapezoidDistinct);

// Augrc() less r^2 / 2, that of the best score at the error rate r. In [0, 0.5], lower is better. Absent as Aurc().
MetricResult ExcessAugrc(const RankedInput& ranked, RiskOver over = RiskOver::kKnown);

// P(the wrong one has the higher unknown score) + P(tie) / 2 for a wrong and a correct prediction of known samples. In
// [0, 1], higher is better. Absent without wrong or without correct predictions of known samples.
MetricResult AurocMisclassification(const RankedInput& ranked);

// The part of the pooled AURC (kPool, kExpected) that one source of errors brings; the parts of all sources add up to
// it.
struct AurcPart {
  int32_t group = kUnknownLabel;  // of unknown samples; kUnknownLabel: wrong predictions of known samples
  int64_t samples = 0;            // of the pool, from this source; for known samples all, right or wrong
  int64_t errors = 0;
  double aurc = 0;
};
// Known samples first, then each group (one, 0, without groups). Empty without predictions.
std::vector<AurcPart> PooledAurcParts(const RankedInput& ranked);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_SELECTIVE_AURC_H_
