#include "tools/cli/records/difference_size.h"

#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "data/task.pb.h"
#include "eval/statistics/intervals.h"
#include "eval/statistics/paired_tests.h"
#include "experiments/report/report.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/merge.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {
namespace {

constexpr int kFewestRuns = 3;
constexpr double kLevel = 0.05;
constexpr double kMostTimes = 4;  // standard deviations of a run

// The key of a trial without split and seed.
bool IsOfTheSameRow(const TrialSpec& a, const TrialSpec& b) {
  return a.experiment() == b.experiment() && RowName(a) == RowName(b) && LevelOf(a) == LevelOf(b) &&
         (a.data().test_known().only_last_per_class() > 0) == (b.data().test_known().only_last_per_class() > 0);
}

std::optional<double> ValueOf(const TrialRecord& record, const std::string& name) {
  for (const MetricRecord& metric : record.metric()) {
    if (metric.has_value() && MeasuredNameInGroup(metric) == name) return metric.value();
  }
  return std::nullopt;
}

std::string ChangeText(double change) { return absl::StrFormat("changed by %+.2g", change); }

double SquaresAboutMean(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  for (const double value : values) {
    const double d = value - sum / static_cast<double>(values.size());
    squares += d * d;
  }
  return squares;
}

// A change, which is not 0, against the values of other runs.
struct Judgement {
  double p_value = 0;  // of a change at least as large between two runs
  double deviation = 0;
  int freedom = 0;
  double times = 0;  // the change in standard deviations
  std::string text;  // "changed by +0.01, 0.71 times the standard deviation ..."
};

// The values are by split. Absent if they are too few, or don't vary.
std::optional<Judgement> Judge(double change, const std::map<int, std::vector<double>>& by_split) {
  std::vector<double> all;
  double within = 0;
  for (const auto& [split, values] : by_split) {
    all.insert(all.end(), values.begin(), values.end());
    within += SquaresAboutMean(values);
  }
  const int runs = static_cast<int>(all.size()), splits = static_cast<int>(by_split.size());
  if (runs < kFewestRuns || absl::c_all_of(all, [&](double value) { return value == all[0]; })) return std::nullopt;
  const bool over_seeds = runs - splits >= 2;
  const int freedom = over_seeds ? runs - splits : runs - 1;
  const double deviation = std::sqrt((over_seeds ? within : SquaresAboutMean(all)) / freedom);
  const std::string of = absl::StrFormat("the standard deviation %s (%.2g; %d other runs on %d split%s)",
                                         over_seeds ? "over seeds of a split" : "over splits and seeds", deviation,
                                         runs, splits, splits == 1 ? "" : "s");
  constexpr double kLittle = 0.01;
  const double times = std::abs(change) / deviation;
  const std::string size = times < kLittle ? absl::StrFormat("less than %g times %s", kLittle, of)
                                           : absl::StrFormat("%.2g times %s", times, of);
  return Judgement{StudentTTwoSidedTail(times / std::sqrt(2.0), freedom), deviation, freedom, times,
                   absl::StrCat(ChangeText(change), ", ", size)};
}

bool SameOutputs(const TrialRecord& a, const TrialRecord& b) {
  return a.has_outputs_sha256() && a.outputs_sha256() == b.outputs_sha256() &&
         a.fit_outputs_sha256() == b.fit_outputs_sha256();
}

// The values of other trials of the row, by split.
std::map<int, std::vector<double>> ValuesOfOthers(const TrialSpec& trial, const std::string& metric,
                                                  absl::Span<const TrialRecord> stored) {
  std::map<int, std::vector<double>> by_split;
  for (const TrialRecord& other : stored) {
    const bool is_it = other.trial().split() == trial.split() && other.trial().seed() == trial.seed();
    if (is_it || !IsOfTheSameRow(trial, other.trial())) continue;
    if (const std::optional<double> value = ValueOf(other, metric); value.has_value()) {
      by_split[other.trial().split()].push_back(*value);
    }
  }
  return by_split;
}

}  // namespace

bool OnTheSameKindOfCpu(const TrialRecord& a, const TrialRecord& b) {
  const auto uses_gpu = [](const StageProvenance& stage) { return !stage.gpu().empty(); };
  const std::string kind = KindOfMachine(a);
  return !kind.empty() && kind == KindOfMachine(b) && absl::c_none_of(a.provenance().stage(), uses_gpu) &&
         absl::c_none_of(b.provenance().stage(), uses_gpu);
}

