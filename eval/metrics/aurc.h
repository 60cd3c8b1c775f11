// Area under the risk-coverage curve: how well a score separates correct from wrong predictions.
#ifndef OPENSET_EVAL_METRICS_AURC_H_
#define OPENSET_EVAL_METRICS_AURC_H_

#include <cstdint>
#include <vector>

#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// The samples in a tie block, or in all of them, and the sum of their losses: 1 for an error, EvaluationInput::loss()
// if there is one, and 1 for an unknown sample (POOL).
struct Risk {
  int64_t samples = 0;
  double errors = 0;
};
Risk RiskOfBlock(const RankedInput& ranked, int64_t block, RiskSamples::Value over);
Risk RiskOfAll(const RankedInput& ranked, RiskSamples::Value over);
// Of one sample, if it counts.
double LossOf(const RankedInput& ranked, int64_t sample);

// In [0, 1], lower is better; equals the error rate for constant scores (EXPECTED). Tables show it times 1000. Absent
// without known samples (KNOWN). Forms:
//
//   EXPECTED              (1/n) sum over k = 1 .. n of (errors among the k samples of the lowest scores) / k, in
//                         expectation over the orders of equal scores
//   INPUT_ORDER           the same with equal scores in the order of the input,
//   CORRECT_FIRST         smaller losses first,
//   ERROR_FIRST           or larger losses first
//   TRAPEZOID_DISTINCT    trapezoid rule between distinct scores; the risk at coverage 0 is the first score's
//                         (FD-Shifts)
//   TRAPEZOID_NORMALISED  trapezoid rule from coverage 1/n to 1, divided by 1 - 1/n, with equal scores in the order of
//                         the input (torch-uncertainty); absent for one sample
MetricResult Aurc(const RankedInput& ranked, RiskSamples::Value over, AurcSpec::Form form = AurcSpec::EXPECTED);

// The sum over k = after + 1 .. n of (errors among the first k) / k, in expectation over the orders within the blocks,
// which are added in their order.
class SumOfRisks {
 public:
  explicit SumOfRisks(int64_t after = 0) : after_(after) {}

  void Add(const Risk& block);
  double value() const { return value_; }

 private:
  const int64_t after_;
  Risk before_;
  double value_ = 0;
};

// The samples of each loss, ascending: the blocks of the best possible score.
std::vector<Risk> BestBlocks(const RankedInput& ranked, RiskSamples::Value over);

// The contribution of one source of errors to the pooled AURC (POOL, EXPECTED). The contributions of all sources add
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

#endif  // OPENSET_EVAL_METRICS_AURC_H_
