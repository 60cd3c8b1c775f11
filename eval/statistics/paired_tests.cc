#include "eval/statistics/paired_tests.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/statistics/distributions.h"
#include "eval/statistics/mid_ranks.h"

namespace openset {
namespace {

constexpr size_t kLargestExact = 50;

absl::Status Check(absl::Span<const double> a, absl::Span<const double> b, double confidence) {
  if (a.size() != b.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", a.size(), " runs of one and ", b.size(), " of the other"));
  }
  if (a.size() < 2) return absl::InvalidArgumentError(absl::StrCat("two runs are needed, there are ", a.size()));
  for (size_t run = 0; run < a.size(); ++run) {
    if (!std::isfinite(a[run]) || !std::isfinite(b[run])) {
      return absl::InvalidArgumentError(absl::StrCat("the value of run ", run, " is not finite"));
    }
  }
  if (!(confidence > 0 && confidence < 1)) {
    return absl::InvalidArgumentError(absl::StrCat("confidence must lie between 0 and 1 (is ", confidence, ")"));
  }
  return absl::OkStatus();
}

// P(W <= w) for the sum W of those of the ranks 1 .. n whose fair coin shows heads.
double SignedRankCdf(int n, double w) {
  const int largest = n * (n + 1) / 2;
  std::vector<double> probability(largest + 1);
  probability[0] = 1;
  for (int rank = 1; rank <= n; ++rank) {
    for (int sum = largest; sum >= 0; --sum) {
      probability[sum] = (probability[sum] + (sum >= rank ? probability[sum - rank] : 0)) / 2;
    }
  }
  double cdf = 0;
  for (int sum = 0; sum <= w && sum <= largest; ++sum) cdf += probability[sum];
  return cdf;
}

void AddWilcoxon(const std::vector<double>& differences, PairedTest* test) {
  std::vector<double> sizes;
  std::vector<bool> positive;
  for (const double d : differences) {
    if (d == 0) continue;
    sizes.push_back(std::abs(d));
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
  const bool has_zeros = sizes.size() < differences.size();
  if (sizes.size() <= kLargestExact && ranks.tie_cubes == 0 && !has_zeros) {
    test->wilcoxon_p_value = std::min(1.0, 2 * SignedRankCdf(static_cast<int>(n), smaller));
  } else {
    const double variance = n * (n + 1) * (2 * n + 1) / 24 - ranks.tie_cubes / 48;
    test->wilcoxon_p_value = std::min(1.0, 2 * NormalCdf((smaller - all / 2) / std::sqrt(variance)));
  }
}

}  // namespace

absl::StatusOr<PairedTest> ComparePairedRuns(absl::Span<const double> a, absl::Span<const double> b,
                                             double confidence) {
  OPENSET_RETURN_IF_ERROR(Check(a, b, confidence));
  PairedTest test;
  test.runs = static_cast<int>(a.size());
  std::vector<double> differences(a.size());
  for (size_t run = 0; run < a.size(); ++run) {
    differences[run] = a[run] - b[run];
    test.mean_difference += differences[run] / test.runs;
  }
  double squares = 0;
  for (const double d : differences) squares += (d - test.mean_difference) * (d - test.mean_difference);
  const double deviation = std::sqrt(squares / (test.runs - 1));
  const double standard_error = deviation / std::sqrt(test.runs);
  test.low = test.high = test.mean_difference;
  if (standard_error > 0) {
    const double width = StudentTTwoSidedQuantile(1 - confidence, test.runs - 1) * standard_error;
    test.low -= width;
    test.high += width;
    test.cohen_dz = test.mean_difference / deviation;
    test.t_p_value = StudentTTwoSidedTail(test.mean_difference / standard_error, test.runs - 1);
  } else if (test.mean_difference != 0) {
    test.cohen_dz = std::copysign(std::numeric_limits<double>::infinity(), test.mean_difference);
    test.t_p_value = 0;
  }
  AddWilcoxon(differences, &test);
  test.verdict = VerdictOf(test.low, test.high);
  return test;
}

}  // namespace openset
