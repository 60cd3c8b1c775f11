#include "eval/metrics/decisions.h"

namespace openset {

DecisionWalk::DecisionWalk(const RankedInput& ranked, bool per_class) : ranked_(ranked), per_class_(per_class) {
  const EvaluationInput& input = ranked.input();
  decisions_.total = ranked.total();
  decisions_.num_classes = input.num_classes();
  if (!per_class) return;
  // As fine as a sum over the classes allows.
  scale_ = static_cast<double>(int64_t{1} << 62);
  for (int64_t c = 1; c < input.num_classes(); c *= 2) scale_ /= 2;
  classes_.resize(input.num_classes());
  const std::vector<int64_t> samples = SamplesOfClasses(ranked);
  const int64_t all = ranked.total().all();
  for (int32_t c = 0; c < input.num_classes(); ++c) {
    classes_[c].of_all[0] = all - samples[c];
    classes_[c].of_all[1] = samples[c];
    absent_negatives_ += samples[c] == all;
  }
  absent_negatives_ /= input.num_classes();
  decisions_.macro_tnr = 1 - absent_negatives_;
}

void DecisionWalk::AcceptUpTo(double threshold) {
  while (!AtEnd() && ranked_.ranking().Score(next_) <= threshold) AcceptNext();
}

void DecisionWalk::AcceptClassesOf(int64_t block) {
  const Ranking& ranking = ranked_.ranking();
  for (int64_t place = ranking.BlockBegin(block); place < ranking.BlockBegin(block + 1); ++place) {
    const RankedSample sample = ranked_.samples()[place];
    const int64_t weight = ranked_.is_weighted() ? ranked_.weight(ranking.order()[place]) : 1;
    if (static_cast<int32_t>(sample.prediction) == decisions_.num_classes) continue;  // predicted as unknown
    ClassCounts& predicted = classes_[sample.prediction];
    const int right = sample.kind() == SampleKind::kCorrect ? 1 : 0;
    predicted.accepted[right] += weight;
    const int64_t share = Fixed(predicted.accepted[right], predicted.of_all[right]);
    sum_share_[right] += share - predicted.share[right];
    predicted.share[right] = share;
    const int64_t precision = Fixed(predicted.accepted[1], predicted.accepted[0] + predicted.accepted[1]);
    sum_precision_ += precision - predicted.precision;
    predicted.precision = precision;
  }
  const double unit = 1 / (scale_ * decisions_.num_classes);
  decisions_.macro_precision = static_cast<double>(sum_precision_) * unit;
  decisions_.macro_tpr = static_cast<double>(sum_share_[1]) * unit;
  decisions_.macro_tnr = 1 - absent_negatives_ - static_cast<double>(sum_share_[0]) * unit;
}

}  // namespace openset
