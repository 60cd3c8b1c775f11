// Area under the risk-coverage curve: how well a score separates correct from wrong predictions.
#ifndef OPENSET_EVAL_METRICS_SELECTIVE_AURC_H_
#define OPENSET_EVAL_METRICS_SELECTIVE_AURC_H_

#include <cstdint>
#include <vector>

#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"
#include "eval/metrics/selective/risk_metric.pb.h"

namespace openset {

// Which samples are included, and which count as errors.
enum class RiskOver {
  kKnown,  // known samples; wrong predictions
  kPool,   // all samples; wrong predictions and every unknown sample: "unknown detection"
};

// The numbers of samples and errors in a tie block, or in all of them.
struct Risk {
  int64_t samples = 0;
  int64_t errors = 0;
};
Risk RiskOf(const Tally& tally, RiskOver over);

enum class AurcForm {
  // (1/n) sum over k = 1 .. n of (errors among the k samples with the lowest unknown scores) / k, in expectation over
  // the orders of equal scores.
  kExpected,
  // The same with equal scores in the order of the input, correct predictions first, or wrong predictions first.
  kInputOrder,
  kCorrectFirst,
  kErrorFirst,
  // Trapezoid rule between distinct scores; the risk at coverage 0 is that of the first score (FD-Shifts).
  kTrapezoidDistinct,
  // Trapezoid rule from coverage 1/n to 1, divided by 1 - 1/n, with equal scores in the order of the input
  // (torch-uncertainty). Absent for one sample.
  kTrapezoidNormalised,
};
AurcForm FormOf(AurcSpec::Form form);

// In [0, 1], lower is better; equals the error rate for constant scores (kExpected). Tables show it times 1000. Absent
// without known samples (kKnown).
MetricResult Aurc(const RankedInput& ranked, RiskOver over = RiskOver::kKnown, AurcForm form = AurcForm::kExpected);

enum class AurcOracle {
  kAsymptotic,  // r + (1 - r) ln(1 - r) for the error rate r
  kExact,       // of n samples, all correct ones first
};

// Aurc() minus the Aurc() of the best possible score for the same predictions. In [0, 1] with kExpected, lower is
// better; other variants may be slightly below 0. Absent if Aurc() is.
MetricResult ExcessAurc(const RankedInput& ranked, RiskOver over = RiskOver::kKnown,
                        AurcOracle oracle = AurcOracle::kAsymptotic, AurcForm form = AurcForm::kExpected);

enum class AugrcForm {
  kTrapezoidDistinct,    // between distinct scores, from coverage 0
  kTrapezoidNormalised,  // as AurcForm's
};
AugrcForm FormOf(AugrcSpec::Form form);

// Area under the generalised risk-coverage curve (Traub et al. 2024): (errors among the accepted samples) / n over
// coverage, by the trapezoid rule between distinct scores. In [0, 0.5], lower is better. Absent if Aurc() is.
MetricResult Augrc(const RankedInput& ranked, RiskOver over = RiskOver::kKnown,
                   AugrcForm form = AugrcForm::kTrapezoidDistinct);

// Augrc() minus r^2 / 2, the Augrc() of the best possible score at the error rate r. In [0, 0.5], lower is better.
// Absent if Aurc() is.
MetricResult ExcessAugrc(const RankedInput& ranked, RiskOver over = RiskOver::kKnown);

// P(the wrong prediction has the higher unknown score) + P(tie) / 2, for a wrong and a correct prediction of known
// samples. In [0, 1], higher is better. Absent without wrong or without correct predictions of known samples.
MetricResult AurocMisclassification(const RankedInput& ranked);

// The contribution of one source of errors to the pooled AURC (kPool, kExpected). The contributions of all sources add
// up to the pooled AURC.
struct AurcPart {
  int32_t group = kUnknownLabel;  // of unknown samples; kUnknownLabel: wrong predictions of known samples
  int64_t samples = 0;            // of the pool, from this source; for known samples all, right or wrong
  int64_t errors = 0;
  double aurc = 0;
};
// The contribution of the known samples, then of each group (without groups, of group 0). Empty without predictions.
std::vector<AurcPart> PooledAurcParts(const RankedInput& ranked);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_SELECTIVE_AURC_H_