std::vector<MetricVerdict> CompareAgain(const TrialRecord& record, const TrialRecord& again,
                                        absl::Span<const TrialRecord> stored) {
  std::vector<MetricVerdict> verdicts;
  std::vector<std::pair<size_t, double>> changed;  // verdicts that are still open, and their changes
  int same = 0;
  const auto set = [&](size_t v, Reproduced reproduced, const std::string& text) {
    verdicts[v].reproduced = reproduced;
    verdicts[v].text = absl::StrCat(VerdictText(reproduced), text.empty() ? "" : ": ", text);
  };
  for (const MetricRecord& metric : record.metric()) {
    const std::string name = MeasuredNameInGroup(metric);
    const std::optional<double> before = ValueOf(record, name), now = ValueOf(again, name);
    verdicts.push_back({name, Reproduced::kSameBits, ""});
    if (before.has_value() != now.has_value()) {
      set(verdicts.size() - 1, Reproduced::kDifferent,
          absl::StrCat("undefined in ", now.has_value() ? "the record" : "this run"));
    } else if (!before.has_value() || std::memcmp(&*before, &*now, sizeof(*before)) == 0) {
      set(verdicts.size() - 1, Reproduced::kSameBits, "");
      same += before.has_value();
    } else {
      changed.emplace_back(verdicts.size() - 1, *now - *before);
    }
  }
  // Other rounding changes the outputs, and so more than one metric.
  const std::string why = SameOutputs(record, again) ? "although the outputs have the same bits"
                          : changed.size() == 1 && same > 0 && OnTheSameKindOfCpu(record, again)
                              ? "although all other metrics have the same bits, on the same kind of CPU"
                              : "";
  std::vector<std::pair<size_t, Judgement>> judged;
  for (const auto& [v, change] : changed) {
    if (!why.empty()) {
      set(v, Reproduced::kDifferent, absl::StrCat(ChangeText(change), ", ", why));
      continue;
    }
    const auto others = ValuesOfOthers(record.trial(), verdicts[v].metric, stored);
    if (std::optional<Judgement> judgement = Judge(change, others); judgement.has_value()) {
      judged.emplace_back(v, *std::move(judgement));
      continue;
    }
    size_t runs = 0;
    for (const auto& [split, values] : others) runs += values.size();
    const char* noun = runs == 1 ? " other stored run" : " other stored runs";
    set(v, Reproduced::kNotJudged,
        absl::StrCat(ChangeText(change), runs < kFewestRuns
                                             ? absl::StrCat(", only ", runs, noun, " of this method to compare it with")
                                             : absl::StrCat(", and the ", runs, noun, " of this method don't vary")));
  }
  std::vector<double> p_values;
  for (const auto& [v, judgement] : judged) p_values.push_back(judgement.p_value);
  const std::vector<double> adjusted = HolmAdjusted(p_values);
  for (size_t j = 0; j < judged.size(); ++j) {
    const auto& [v, judgement] = judged[j];
    if (adjusted[j] < kLevel) {
      set(v, Reproduced::kDifferent, judgement.text);
      continue;
    }
    // At the first of Holm's levels.
    const double limit = StudentTTwoSidedQuantile(kLevel / static_cast<double>(judged.size()), judgement.freedom) *
                         std::sqrt(2.0) * judgement.deviation;
    set(v, judgement.times <= kMostTimes ? Reproduced::kWithinSpread : Reproduced::kNotJudged,
        absl::StrFormat("%s; from %.2g on it would be different", judgement.text, limit));
  }
  return verdicts;
}

Reproduced VerdictOnAll(absl::Span<const MetricVerdict> verdicts) {
  for (const Reproduced worst : {Reproduced::kDifferent, Reproduced::kNotJudged, Reproduced::kWithinSpread}) {
    if (absl::c_any_of(verdicts, [&](const MetricVerdict& verdict) { return verdict.reproduced == worst; })) {
      return worst;
    }
  }
  return Reproduced::kSameBits;
}

std::string VerdictText(Reproduced reproduced) {
  switch (reproduced) {
    case Reproduced::kSameBits:
      return "same bits";
    case Reproduced::kWithinSpread:
      return "same within the seed's spread";
    case Reproduced::kDifferent:
      return "different";
    case Reproduced::kNotJudged:
      return "other bits, not judged";
  }
  return "";
}

}  // namespace openset
