#include "eval/metrics/open_set/decisions.h"

namespace openset {

DecisionWalk::DecisionWalk(const RankedInput& ranked, bool per_class) : ranked_(ranked), per_class_(per_class) {
  const EvaluationInput& input = ranked.input();
  decisions_.total = ranked.total();
  decisions_.num_classes = input.num_classes();
  if (!per_class) return;
  // As fine as leaves room for a sum over the classes.
  scale_ = static_cast<double>(int64_t{1} << 62);
  for (int64_t c = 1; c < input.num_classes(); c *= 2) scale_ /= 2;
  classes_.resize(input.num_classes());
  for (int64_t i = 0; i < input.num_samples(); ++i) {
    if (!input.IsUnknown(i)) classes_[input.label()[i]].samples += ranked.weight(i);
  }
  for (const ClassCounts& counts : classes_) absent_negatives_ += counts.samples == ranked.total().all();
  absent_negatives_ /= input.num_classes();
  decisions_.macro_tnr = 1 - absent_negatives_;
}

void DecisionWalk::AcceptUpTo(double threshold) {
  while (!AtEnd() && ranked_.ranking().Score(next_) <= threshold) AcceptNext();
}

void DecisionWalk::AcceptClassesOf(int64_t block) {
  const Ranking& ranking = ranked_.ranking();
  const int64_t all = decisions_.total.all();
  for (int64_t place = ranking.BlockBegin(block); place < ranking.BlockBegin(block + 1); ++place) {
    const RankedSample sample = ranked_.samples()[place];
    const int64_t weight = ranked_.is_weighted() ? ranked_.weight(ranking.order()[place]) : 1;
    if (static_cast<int32_t>(sample.prediction) == decisions_.num_classes) continue;  // said to be of no known class
    ClassCounts& predicted = classes_[sample.prediction];
    if (sample.kind() == SampleKind::kCorrect) {
      predicted.true_positive += weight;
      const int64_t tpr = Fixed(predicted.true_positive, predicted.samples);
      sum_tpr_ += tpr - predicted.tpr;
      predicted.tpr = tpr;
    } else {
      predicted.false_positive += weight;
      const int64_t fpr = Fixed(predicted.false_positive, all - predicted.samples);
      sum_fpr_ += fpr - predicted.fpr;
      predicted.fpr = fpr;
    }
    const int64_t precision = Fixed(predicted.true_positive, predicted.true_positive + predicted.false_positive);
    sum_precision_ += precision - predicted.precision;
    predicted.precision = precision;
  }
  const double unit = 1 / (scale_ * decisions_.num_classes);
  decisions_.macro_precision = static_cast<double>(sum_precision_) * unit;
  decisions_.macro_tpr = static_cast<double>(sum_tpr_) * unit;
  decisions_.macro_tnr = 1 - absent_negatives_ - static_cast<double>(sum_fpr_) * unit;
}

}  // namespace openset
