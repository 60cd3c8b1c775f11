#include "eval/metrics/detection/aupr.h"

#include <cstdint>

namespace openset {

MetricResult Aupr(const RankedInput& ranked, Positive positive, AuprForm form) {
  const Tally& total = ranked.total();
  if (total.known() == 0) return AbsentWithoutKnown();
  if (total.unknown == 0) return AbsentWithoutUnknown();
  const bool unknown_positive = positive == Positive::kUnknown;
  const double positives = unknown_positive ? total.unknown : total.known();
  const double negatives = unknown_positive ? total.known() : total.unknown;
  const double worth_of_negative = form == AuprForm::kBalancedStep ? positives / negatives : 1;

  double area = 0;
  double hits = 0;
  double alarms = 0;
  double last_precision = 1;
  bool first = true;
  const int64_t num_blocks = ranked.blocks().size();
  for (int64_t i = 0; i < num_blocks; ++i) {
    const Tally& block = ranked.blocks()[unknown_positive ? num_blocks - 1 - i : i];
    if (block.all() == 0) continue;
    const double rise = unknown_positive ? block.unknown : block.known();
    hits += rise;
    alarms += worth_of_negative * (unknown_positive ? block.known() : block.unknown);
    const double precision = hits / (hits + alarms);
    switch (form) {
      case AuprForm::kStep:
        area += rise * precision;
        break;
      case AuprForm::kTrapezoid:
        area += rise * (last_precision + precision) / 2;
        break;
      case AuprForm::kBalancedStep:
        area += rise * (first ? precision : last_precision);
        break;
    }
    last_precision = precision;
    first = false;
  }
  return area / positives;
}

MetricResult Aupr(const RankedInput& ranked, Positive positive, const AuprSpec& spec) {
  switch (spec.form()) {
    case AuprSpec::TRAPEZOID:
      return Aupr(ranked, positive, AuprForm::kTrapezoid);
    case AuprSpec::BALANCED_STEP:
      return Aupr(ranked, positive, AuprForm::kBalancedStep);
    case AuprSpec::FORM_UNSPECIFIED:
    case AuprSpec::STEP:
      break;
  }
  return Aupr(ranked, positive, AuprForm::kStep);
}

}  // namespace openset
