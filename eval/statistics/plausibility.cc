#include "eval/statistics/plausibility.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>

#include "eval/statistics/intervals.h"

namespace openset {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kStandardErrors = 3;
constexpr double kGain = 0.2;
constexpr double kLeast = 0.5;
constexpr double kRareness = 1000;

// The Kullback-Leibler divergence of a coin of probability q from one of p; q > p.
double Divergence(double q, double p) {
  const double heads = q * std::log(q / p);
  return q < 1 ? heads + (1 - q) * std::log((1 - q) / (1 - p)) : heads;
}

// The largest possible agreement by chance: the most frequent labels with the most frequent predictions.
double LargestByChance(std::vector<double> label, std::vector<double> prediction) {
  std::sort(label.begin(), label.end(), std::greater<>());
  std::sort(prediction.begin(), prediction.end(), std::greater<>());
  return std::inner_product(label.begin(), label.end(), prediction.begin(), 0.0);
}

// Labels without a partner get their own prediction if it is free, otherwise any free one.
void Complete(std::vector<int>* prediction_of, std::vector<bool>* taken) {
  for (int label = 0; label < prediction_of->size(); ++label) {
    if ((*prediction_of)[label] >= 0 || (*taken)[label]) continue;
    (*prediction_of)[label] = label;
    (*taken)[label] = true;
  }
  int free = 0;
  for (int& prediction : *prediction_of) {
    if (prediction >= 0) continue;
    while ((*taken)[free]) ++free;
    prediction = free++;
  }
}

}  // namespace

bool IsNearChance(int64_t correct, int64_t samples, int classes) {
  if (classes < 2) return false;
  const double chance = 1.0 / classes;
  const ExactInterval interval = ClopperPearson(correct, samples, kConfidence);
  return interval.low <= chance && interval.high < (1 + chance) / 2;
}

bool IsBelowHalf(double auroc, int64_t known, int64_t unknown) {
  return 0.5 - auroc > kStandardErrors / (2 * std::sqrt(static_cast<double>(std::min(known, unknown))));
}

std::optional<ClassOrder> BetterOrder(absl::Span<const LabelledPredictions> counts, int classes) {
  std::vector<LabelledPredictions> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end(), [](const LabelledPredictions& a, const LabelledPredictions& b) {
    return std::tie(b.samples, a.label, a.prediction) < std::tie(a.samples, b.label, b.prediction);
  });
  double samples = 0, plain = 0, relabelled = 0;
  std::vector<double> of_label(classes), of_prediction(classes);
  ClassOrder order;
  order.prediction_of.assign(classes, -1);
  std::vector<bool> taken(classes);
  for (const LabelledPredictions& count : sorted) {
    const auto number = static_cast<double>(count.samples);
    samples += number;
    of_label[count.label] += number;
    of_prediction[count.prediction] += number;
    if (count.label == count.prediction) plain += number;
    if (order.prediction_of[count.label] >= 0 || taken[count.prediction]) continue;
    order.prediction_of[count.label] = count.prediction;
    taken[count.prediction] = true;
    relabelled += number;
  }
  if (samples == 0) return std::nullopt;
  order.accuracy = relabelled / samples;
  order.plain_accuracy = plain / samples;
  if (order.accuracy < std::max(kLeast, order.plain_accuracy + kGain)) return std::nullopt;
  const double chance = LargestByChance(of_label, of_prediction) / (samples * samples);
  const double orders = std::lgamma(classes + 1.0);
  if (order.accuracy <= chance || samples * Divergence(order.accuracy, chance) <= orders + std::log(kRareness)) {
    return std::nullopt;
  }
  Complete(&order.prediction_of, &taken);
  return order;
}

}  // namespace openset
