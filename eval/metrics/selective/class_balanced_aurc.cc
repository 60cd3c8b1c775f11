#include "eval/metrics/selective/class_balanced_aurc.h"

#include <cstdint>
#include <vector>

namespace openset {
namespace {

struct ClassRisk {
  int64_t samples = 0;
  int64_t accepted = 0;
  int64_t errors = 0;
};

// Twice the area under `risk` over the samples, the classes' risks being summed. `risk(class)` is asked for each class
// of which a sample was accepted; `held`: whether the first risk holds at coverage 0.
template <typename RiskOfClass>
MetricResult Area(const RankedInput& ranked, bool held, RiskOfClass risk) {
  const EvaluationInput& input = ranked.input();
  if (ranked.total().known() == 0) return AbsentWithoutKnown();
  std::vector<ClassRisk> classes(input.num_classes());
  for (int64_t i = 0; i < input.num_samples(); ++i) {
    if (!input.IsUnknown(i)) classes[input.label()[i]].samples += ranked.weight(i);
  }
  int present = 0;
  for (const ClassRisk& one : classes) present += one.samples > 0;
  double sum = 0;  // of the classes' risks
  double last = 0;
  double twice_area = 0;
  bool first = true;
  for (int64_t block = 0; block < ranked.ranking().num_blocks(); ++block) {
    const int64_t samples = ranked.blocks()[block].known();
    if (samples == 0) continue;
    for (const uint32_t sample : ranked.ranking().Block(block)) {
      const int64_t weight = ranked.weight(sample);
      if (weight == 0 || input.IsUnknown(sample)) continue;
      ClassRisk& one = classes[input.label()[sample]];
      sum -= risk(one);
      one.accepted += weight;
      one.errors += input.IsCorrect(sample) ? 0 : weight;
      sum += risk(one);
    }
    twice_area += static_cast<double>(samples) * ((first && held ? sum : last) + sum);
    last = sum;
    first = false;
  }
  return twice_area / 2 / present / ranked.total().known();
}

double Share(int64_t part, int64_t all) { return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all); }

}  // namespace

MetricResult ClassBalancedAurc(const RankedInput& ranked) {
  return Area(ranked, true, [](const ClassRisk& one) { return Share(one.errors, one.accepted); });
}

MetricResult ClassBalancedAugrc(const RankedInput& ranked) {
  return Area(ranked, false, [](const ClassRisk& one) { return Share(one.errors, one.samples); });
}

}  // namespace openset
