#include "eval/statistics/paired_tests.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "core/status_macros.h"
#include "eval/metrics/evaluate.h"
#include "eval/metrics/metric.h"
#include "eval/statistics/intervals.h"

namespace openset {

MidRanks MidRanksOf(absl::Span<const double> values) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [values](int i, int j) { return values[i] < values[j]; });
  MidRanks ranks;
  ranks.rank.resize(values.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) ranks.rank[order[i]] = (begin + 1 + end) / 2.0;
    const double t = static_cast<double>(end - begin);
    ranks.tie_cubes += t * t * t - t;
  }
  return ranks;
}

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

namespace {

constexpr int64_t kMostExactSteps = 300000;
constexpr int kDrawnOrders = 19'999;

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

int64_t SumOfSquares(const std::vector<int>& sums) {
  int64_t total = 0;
  for (const int64_t sum : sums) total += sum * sum;
  return total;
}

// k! / (the product of t! over groups of t ties).
double DistinctOrders(const std::vector<int>& ascending) {
  double orders = 1;
  int ties = 0;
  for (size_t m = 0; m < ascending.size(); ++m) {
    ties = m > 0 && ascending[m] == ascending[m - 1] ? ties + 1 : 1;
    orders *= static_cast<double>(m + 1) / ties;
  }
  return orders;
}

// P(the sum over methods of the squared rank sums is at least as large as here), if all distinct orders of `ranks` are
// equally likely in each row. Nothing if there are too many cases. `ranks`: twice the ranks.
std::optional<double> ExactFriedman(const std::vector<std::vector<int>>& ranks) {
  const size_t k = ranks[0].size();
  std::vector<int> observed(k, 0);
  // Sums over the rows so far, in ascending order: methods are alike, so that only their values count.
  std::map<std::vector<int>, double> probability = {{std::vector<int>(k, 0), 1.0}};
  int64_t work = 0;
  for (const std::vector<int>& row : ranks) {
    for (size_t m = 0; m < k; ++m) observed[m] += row[m];
    std::vector<int> order(row);
    std::sort(order.begin(), order.end());
    if (work + DistinctOrders(order) * probability.size() > kMostExactSteps) return std::nullopt;
    std::vector<std::vector<int>> orders;
    do {
      orders.push_back(order);
    } while (std::next_permutation(order.begin(), order.end()));
    work += static_cast<int64_t>(orders.size() * probability.size());
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
    if (SumOfSquares(sums) >= SumOfSquares(observed)) tail += share;
  }
  return std::min(1.0, tail);
}

// The same probability from random orders; the observed ones count as one more.
double DrawnFriedman(std::vector<std::vector<int>> ranks) {
  const size_t k = ranks[0].size();
  const auto squares = [&ranks, k] {
    std::vector<int> sums(k, 0);
    for (const std::vector<int>& row : ranks) {
      for (size_t m = 0; m < k; ++m) sums[m] += row[m];
    }
    return SumOfSquares(sums);
  };
  const int64_t observed = squares();
  RandomStream random(0, "friedman");
  int as_large = 1;
  for (int draw = 0; draw < kDrawnOrders; ++draw) {
    for (std::vector<int>& row : ranks) {
      for (size_t m = k - 1; m > 0; --m) std::swap(row[m], row[random.Below(m + 1)]);
    }
    as_large += squares() >= observed;
  }
  return static_cast<double>(as_large) / (kDrawnOrders + 1);
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
  test.p_value = test.exact_p_value.has_value() ? *test.exact_p_value : DrawnFriedman(std::move(twice_ranks));
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

namespace {

using Values = std::vector<std::optional<double>>;

Values Subtract(const Values& a, const Values& b) {
  Values differences(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].has_value() && b[i].has_value()) differences[i] = *a[i] - *b[i];
  }
  return differences;
}

MetricResult Difference(const MetricResult& a, const MetricResult& b) {
  if (!a.value.has_value()) return a;
  if (!b.value.has_value()) return b;
  return *a.value - *b.value;
}

absl::Status CheckSamples(absl::Span<const RankedInput* const> methods) {
  if (methods.size() < 2) return absl::InvalidArgumentError("two methods are needed");
  for (size_t m = 1; m < methods.size(); ++m) {
    const EvaluationInput& a = methods[0]->input();
    const EvaluationInput& b = methods[m]->input();
    if (a.num_samples() != b.num_samples()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the methods must have the same samples in the same order: they have ", a.num_samples(), " and ",
                       b.num_samples()));
    }
    const char* const differ = a.label() != b.label()       ? "labels"
                               : a.group() != b.group()     ? "groups"
                               : a.cluster() != b.cluster() ? "clusters"
                                                            : nullptr;
    if (differ == nullptr) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the methods must have the same samples in the same order: their ", differ, " differ"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<MethodPair>> PairedBootstrap(absl::Span<const MetricSpec> metrics,
                                                        absl::Span<const RankedInput* const> methods,
                                                        const BootstrapOptions& options, std::optional<int> baseline) {
  OPENSET_RETURN_IF_ERROR(CheckMetrics(metrics));
  OPENSET_RETURN_IF_ERROR(CheckOptions(options));
  OPENSET_RETURN_IF_ERROR(CheckSamples(methods));
  const auto make_statistics = [&]() -> Statistics {
    std::vector<RankedInput> weighted;
    for (const RankedInput* method : methods) weighted.push_back(*method);
    return [metrics, weighted = std::move(weighted)](absl::Span<const uint32_t> weight) mutable {
      std::vector<MetricResult> values;
      for (RankedInput& method : weighted) {
        method.Reweight(weight);
        for (const MetricSpec& metric : metrics) values.push_back(ComputeMetric(metric, method));
      }
      return values;
    };
  };
  const Replicates replicates = metrics.empty() ? Replicates() : Bootstrap(make_statistics, *methods[0], options);
  const bool bca = options.method == IntervalMethod::kBca;
  // Makes the interval of a metric of a pair, with its p-value, and the adjusted one.
  const auto set = [&](const MethodPair& pair, size_t m, PairedDifference* result) {
    const size_t of_a = pair.a * metrics.size() + m;
    const size_t of_b = pair.b * metrics.size() + m;
    result->value_a = replicates.estimate[of_a].value;
    result->value_b = replicates.estimate[of_b].value;
    const Values left = bca ? Subtract(replicates.left[of_a], replicates.left[of_b]) : Values();
    result->difference = IntervalOf(Difference(replicates.estimate[of_a], replicates.estimate[of_b]),
                                    Subtract(replicates.values[of_a], replicates.values[of_b]), replicates.jackknife,
                                    left, options, &result->p_value, &result->adjusted);
  };
  std::vector<MethodPair> pairs;
  for (size_t a = 0; a < methods.size(); ++a) {
    for (size_t b = a + 1; b < methods.size(); ++b) {
      if (baseline.has_value() && *baseline != static_cast<int>(a) && *baseline != static_cast<int>(b)) continue;
      MethodPair pair{static_cast<int>(a), static_cast<int>(b), std::vector<PairedDifference>(metrics.size())};
      for (size_t m = 0; m < metrics.size(); ++m) {
        PairedDifference& result = pair.metrics[m];
        result.adjusted.confidence = options.confidence;
        set(pair, m, &result);
        if (result.difference.value.has_value()) {
          result.verdict = VerdictOf(result.difference.low, result.difference.high);
        }
      }
      pairs.push_back(std::move(pair));
    }
  }
  if (pairs.size() == 1) return pairs;
  for (size_t m = 0; m < metrics.size(); ++m) {
    std::vector<MethodPair*> tested;
    std::vector<double> p_values;
    for (MethodPair& pair : pairs) {
      if (!pair.metrics[m].difference.value.has_value()) continue;
      tested.push_back(&pair);
      p_values.push_back(pair.metrics[m].p_value);
    }
    const std::vector<double> levels = HolmLevels(p_values, 1 - options.confidence);
    for (size_t i = 0; i < tested.size(); ++i) {
      PairedDifference* result = &tested[i]->metrics[m];
      result->adjusted.confidence = 1 - levels[i];
      set(*tested[i], m, result);
    }
  }
  return pairs;
}

}  // namespace openset
