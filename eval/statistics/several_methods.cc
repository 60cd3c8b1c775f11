#include "eval/statistics/several_methods.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/statistics/distributions.h"
#include "eval/statistics/mid_ranks.h"

namespace openset {
namespace {

absl::Status Check(const std::vector<std::vector<double>>& value, double alpha) {
  if (value.size() < 2)
    return absl::InvalidArgumentError(absl::StrCat("two tasks are needed, there are ", value.size()));
  if (value[0].size() < 2) {
    return absl::InvalidArgumentError(absl::StrCat("two methods are needed, there are ", value[0].size()));
  }
  for (size_t task = 0; task < value.size(); ++task) {
    if (value[task].size() != value[0].size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("task ", task, " has ", value[task].size(), " methods, task 0 has ", value[0].size()));
    }
    for (size_t method = 0; method < value[task].size(); ++method) {
      if (!std::isfinite(value[task][method])) {
        return absl::InvalidArgumentError(
            absl::StrCat("the value of task ", task, ", method ", method, " is not finite"));
      }
    }
  }
  if (!(alpha > 0 && alpha < 1)) {
    return absl::InvalidArgumentError(absl::StrCat("alpha must lie between 0 and 1 (is ", alpha, ")"));
  }
  return absl::OkStatus();
}

void AddDiagram(FriedmanTest* test) {
  const int k = static_cast<int>(test->mean_rank.size());
  test->by_rank.resize(k);
  std::iota(test->by_rank.begin(), test->by_rank.end(), 0);
  std::stable_sort(test->by_rank.begin(), test->by_rank.end(),
                   [test](int a, int b) { return test->mean_rank[a] < test->mean_rank[b]; });
  int covered = 0;
  for (int first = 0; first < k; ++first) {
    int last = first;
    while (last + 1 < k && test->mean_rank[test->by_rank[last + 1]] - test->mean_rank[test->by_rank[first]] <
                               test->critical_difference) {
      ++last;
    }
    if (last > first && last > covered) {
      test->bars.push_back({first, last});
      covered = last;
    }
  }
}

}  // namespace

absl::StatusOr<FriedmanTest> CompareMethods(const std::vector<std::vector<double>>& value, bool higher_is_better,
                                            double alpha) {
  OPENSET_RETURN_IF_ERROR(Check(value, alpha));
  const int k = static_cast<int>(value[0].size());
  const double n = static_cast<double>(value.size());
  FriedmanTest test;
  test.mean_rank.assign(k, 0);
  double tie_cubes = 0;
  for (const std::vector<double>& row : value) {
    std::vector<double> worse_is_larger(row);
    if (higher_is_better) {
      for (double& v : worse_is_larger) v = -v;
    }
    const MidRanks ranks = MidRanksOf(worse_is_larger);
    for (int method = 0; method < k; ++method) test.mean_rank[method] += ranks.rank[method];
    tie_cubes += ranks.tie_cubes;
  }
  for (double& rank : test.mean_rank) rank /= n;
  double squares = 0;
  for (const double rank : test.mean_rank) squares += (rank - (k + 1) / 2.0) * (rank - (k + 1) / 2.0);
  const double untied = 1 - tie_cubes / (n * k * (k * k - 1.0));  // 0 where every task has all methods equal
  if (untied > 0) {
    test.chi_squared = 12 * n / (k * (k + 1.0)) * squares / untied;
    test.p_value = ChiSquaredTail(test.chi_squared, k - 1);
    test.kendall_w = test.chi_squared / (n * (k - 1));
  }
  const double rank_error = std::sqrt(k * (k + 1) / (6 * n));
  test.critical_difference = NormalRangeQuantile(alpha, k) / std::sqrt(2.0) * rank_error;
  test.nemenyi_p_value.assign(k, std::vector<double>(k, 1));
  for (int i = 0; i < k; ++i) {
    for (int j = 0; j < k; ++j) {
      const double distance = std::abs(test.mean_rank[i] - test.mean_rank[j]) / rank_error;
      if (i != j) test.nemenyi_p_value[i][j] = NormalRangeTail(distance * std::sqrt(2.0), k);
    }
  }
  AddDiagram(&test);
  return test;
}

std::vector<double> HolmAdjusted(absl::Span<const double> p_values) {
  const size_t n = p_values.size();
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [p_values](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(n);
  double largest = 0;
  for (size_t place = 0; place < n; ++place) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(n - place) * p_values[order[place]]));
    adjusted[order[place]] = largest;
  }
  return adjusted;
}

}  // namespace openset
