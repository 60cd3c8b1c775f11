#include "eval/statistics/bootstrap.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/in_parallel.h"
#include "core/status_macros.h"
#include "eval/metrics/metric.h"

namespace openset {
namespace {

constexpr int kJackknifeParts = 200;

// Runs work(state, 0), ..., work(state, count - 1), in any order, with one state for each thread.
template <typename MakeState, typename Work>
void InParallel(int threads, int64_t count, MakeState make_state, Work work) {
  std::atomic<int64_t> next{0};
  const auto run = [&] {
    auto state = make_state();
    for (int64_t i = next++; i < count; i = next++) work(state, i);
  };
  InThreads(threads, run);
}

std::vector<LeaveOut> JackknifeOf(const Strata& strata) {
  std::vector<LeaveOut> jackknife;
  for (int s = 0; s < strata.size(); ++s) {
    const int parts = static_cast<int>(std::min<size_t>(strata[s].size(), kJackknifeParts));
    if (parts < 2) continue;  // the stratum would be empty
    for (int part = 0; part < parts; ++part) jackknife.push_back({s, part, parts});
  }
  return jackknife;
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

namespace {

int StratumOf(const EvaluationInput& input, int64_t sample) {
  return !input.IsUnknown(sample) ? 0 : input.group().empty() ? 1 : 1 + input.group()[sample];
}

// The strata of clusters.
Strata StrataOfClusters(const EvaluationInput& input, const std::vector<std::vector<uint32_t>>& clusters) {
  Strata strata(1 + std::max(1, input.num_groups()));
  for (size_t c = 0; c < clusters.size(); ++c) {
    const int stratum = StratumOf(input, clusters[c][0]);
    for (const uint32_t sample : clusters[c]) {
      if (StratumOf(input, sample) == stratum) continue;
      // A cluster has samples of several strata.
      Strata one(1, std::vector<uint32_t>(clusters.size()));
      std::iota(one[0].begin(), one[0].end(), 0);
      return one;
    }
    strata[stratum].push_back(static_cast<uint32_t>(c));
  }
  return strata;
}

}  // namespace

std::vector<std::vector<uint32_t>> ClustersOf(const RankedInput& ranked) {
  const absl::Span<const int64_t> cluster = ranked.input().cluster();
  std::map<int64_t, std::vector<uint32_t>> samples;
  for (size_t i = 0; i < cluster.size(); ++i) {
    const uint32_t weight = ranked.weight(static_cast<int64_t>(i));
    if (weight == 0) continue;
    std::vector<uint32_t>& of_cluster = samples[cluster[i]];
    of_cluster.insert(of_cluster.end(), weight, static_cast<uint32_t>(i));
  }
  std::vector<std::vector<uint32_t>> clusters;
  for (auto& [number, of_cluster] : samples) clusters.push_back(std::move(of_cluster));
  return clusters;
}

Strata StrataOf(const RankedInput& ranked) {
  const EvaluationInput& input = ranked.input();
  Strata strata(1 + std::max(1, input.num_groups()));
  if (!input.cluster().empty()) {
    strata = StrataOfClusters(input, ClustersOf(ranked));
  } else {
    for (int64_t i = 0; i < input.num_samples(); ++i) {
      std::vector<uint32_t>& stratum = strata[StratumOf(input, i)];
      stratum.insert(stratum.end(), ranked.weight(i), static_cast<uint32_t>(i));
    }
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

Replicates Bootstrap(const std::function<Statistics()>& make_statistics, const RankedInput& ranked,
                     const BootstrapOptions& options) {
  Replicates result;
  const int64_t num_samples = ranked.input().num_samples();
  const std::vector<std::vector<uint32_t>> clusters = ClustersOf(ranked);
  const Strata strata = StrataOf(ranked);
  std::vector<uint32_t> all(num_samples);
  for (int64_t i = 0; i < num_samples; ++i) all[i] = ranked.weight(i);
  result.estimate = make_statistics()(all);
  const int num_statistics = static_cast<int>(result.estimate.size());

  struct State {
    Statistics statistics;
    std::vector<uint32_t> weight;
    std::vector<uint32_t> of_cluster;  // how often each was drawn
  };
  const auto make_state = [&] {
    return State{make_statistics(), std::vector<uint32_t>(num_samples), std::vector<uint32_t>(clusters.size())};
  };

  result.values.assign(num_statistics, std::vector<std::optional<double>>(options.replicates));
  InParallel(options.threads, options.replicates, make_state, [&](State& state, int64_t replicate) {
    RandomStream random(options.seed, absl::StrCat("bootstrap/", replicate));
    std::fill(state.weight.begin(), state.weight.end(), 0);
    if (clusters.empty()) {
      DrawReplicate(strata, &random, &state.weight);
    } else {
      std::fill(state.of_cluster.begin(), state.of_cluster.end(), 0);
      DrawReplicate(strata, &random, &state.of_cluster);
      for (size_t c = 0; c < clusters.size(); ++c) {
        for (const uint32_t sample : clusters[c]) state.weight[sample] += state.of_cluster[c];
      }
    }
    const std::vector<MetricResult> values = state.statistics(state.weight);
    for (int s = 0; s < num_statistics; ++s) result.values[s][replicate] = values[s].value;
  });
  if (options.method != IntervalMethod::kBca) return result;

  result.jackknife = JackknifeOf(strata);
  result.left.assign(num_statistics, std::vector<std::optional<double>>(result.jackknife.size()));
  InParallel(options.threads, result.jackknife.size(), make_state, [&](State& state, int64_t i) {
    const LeaveOut& out = result.jackknife[i];
    const std::vector<uint32_t>& stratum = strata[out.stratum];
    state.weight = all;
    for (size_t member = out.part; member < stratum.size(); member += out.parts) {
      if (clusters.empty()) {
        --state.weight[stratum[member]];
      } else {
        for (const uint32_t sample : clusters[stratum[member]]) --state.weight[sample];
      }
    }
    const std::vector<MetricResult> values = state.statistics(state.weight);
    for (int s = 0; s < num_statistics; ++s) result.left[s][i] = values[s].value;
  });
  return result;
}

double Acceleration(absl::Span<const LeaveOut> jackknife, absl::Span<const std::optional<double>> values) {
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

IntervalValue IntervalOf(const MetricResult& estimate, absl::Span<const std::optional<double>> values,
                         absl::Span<const LeaveOut> jackknife, absl::Span<const std::optional<double>> left,
                         const BootstrapOptions& options, double* p_value, AdjustedInterval* adjusted) {
  IntervalValue interval;
  interval.absent_reason = estimate.absent_reason;
  if (!estimate.value.has_value()) return interval;
  std::vector<double> sorted;
  for (const std::optional<double>& value : values) {
    if (value.has_value()) sorted.push_back(*value);
  }
  const size_t undefined = values.size() - sorted.size();
  if (100 * undefined > values.size()) {
    interval.absent_reason = absl::StrCat("undefined in ", undefined, " of ", values.size(), " replicates");
    return interval;
  }
  std::sort(sorted.begin(), sorted.end());
  const double acceleration = options.method == IntervalMethod::kBca ? Acceleration(jackknife, left) : 0;
  const ReplicateInterval found =
      IntervalOfReplicates(sorted, *estimate.value, acceleration, options.method, options.confidence,
                           adjusted != nullptr ? adjusted->confidence : 0);
  interval.value = estimate.value;
  interval.low = found.low;
  interval.high = found.high;
  interval.standard_error = found.standard_error;
  interval.note = found.note;
  if (p_value != nullptr) *p_value = found.p_value;
  if (adjusted != nullptr) {
    adjusted->low = found.adjusted_low;
    adjusted->high = found.adjusted_high;
  }
  return interval;
}

void NoteNoWidth(IntervalValue* interval) {
  if (interval->value.has_value() && interval->low == interval->high) interval->note = "all replicates agree";
}

void WidenAtTheEdge(const MetricSpec& metric, const RankedInput& ranked, double confidence, IntervalValue* interval) {
  if (!interval->value.has_value() || interval->low != interval->high) return;
  NoteNoWidth(interval);
  if (!ranked.input().cluster().empty()) return;  // its trials would not be independent
  const std::optional<ExactInterval> exact = IntervalAtTheEdge(metric, ranked, *interval->value, confidence);
  if (!exact.has_value()) return;
  interval->low = exact->low;
  interval->high = exact->high;
  interval->note += ": Clopper-Pearson";
}

absl::StatusOr<std::vector<IntervalValue>> BootstrapIntervals(absl::Span<const MetricSpec> metrics,
                                                              const RankedInput& ranked,
                                                              const BootstrapOptions& options) {
  OPENSET_RETURN_IF_ERROR(CheckMetrics(metrics));
  OPENSET_RETURN_IF_ERROR(CheckOptions(options));
  const auto make_statistics = [&]() -> Statistics {
    std::vector<Metric> made;
    for (const MetricSpec& metric : metrics) made.push_back(MakeMetric(metric));
    return [made = std::move(made), weighted = ranked](absl::Span<const uint32_t> weight) mutable {
      weighted.Reweight(weight);
      std::vector<MetricResult> values;
      values.reserve(made.size());
      for (const Metric& metric : made) values.push_back(metric.compute(weighted));
      return values;
    };
  };
  const Replicates replicates = Bootstrap(make_statistics, ranked, options);
  std::vector<IntervalValue> intervals;
  for (size_t m = 0; m < metrics.size(); ++m) {
    const bool bca = options.method == IntervalMethod::kBca;
    IntervalValue interval =
        IntervalOf(replicates.estimate[m], replicates.values[m], replicates.jackknife,
                   bca ? absl::MakeConstSpan(replicates.left[m]) : absl::Span<const std::optional<double>>(), options);
    WidenAtTheEdge(metrics[m], ranked, options.confidence, &interval);
    intervals.push_back(std::move(interval));
  }
  return intervals;
}

namespace {

// The columns' values, column after column.
std::vector<MetricResult> ValuesOf(const GroupedValues& grouped) {
  std::vector<MetricResult> values;
  const auto add = [&values](const GroupValues& column) {
    for (const MetricValue& metric : column.values) {
      values.push_back(metric.value.has_value() ? MetricResult(*metric.value)
                                                : MetricResult::Absent(metric.absent_reason));
    }
  };
  absl::c_for_each(grouped.groups, add);
  absl::c_for_each(grouped.means, add);
  add(grouped.pool);
  return values;
}

}  // namespace

absl::StatusOr<std::vector<GroupInterval>> GroupIntervals(absl::Span<const MetricSpec> metrics,
                                                          const RankedInput& ranked, absl::Span<const Group> groups,
                                                          const BootstrapOptions& options) {
  OPENSET_RETURN_IF_ERROR(CheckOptions(options));
  OPENSET_ASSIGN_OR_RETURN(const GroupedValues grouped, EvaluateGroups(metrics, ranked, groups));
  std::vector<GroupInterval> columns;
  for (const GroupValues& group : grouped.groups) columns.push_back({group.name, {}});
  for (const GroupValues& mean : grouped.means) columns.push_back({mean.name, {}});
  columns.push_back({grouped.pool.name, {}});
  const auto make_statistics = [&]() -> Statistics {
    return [metrics, groups, weighted = ranked](absl::Span<const uint32_t> weight) mutable {
      weighted.Reweight(weight);
      return ValuesOf(*EvaluateGroups(metrics, weighted, groups));  // it succeeded above
    };
  };
  const Replicates replicates = Bootstrap(make_statistics, ranked, options);
  const bool bca = options.method == IntervalMethod::kBca;
  const size_t num_groups = grouped.groups.size();
  for (size_t c = 0; c < columns.size(); ++c) {
    const bool is_mean = c >= num_groups && c + 1 < columns.size();
    RankedInput of_column = ranked;
    if (c < num_groups) of_column.Reweight(WeightsOfGroup(ranked, static_cast<int32_t>(c)));
    for (size_t m = 0; m < metrics.size(); ++m) {
      const size_t s = c * metrics.size() + m;
      IntervalValue interval = IntervalOf(
          replicates.estimate[s], replicates.values[s], replicates.jackknife,
          bca ? absl::MakeConstSpan(replicates.left[s]) : absl::Span<const std::optional<double>>(), options);
      is_mean ? NoteNoWidth(&interval) : WidenAtTheEdge(metrics[m], of_column, options.confidence, &interval);
      columns[c].metrics.push_back(std::move(interval));
    }
  }
  return columns;
}

}  // namespace openset
