#include "eval/statistics/delong.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/metrics/metric_value.h"
#include "eval/statistics/intervals.h"

namespace openset {
namespace {

// For each known and each unknown sample, in the order of the input, the mean over the pairs it is in.
struct Placements {
  std::vector<double> known;
  std::vector<double> unknown;
  double value = 0;
};

Placements PlacementsOf(const RankedInput& ranked, PairStatistic statistic) {
  const EvaluationInput& input = ranked.input();
  const double num_known = static_cast<double>(input.num_known());
  const double num_unknown = static_cast<double>(input.num_unknown());
  const auto counts = [&](uint32_t sample) {
    return !input.IsUnknown(sample) && (statistic == PairStatistic::kAuroc || input.IsCorrect(sample));
  };
  std::vector<double> by_sample(input.num_samples());
  double known_below = 0;    // that count
  double unknown_below = 0;  // or in an earlier block
  double pairs = 0;
  for (int64_t block = 0; block < ranked.ranking().num_blocks(); ++block) {
    double known = 0;
    double unknown = 0;
    for (const uint32_t sample : ranked.ranking().Block(block)) {
      known += counts(sample);
      unknown += input.IsUnknown(sample);
    }
    for (const uint32_t sample : ranked.ranking().Block(block)) {
      if (input.IsUnknown(sample)) {
        by_sample[sample] = (known_below + known / 2) / num_known;
      } else if (counts(sample)) {
        by_sample[sample] = (num_unknown - unknown_below - unknown / 2) / num_unknown;
      }
    }
    pairs += unknown * (known_below + known / 2);
    known_below += known;
    unknown_below += unknown;
  }
  Placements placements;
  placements.value = pairs / (num_known * num_unknown);
  for (int64_t i = 0; i < input.num_samples(); ++i) {
    (input.IsUnknown(i) ? placements.unknown : placements.known).push_back(by_sample[i]);
  }
  return placements;
}

// Unbiased variance of values around their mean / their number.
double VarianceOfMean(const std::vector<double>& values) {
  const double n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / (n - 1) / n;
}

absl::Status Check(const RankedInput& ranked, PairStatistic statistic, double confidence) {
  if (!(confidence > 0 && confidence < 1)) {
    return absl::InvalidArgumentError(absl::StrCat("confidence must lie between 0 and 1 (is ", confidence, ")"));
  }
  if (statistic != PairStatistic::kAuroc && !ranked.input().has_predictions()) {
    return absl::FailedPreconditionError(AbsentWithoutPredictions().absent_reason);
  }
  if (!ranked.input().cluster().empty()) {
    return absl::FailedPreconditionError(
        "DeLong's variance takes samples as independent, and these are in clusters: the bootstrap draws whole "
        "clusters");
  }
  if (ranked.input().num_known() < 2 || ranked.input().num_unknown() < 2) {
    return absl::FailedPreconditionError(
        absl::StrCat("DeLong's variance needs two known and two unknown samples; there are ",
                     ranked.input().num_known(), " and ", ranked.input().num_unknown()));
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<PairStatistic> PairStatisticOf(const MetricSpec& metric) {
  if (metric.has_auroc() && metric.auroc().tied() != TiedPairRule::NOTHING) return PairStatistic::kAuroc;
  if (metric.has_openauc() && metric.openauc().mask() <= OpenAucMetricSpec::RANK) return PairStatistic::kOpenAuc;
  return std::nullopt;
}

absl::StatusOr<NormalInterval> DeLongInterval(const RankedInput& ranked, PairStatistic statistic, double confidence) {
  OPENSET_RETURN_IF_ERROR(Check(ranked, statistic, confidence));
  const Placements placements = PlacementsOf(ranked, statistic);
  NormalInterval interval;
  interval.value = placements.value;
  interval.standard_error = std::sqrt(VarianceOfMean(placements.known) + VarianceOfMean(placements.unknown));
  const double variance = interval.value * (1 - interval.value);
  if (interval.standard_error == 0 || variance == 0) {
    const int64_t trials = std::min(ranked.input().num_known(), ranked.input().num_unknown());
    const bool at_the_edge = interval.value == 0 || interval.value == 1;
    const ExactInterval exact = at_the_edge ? ClopperPearson(interval.value == 1 ? trials : 0, trials, confidence)
                                            : ExactInterval{interval.value, interval.value};
    interval.low = exact.low;
    interval.high = exact.high;
    if (at_the_edge) interval.note = "all pairs agree: Clopper-Pearson";
    return interval;
  }
  const double centre = std::log(interval.value / (1 - interval.value));
  const double width = -NormalQuantile((1 - confidence) / 2) * interval.standard_error / variance;
  interval.low = 1 / (1 + std::exp(width - centre));
  interval.high = 1 / (1 + std::exp(-width - centre));
  return interval;
}

absl::StatusOr<DeLongComparison> DeLongPaired(const RankedInput& a, const RankedInput& b, PairStatistic statistic,
                                              double confidence) {
  if (a.input().label() != b.input().label()) {
    return absl::InvalidArgumentError("the two methods must have the same samples: their labels differ");
  }
  OPENSET_RETURN_IF_ERROR(Check(a, statistic, confidence));
  OPENSET_RETURN_IF_ERROR(Check(b, statistic, confidence));
  const Placements of_a = PlacementsOf(a, statistic);
  const Placements of_b = PlacementsOf(b, statistic);
  DeLongComparison comparison;
  comparison.value_a = of_a.value;
  comparison.value_b = of_b.value;
  comparison.difference = of_a.value - of_b.value;
  // The difference is a U-statistic too, whose means over pairs are the differences of the two.
  std::vector<double> known(of_a.known);
  std::vector<double> unknown(of_a.unknown);
  for (size_t i = 0; i < known.size(); ++i) known[i] -= of_b.known[i];
  for (size_t i = 0; i < unknown.size(); ++i) unknown[i] -= of_b.unknown[i];
  comparison.standard_error = std::sqrt(VarianceOfMean(known) + VarianceOfMean(unknown));
  const double z = -NormalQuantile((1 - confidence) / 2);
  comparison.low = comparison.difference - z * comparison.standard_error;
  comparison.high = comparison.difference + z * comparison.standard_error;
  if (comparison.standard_error > 0) {
    comparison.p_value = 2 * NormalCdf(-std::abs(comparison.difference) / comparison.standard_error);
  } else {
    comparison.p_value = comparison.difference == 0 ? 1 : 0;
  }
  return comparison;
}

}  // namespace openset
