#include "eval/metrics/selective/class_balanced_aurc.h"

#include <cstdint>
#include <vector>

namespace openset {
namespace {

struct ClassRisk {
  int64_t samples = 0;
  int64_t accepted = 0;
  int64_t errors = 0;
  double risk = 0;  // of these counts
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
    for (int64_t place = ranked.ranking().BlockBegin(block); place < ranked.ranking().BlockBegin(block + 1); ++place) {
      const RankedSample ranked_sample = ranked.samples()[place];
      const SampleKind kind = ranked_sample.kind();
      if (kind == SampleKind::kUnknown) continue;
      const uint32_t sample = ranked.ranking().order()[place];
      const int64_t weight = ranked.weight(sample);
      if (weight == 0) continue;
      const bool is_correct = kind == SampleKind::kCorrect;
      // A look-up that is far from the last one is spared where the prediction says the label.
      const int32_t label = is_correct ? static_cast<int32_t>(ranked_sample.prediction) : input.label()[sample];
      ClassRisk& one = classes[label];
      sum -= one.risk;
      one.accepted += weight;
      one.errors += is_correct ? 0 : weight;
      one.risk = risk(one);
      sum += one.risk;
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
