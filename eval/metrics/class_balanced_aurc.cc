// Areas under risk-coverage curves in which each class has the same weight (the balanced-accuracy variants of
// FD-Shifts). Over the known samples; K classes have samples. Trapezoid rule over coverage, between distinct scores.
// Absent without known samples.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "eval/metrics/metric_members.h"
#include "eval/metrics/ranked_input.h"

namespace openset {
namespace {

struct ClassRisk {
  int64_t samples = 0;
  int64_t accepted = 0;
  int64_t errors = 0;
  double risk = 0;  // for these counts
};

// Twice the area under the sum of the classes' `risk` over the samples. Calls `risk(class)` for each class of which a
// sample was accepted; `held`: whether the first risk also applies at coverage 0.
template <typename RiskOfClass>
MetricResult Area(const RankedInput& ranked, bool held, RiskOfClass risk) {
  if (ranked.total().known() == 0) return AbsentWithoutKnown();
  const std::vector<int64_t> samples_of = SamplesOfClasses(ranked);
  // Unknown samples count in a class of their own before the others, whose risk stays 0. This avoids a branch that the
  // processor can't predict.
  std::vector<ClassRisk> classes(1 + samples_of.size());
  classes[0].samples = classes[0].accepted = 1;
  for (size_t c = 0; c < samples_of.size(); ++c) classes[1 + c].samples = samples_of[c];
  int present = 0;
  for (const int64_t samples : samples_of) present += samples > 0;
  double sum = 0;  // of the classes' risks
  double last = 0;
  double twice_area = 0;
  bool first = true;
  std::vector<int64_t> changed;  // the classes of a block
  for (int64_t block = 0; block < ranked.ranking().num_blocks(); ++block) {
    const int64_t samples = ranked.blocks()[block].known();
    changed.clear();
    for (int64_t place = ranked.ranking().BlockBegin(block); place < ranked.ranking().BlockBegin(block + 1); ++place) {
      const RankedSample sample = ranked.samples()[place];
      const int64_t weight = ranked.is_weighted() ? ranked.weight(ranked.ranking().order()[place]) : 1;
      if (weight == 0) continue;
      const int64_t counts = sample.label != kUnknownLabel ? weight : 0;
      ClassRisk& one = classes[1 + sample.label];
      one.accepted += counts;
      one.errors += sample.kind() == SampleKind::kCorrect ? 0 : counts;
      changed.push_back(1 + sample.label);
    }
    // In the order of the classes, so that the order of samples with equal scores doesn't change the last digit.
    if (changed.size() > 1) {
      std::sort(changed.begin(), changed.end());
      changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    }
    for (const int64_t c : changed) {
      sum -= classes[c].risk;
      classes[c].risk = risk(classes[c]);
      sum += classes[c].risk;
    }
    // A block without known samples adds nothing.
    twice_area += static_cast<double>(samples) * ((first && held ? sum : last) + sum);
    last = sum;
    first = first && samples == 0;
  }
  return twice_area / 2 / present / ranked.total().known();
}

double Share(int64_t part, int64_t all) { return static_cast<double>(part) / static_cast<double>(all); }

// The risk is the mean over the K classes of the share of errors among the class's accepted samples, 0 if none is
// accepted; at coverage 0, the risk of the first score. In [0, 1], lower is better.
MetricResult ClassBalancedAurc(const RankedInput& ranked) {
  return Area(ranked, true, [](const ClassRisk& one) { return Share(one.errors, one.accepted); });
}

// The risk is the mean over the K classes of accepted errors / the class's samples; 0 at coverage 0. In [0, 1), lower
// is better.
MetricResult ClassBalancedAugrc(const RankedInput& ranked) {
  return Area(ranked, false, [](const ClassRisk& one) { return Share(one.errors, one.samples); });
}

}  // namespace

Metric Make(const ClassBalancedSpec&, MetricSpec::KindCase kind) {
  if (kind == MetricSpec::kClassBalancedAurc) return {{"AURC", "class-balanced"}, ClassBalancedAurc};
  return {{"AUGRC", "class-balanced"}, ClassBalancedAugrc};
}

}  // namespace openset
