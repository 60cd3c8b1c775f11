#include "eval/statistics/several_methods.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/statistics/distributions.h"
#include "eval/statistics/mid_ranks.h"

namespace openset {
namespace {

constexpr size_t kMostExactMethods = 6;
constexpr int64_t kMostExactSteps = 300000;

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

// P(the sum over methods of the squared rank sums is at least as large as here), if all distinct orders of `ranks` are
// equally likely in each row. Nothing if there are too many cases. `ranks`: twice the ranks.
std::optional<double> ExactFriedman(const std::vector<std::vector<int>>& ranks) {
  const size_t k = ranks[0].size();
  if (k > kMostExactMethods) return std::nullopt;
  const auto squares = [](const std::vector<int>& sums) {
    int64_t total = 0;
    for (const int64_t sum : sums) total += sum * sum;
    return total;
  };
  std::vector<int> observed(k, 0);
  // Sums over the rows so far, in ascending order: methods are alike, so that only their values count.
  std::map<std::vector<int>, double> probability = {{std::vector<int>(k, 0), 1.0}};
  int64_t work = 0;
  for (const std::vector<int>& row : ranks) {
    for (size_t m = 0; m < k; ++m) observed[m] += row[m];
    std::vector<int> order(row);
    std::sort(order.begin(), order.end());
    std::vector<std::vector<int>> orders;
    do {
      orders.push_back(order);
    } while (std::next_permutation(order.begin(), order.end()));
    work += static_cast<int64_t>(orders.size() * probability.size());
    if (work > kMostExactSteps) return std::nullopt;
    std::map<std::vector<int>, double> next;
    for (const auto& [sums, share] : probability) {
      for (const std::vector<int>& one : orders) {
        std::vector<int> added(sums);
        for (size_t m = 0; m < k; ++m) added[m] += one[m];
        std::sort(added.begin(), added.end());
        next[std::move(added)] += share / static_cast<double>(orders.size());
      }
    }
    probability = std::move(next);
  }
  double tail = 0;
  for (const auto& [sums, share] : probability) {
    if (squares(sums) >= squares(observed)) tail += share;
  }
  return std::min(1.0, tail);
}

void AddDiagram(FriedmanTest* test) {
  const int k = static_cast<int>(test->mean_rank.size());
  test->by_rank.resize(k);
  std::iota(test->by_rank.begin(), test->by_rank.end(), 0);
  std::stable_sort(test->by_rank.begin(), test->by_rank.end(),
                   [test](int a, int b) { return test->mean_rank[a] < test->mean_rank[b]; });
  if (!test->rejected) {
    test->bars.push_back({0, k - 1});
    return;
  }
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

// The indices of the p-values in ascending order.
std::vector<size_t> SmallestFirst(absl::Span<const double> p_values) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [p_values](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  return order;
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
  std::vector<std::vector<int>> twice_ranks;
  for (const std::vector<double>& row : value) {
    std::vector<double> worse_is_larger(row);
    if (higher_is_better) {
      for (double& v : worse_is_larger) v = -v;
    }
    const MidRanks ranks = MidRanksOf(worse_is_larger);
    for (int method = 0; method < k; ++method) test.mean_rank[method] += ranks.rank[method];
    tie_cubes += ranks.tie_cubes;
    std::vector<int> twice;
    for (const double rank : ranks.rank) twice.push_back(static_cast<int>(std::lround(2 * rank)));
    twice_ranks.push_back(std::move(twice));
  }
  for (double& rank : test.mean_rank) rank /= n;
  double squares = 0;
  for (const double rank : test.mean_rank) squares += (rank - (k + 1) / 2.0) * (rank - (k + 1) / 2.0);
  const double untied = 1 - tie_cubes / (n * k * (k * k - 1.0));  // 0 if all methods are equal on every task
  if (untied > 0) {
    test.chi_squared = 12 * n / (k * (k + 1.0)) * squares / untied;
    test.chi_squared_p_value = ChiSquaredTail(test.chi_squared, k - 1);
    test.kendall_w = std::min(1.0, test.chi_squared / (n * (k - 1)));
    const double rest = n * (k - 1) - test.chi_squared;
    if (rest > 1e-9) {
      test.iman_davenport = (n - 1) * test.chi_squared / rest;
      test.iman_davenport_p_value = FisherTail(test.iman_davenport, k - 1, (k - 1) * (n - 1));
    } else {
      test.iman_davenport = std::numeric_limits<double>::infinity();
      test.iman_davenport_p_value = std::exp((1 - n) * std::lgamma(k + 1.0));
    }
  }
  test.exact_p_value = ExactFriedman(twice_ranks);
  test.p_value = test.exact_p_value.value_or(test.iman_davenport_p_value);
  test.rejected = test.p_value < alpha;
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
  const std::vector<size_t> order = SmallestFirst(p_values);
  std::vector<double> adjusted(n);
  double largest = 0;
  for (size_t place = 0; place < n; ++place) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(n - place) * p_values[order[place]]));
    adjusted[order[place]] = largest;
  }
  return adjusted;
}

std::vector<double> HolmLevels(absl::Span<const double> p_values, double alpha) {
  std::vector<double> levels(p_values.size());
  size_t left = p_values.size();  // not rejected so far
  bool rejecting = true;
  for (const size_t test : SmallestFirst(p_values)) {
    levels[test] = alpha / static_cast<double>(left);
    rejecting = rejecting && p_values[test] < levels[test];
    if (rejecting) --left;
  }
  return levels;
}

}  // namespace openset
