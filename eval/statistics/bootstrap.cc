#include "eval/statistics/bootstrap.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/metrics/evaluate.h"
#include "eval/metrics/make_metric.h"
#include "eval/statistics/distributions.h"

namespace openset {
namespace {

constexpr int kJackknifeParts = 200;

// Runs work(state, 0), ..., work(state, count - 1), in any order, each thread with a state of its own.
template <typename MakeState, typename Work>
void InParallel(int threads, int64_t count, MakeState make_state, Work work) {
  std::atomic<int64_t> next{0};
  const auto run = [&] {
    auto state = make_state();
    for (int64_t i = next++; i < count; i = next++) work(state, i);
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(run);
  run();
  for (std::thread& thread : others) thread.join();
}

// One stratum without one of its parts.
struct LeaveOut {
  int stratum = 0;
  int part = 0;
  int parts = 0;
};

std::vector<LeaveOut> JackknifeOf(const Strata& strata) {
  std::vector<LeaveOut> jackknife;
  for (int s = 0; s < strata.size(); ++s) {
    const int parts = static_cast<int>(std::min<size_t>(strata[s].size(), kJackknifeParts));
    if (parts < 2) continue;  // nothing would be left of the stratum
    for (int part = 0; part < parts; ++part) jackknife.push_back({s, part, parts});
  }
  return jackknife;
}

// sum_s sum_i U_si^3 / m_s^3 / (6 (sum_s sum_i U_si^2 / m_s^2)^(3/2)) with U_si = (m_s - 1) (mean_s - value_si) over
// the m_s parts of stratum s: the several-sample form of Efron and Tibshirani, Eq. 14.15, as scipy.stats.bootstrap has
// it. 0 where it is undefined.
double Acceleration(const std::vector<LeaveOut>& jackknife, const std::vector<std::optional<double>>& values) {
  double cubes = 0;
  double squares = 0;
  for (size_t begin = 0; begin < jackknife.size(); begin += jackknife[begin].parts) {
    const int m = jackknife[begin].parts;
    double mean = 0;
    for (int i = 0; i < m; ++i) {
      if (!values[begin + i].has_value()) return 0;
      mean += *values[begin + i] / m;
    }
    for (int i = 0; i < m; ++i) {
      const double u = (m - 1) * (mean - *values[begin + i]) / m;
      cubes += u * u * u;
      squares += u * u;
    }
  }
  return squares == 0 ? 0 : cubes / (6 * std::pow(squares, 1.5));
}

// Tails of the replicates that bound the interval.
std::pair<double, double> Tails(const std::vector<double>& sorted, double estimate, double acceleration,
                                const BootstrapOptions& options) {
  const double tail = (1 - options.confidence) / 2;
  if (options.method == IntervalMethod::kPercentile) return {tail, 1 - tail};
  const auto [lower, upper] = std::equal_range(sorted.begin(), sorted.end(), estimate);
  const double n = static_cast<double>(sorted.size());
  const double below = ((lower - sorted.begin()) + (upper - sorted.begin())) / (2 * n);
  const double bias = NormalQuantile(std::clamp(below, 0.5 / n, 1 - 0.5 / n));
  const auto corrected = [&](double z) { return NormalCdf(bias + (bias + z) / (1 - acceleration * (bias + z))); };
  const double z = NormalQuantile(tail);
  return {corrected(z), corrected(-z)};
}

}  // namespace

absl::Status CheckOptions(const BootstrapOptions& options) {
  if (options.replicates < 2) {
    return absl::InvalidArgumentError(absl::StrCat("replicates must be at least 2 (is ", options.replicates, ")"));
  }
  if (!(options.confidence > 0 && options.confidence < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("confidence must lie between 0 and 1 (is ", options.confidence, ")"));
  }
  if (options.threads < 1) {
    return absl::InvalidArgumentError(absl::StrCat("threads must be at least 1 (is ", options.threads, ")"));
  }
  return absl::OkStatus();
}

Strata StrataOf(const RankedInput& ranked) {
  const EvaluationInput& input = ranked.input();
  Strata strata(1 + std::max(1, input.num_groups()));
  for (int64_t i = 0; i < input.num_samples(); ++i) {
    const int stratum = !input.IsUnknown(i) ? 0 : input.group().empty() ? 1 : 1 + input.group()[i];
    strata[stratum].insert(strata[stratum].end(), ranked.weight(i), static_cast<uint32_t>(i));
  }
  strata.erase(std::remove_if(strata.begin(), strata.end(), [](const auto& s) { return s.empty(); }), strata.end());
  return strata;
}

void DrawReplicate(const Strata& strata, RandomStream* random, std::vector<uint32_t>* weight) {
  for (const std::vector<uint32_t>& stratum : strata) {
    // Two draws from 64 bits. A draw is the high half of 32 bits times n, without the few products that would make some
    // samples more likely than others (Lemire 2019).
    const auto n = static_cast<uint32_t>(stratum.size());
    const uint32_t reject_below = -n % n;
    uint64_t bits = 0;
    bool half_used = true;
    for (uint32_t drawn = 0; drawn < n;) {
      bits = half_used ? random->Bits() : bits >> 32;
      half_used = !half_used;
      const uint64_t product = (bits & 0xffffffff) * n;
      if (static_cast<uint32_t>(product) < reject_below) continue;
      ++(*weight)[stratum[product >> 32]];
      ++drawn;
    }
  }
}

Replicates Bootstrap(const std::function<Statistics()>& make_statistics, const Strata& strata, int64_t num_samples,
                     const BootstrapOptions& options) {
  Replicates result;
  std::vector<uint32_t> all(num_samples);
  for (const std::vector<uint32_t>& stratum : strata) {
    for (const uint32_t sample : stratum) ++all[sample];
  }
  result.estimate = make_statistics()(all);
  const int num_statistics = static_cast<int>(result.estimate.size());

  struct State {
    Statistics statistics;
    std::vector<uint32_t> weight;
  };
  const auto make_state = [&] { return State{make_statistics(), std::vector<uint32_t>(num_samples)}; };

  result.values.assign(num_statistics, std::vector<std::optional<double>>(options.replicates));
  InParallel(options.threads, options.replicates, make_state, [&](State& state, int64_t replicate) {
    RandomStream random(options.seed, absl::StrCat("bootstrap/", replicate));
    std::fill(state.weight.begin(), state.weight.end(), 0);
    DrawReplicate(strata, &random, &state.weight);
    const std::vector<MetricResult> values = state.statistics(state.weight);
    for (int s = 0; s < num_statistics; ++s) result.values[s][replicate] = values[s].value;
  });
  if (options.method != IntervalMethod::kBca) return result;

  const std::vector<LeaveOut> jackknife = JackknifeOf(strata);
  std::vector<std::vector<std::optional<double>>> left(num_statistics,
                                                       std::vector<std::optional<double>>(jackknife.size()));
  InParallel(options.threads, jackknife.size(), make_state, [&](State& state, int64_t i) {
    const LeaveOut& out = jackknife[i];
    const std::vector<uint32_t>& stratum = strata[out.stratum];
    state.weight = all;
    for (size_t member = out.part; member < stratum.size(); member += out.parts) --state.weight[stratum[member]];
    const std::vector<MetricResult> values = state.statistics(state.weight);
    for (int s = 0; s < num_statistics; ++s) left[s][i] = values[s].value;
  });
  for (int s = 0; s < num_statistics; ++s) result.acceleration.push_back(Acceleration(jackknife, left[s]));
  return result;
}

double SortedQuantile(absl::Span<const double> sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

std::vector<IntervalValue> IntervalsOf(const Replicates& replicates, const BootstrapOptions& options) {
  std::vector<IntervalValue> intervals;
  for (int s = 0; s < replicates.estimate.size(); ++s) {
    const MetricResult& estimate = replicates.estimate[s];
    IntervalValue interval;
    interval.absent_reason = estimate.absent_reason;
    if (estimate.value.has_value()) {
      std::vector<double> sorted;
      for (const std::optional<double>& value : replicates.values[s]) {
        if (value.has_value()) sorted.push_back(*value);
      }
      std::sort(sorted.begin(), sorted.end());
      const size_t undefined = replicates.values[s].size() - sorted.size();
      if (100 * undefined > replicates.values[s].size()) {
        interval.absent_reason =
            absl::StrCat("undefined in ", undefined, " of ", replicates.values[s].size(), " replicates");
      } else {
        interval.value = estimate.value;
        const double acceleration = options.method == IntervalMethod::kBca ? replicates.acceleration[s] : 0;
        const auto [low, high] = Tails(sorted, *estimate.value, acceleration, options);
        interval.low = SortedQuantile(sorted, low);
        interval.high = SortedQuantile(sorted, high);
      }
    }
    intervals.push_back(std::move(interval));
  }
  return intervals;
}

absl::StatusOr<std::vector<IntervalValue>> BootstrapIntervals(absl::Span<const MetricSpec> metrics,
                                                              const RankedInput& ranked,
                                                              const BootstrapOptions& options) {
  OPENSET_RETURN_IF_ERROR(CheckMetrics(metrics));
  OPENSET_RETURN_IF_ERROR(CheckOptions(options));
  const auto make_statistics = [&]() -> Statistics {
    return [metrics, weighted = ranked](absl::Span<const uint32_t> weight) mutable {
      weighted.Reweight(weight);
      std::vector<MetricResult> values;
      values.reserve(metrics.size());
      for (const MetricSpec& metric : metrics) values.push_back(ComputeMetric(metric, weighted));
      return values;
    };
  };
  return IntervalsOf(Bootstrap(make_statistics, StrataOf(ranked), ranked.input().num_samples(), options), options);
}

}  // namespace openset
