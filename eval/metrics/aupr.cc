// Area under the precision-recall curve. If unknown samples are positive, those with a score at or above a threshold
// are predicted positive; if known samples are, those at or below it. Forms:
//
//   STEP           the sum over the distinct scores, starting with the most positive one, of (increase of recall) *
//                  (precision including the samples with this score)
//   TRAPEZOID      the area under straight lines between the points (recall, precision), starting at (0, 1)
//   BALANCED_STEP  like STEP, but with the precision before the samples with this score (the first term uses its own
//                  precision), and with rates instead of counts in the precision: both sides have the same weight
//
// In [0, 1], higher is better. For constant scores, STEP gives the share of positive samples. Depends on the
// known : unknown ratio, except BALANCED_STEP. Absent without known or without unknown samples.
#include <cstdint>

#include "eval/metrics/metric_members.h"
#include "eval/metrics/metric_parts.h"
#include "eval/metrics/ranked_input.h"

namespace openset {
namespace {

MetricResult Aupr(const RankedInput& ranked, bool unknown_positive, AuprSpec::Form form) {
  const Tally& total = ranked.total();
  if (total.known() == 0) return AbsentWithoutKnown();
  if (total.unknown == 0) return AbsentWithoutUnknown();
  const double positives = unknown_positive ? total.unknown : total.known();
  const double negatives = unknown_positive ? total.known() : total.unknown;
  const double worth_of_negative = form == AuprSpec::BALANCED_STEP ? positives / negatives : 1;

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
      case AuprSpec::FORM_UNSPECIFIED:
      case AuprSpec::STEP:
        area += rise * precision;
        break;
      case AuprSpec::TRAPEZOID:
        area += rise * (last_precision + precision) / 2;
        break;
      case AuprSpec::BALANCED_STEP:
        area += rise * (first ? precision : last_precision);
        break;
    }
    last_precision = precision;
    first = false;
  }
  return area / positives;
}

}  // namespace

Metric Make(const AuprSpec& spec, MetricSpec::KindCase kind) {
  const bool unknown_positive = kind == MetricSpec::kAuprUnknown;
  return {WithForm({"AUPR", PositiveText(unknown_positive)}, spec.form(), AuprSpec::STEP),
          [unknown_positive, form = spec.form()](const RankedInput& ranked) {
            return Aupr(ranked, unknown_positive, form);
          }};
}

}  // namespace openset
