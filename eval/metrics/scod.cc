// Risk-coverage areas of selective classification with out-of-distribution detection (Xia and Bouganis 2022): over all
// samples, an accepted error of a known sample has the loss 1 - c (times its own loss, if there is one), an accepted
// unknown sample has the loss c, unknown_cost. scod_aurc is the mean over coverages of the mean loss of the accepted
// samples, scod_augrc the mean of their summed losses over all samples. In [0, max(c, 1 - c)], lower is better. They
// depend on the ratio of known to unknown samples.
#include <cstdint>

#include "eval/metrics/aurc.h"
#include "eval/metrics/metric_members.h"
#include "eval/metrics/metric_parts.h"
#include "eval/metrics/ranked_input.h"

namespace openset {
namespace {

double ScodLoss(const RankedInput& ranked, int64_t sample, double unknown_cost) {
  return ranked.input().IsUnknown(sample) ? unknown_cost : (1 - unknown_cost) * LossOf(ranked, sample);
}

Risk ScodBlock(const RankedInput& ranked, int64_t block, double unknown_cost) {
  const double known = RiskOfBlock(ranked, block, RiskSamples::KNOWN).errors;
  const Tally& tally = ranked.blocks()[block];
  return {tally.all(), (1 - unknown_cost) * known + unknown_cost * tally.unknown};
}

// Over k = 1 .. n in the order of the input, the mean loss (AURC) or the summed loss over n (AUGRC) of the first k, by
// trapezoids, over 1 - 1/n.
MetricResult ScodNormalised(const RankedInput& ranked, double unknown_cost, bool generalised) {
  const auto n = static_cast<double>(ranked.total().all());
  if (n < 2) return MetricResult::Absent("needs two samples");
  double sum = 0, losses = 0, first = 0, last = 0;
  int64_t k = 0;
  for (const uint32_t sample : ranked.ranking().order()) {
    for (uint32_t copy = 0; copy < ranked.weight(sample); ++copy) {
      ++k;
      losses += ScodLoss(ranked, sample, unknown_cost);
      last = losses / (generalised ? n : static_cast<double>(k));
      if (k == 1) first = last;
      sum += last;
    }
  }
  return (sum - (first + last) / 2) / (n - 1);
}

MetricResult Scod(const RankedInput& ranked, const ScodSpec& spec, bool generalised) {
  const double n = ranked.total().all();
  if (spec.form() == ScodSpec::TRAPEZOID_NORMALISED) return ScodNormalised(ranked, spec.unknown_cost(), generalised);
  SumOfRisks sum;
  double twice_area = 0, losses = 0;
  for (int64_t i = 0; i < ranked.ranking().num_blocks(); ++i) {
    const Risk block = ScodBlock(ranked, i, spec.unknown_cost());
    if (generalised) {
      twice_area += static_cast<double>(block.samples) * (2 * losses + block.errors);
      losses += block.errors;
    } else {
      sum.Add(block);
    }
  }
  return generalised ? twice_area / 2 / n / n : sum.value() / n;
}

}  // namespace

Metric Make(const ScodSpec& spec, MetricSpec::KindCase kind) {
  const bool generalised = kind == MetricSpec::kScodAugrc;
  MetricLabel label = {generalised ? "SCOD AUGRC" : "SCOD AURC", "unknown costs " + Number(spec.unknown_cost())};
  return {WithForm(std::move(label), spec.form(), ScodSpec::EXPECTED),
          [spec, generalised](const RankedInput& ranked) { return Scod(ranked, spec, generalised); }};
}

}  // namespace openset
