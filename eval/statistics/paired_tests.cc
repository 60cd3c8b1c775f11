#include "eval/statistics/paired_tests.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/statistics/distributions.h"
#include "eval/statistics/mid_ranks.h"

namespace openset {
namespace {

constexpr size_t kLargestExact = 50;
constexpr int kEqualBits = -40;

absl::Status Check(absl::Span<const double> a, absl::Span<const double> b, absl::Span<const int> split,
                   const PairedTestOptions& options) {
  if (a.size() != b.size() || a.size() != split.size()) {
    return absl::InvalidArgumentError(absl::StrCat("there are ", a.size(), " runs of one and ", b.size(),
                                                   " of the other, and splits of ", split.size()));
  }
  if (a.size() < 2) return absl::InvalidArgumentError(absl::StrCat("two runs are needed, there are ", a.size()));
  for (size_t run = 0; run < a.size(); ++run) {
    if (!std::isfinite(a[run]) || !std::isfinite(b[run])) {
      return absl::InvalidArgumentError(absl::StrCat("the value of run ", run, " is not finite"));
    }
  }
  if (!(options.confidence > 0 && options.confidence < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("confidence must lie between 0 and 1 (is ", options.confidence, ")"));
  }
  if (!(options.test_per_training >= 0 && std::isfinite(options.test_per_training))) {
    return absl::InvalidArgumentError(
        absl::StrCat("test_per_training must be finite and at least 0 (is ", options.test_per_training, ")"));
  }
  return absl::OkStatus();
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// The unbiased variance. Precondition: at least two values.
double Variance(const std::vector<double>& values) {
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size() - 1);
}

// P(W <= w) for the sum W of the ranks whose fair coin shows heads; ranks are integers or halves.
double SignedRankCdf(absl::Span<const double> ranks, double w) {
  std::vector<double> probability = {1};  // of each twice the sum
  for (const double rank : ranks) {
    const auto twice = static_cast<size_t>(std::lround(2 * rank));
    std::vector<double> next(probability.size() + twice);
    for (size_t sum = 0; sum < probability.size(); ++sum) {
      next[sum] += probability[sum] / 2;
      next[sum + twice] += probability[sum] / 2;
    }
    probability = std::move(next);
  }
  double cdf = 0;
  const auto last = static_cast<size_t>(std::lround(2 * w));
  for (size_t sum = 0; sum <= last && sum < probability.size(); ++sum) cdf += probability[sum];
  return cdf;
}

// `unit`: sizes are equal if they are the same multiple of it.
void AddWilcoxon(const std::vector<double>& differences, double unit, PairedTest* test) {
  std::vector<double> sizes;
  std::vector<bool> positive;
  for (const double d : differences) {
    const double size = unit == 0 ? std::abs(d) : std::round(std::abs(d) / unit);
    if (size == 0) continue;
    sizes.push_back(size);
    positive.push_back(d > 0);
  }
  if (sizes.empty()) return;
  const MidRanks ranks = MidRanksOf(sizes);
  double above = 0;
  for (size_t i = 0; i < sizes.size(); ++i) above += positive[i] ? ranks.rank[i] : 0;
  const double n = static_cast<double>(sizes.size());
  const double all = n * (n + 1) / 2;
  test->rank_biserial = (2 * above - all) / all;
  const double smaller = std::min(above, all - above);
  if (sizes.size() <= kLargestExact) {
    test->wilcoxon_p_value = std::min(1.0, 2 * SignedRankCdf(ranks.rank, smaller));
  } else {
    const double variance = n * (n + 1) * (2 * n + 1) / 24 - ranks.tie_cubes / 48;
    test->wilcoxon_p_value = std::min(1.0, 2 * NormalCdf((smaller - all / 2) / std::sqrt(variance)));
  }
}

}  // namespace

absl::StatusOr<PairedTest> ComparePairedRuns(absl::Span<const double> a, absl::Span<const double> b,
                                             absl::Span<const int> split, const PairedTestOptions& options) {
  OPENSET_RETURN_IF_ERROR(Check(a, b, split, options));
  std::map<int, std::vector<double>> by_split;
  double largest = 0;
  for (size_t run = 0; run < a.size(); ++run) {
    by_split[split[run]].push_back(a[run] - b[run]);
    largest = std::max({largest, std::abs(a[run]), std::abs(b[run])});
  }
  PairedTest test;
  test.runs = static_cast<int>(a.size());
  test.splits = static_cast<int>(by_split.size());
  std::vector<double> replicates;
  double of_seeds = 0;  // mean over splits of the variance of their means over seeds
  bool seeds_differ = false;
  const double unit = std::ldexp(largest, kEqualBits);
  const auto differ = [unit](const std::vector<double>& values) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return *most - *least > unit;
  };
  for (const auto& [number, differences] : by_split) {
    if (by_split.size() == 1) {
      replicates = differences;
      break;
    }
    replicates.push_back(Mean(differences));
    const double seeds = static_cast<double>(differences.size());
    if (seeds > 1) of_seeds += Variance(differences) / seeds / static_cast<double>(by_split.size());
    seeds_differ = seeds_differ || differ(differences);
  }
  const double n = static_cast<double>(replicates.size());
  test.replicates = static_cast<int>(replicates.size());
  test.mean_difference = Mean(replicates);

  const double variance = Variance(replicates);
  const bool means_differ = differ(replicates);
  test.differences = means_differ || seeds_differ            ? Differences::kVary
                     : std::abs(test.mean_difference) > unit ? Differences::kSame
                                                             : Differences::kZero;
  if (means_differ) {
    test.cohen_dz = test.mean_difference / std::sqrt(variance);
  } else if (std::abs(test.mean_difference) > unit) {
    test.cohen_dz = std::copysign(std::numeric_limits<double>::infinity(), test.mean_difference);
  }
  if (means_differ || seeds_differ) {
    test.standard_error = std::sqrt(std::max(variance, of_seeds) * (1 / n + options.test_per_training));
    test.p_value = StudentTTwoSidedTail(test.mean_difference / test.standard_error, n - 1);
  } else if (test.differences == Differences::kZero) {
    test.p_value = 1;
  }
  const double width =
      test.standard_error > 0 ? StudentTTwoSidedQuantile(1 - options.confidence, n - 1) * test.standard_error : 0;
  test.low = test.mean_difference - width;
  test.high = test.mean_difference + width;
  AddWilcoxon(replicates, unit, &test);
  if (test.p_value.has_value() && test.replicates >= kFewestReplicates) test.verdict = VerdictOf(test.low, test.high);
  return test;
}

}  // namespace openset
