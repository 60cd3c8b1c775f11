#include "tools/cli/records/difference_size.h"

#include <cmath>
#include <cstring>
#include <map>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "data/task.pb.h"
#include "eval/statistics/intervals.h"
#include "experiments/report/report.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {
namespace {

constexpr int kFewestRuns = 3;
constexpr double kLevel = 0.05;

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

double SquaresAboutMean(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  for (const double value : values) {
    const double d = value - sum / static_cast<double>(values.size());
    squares += d * d;
  }
  return squares;
}

// The verdict on a change of this size, which is not 0.
MetricVerdict Judge(const std::string& name, double change, const std::map<int, std::vector<double>>& by_split) {
  std::vector<double> all;
  double within = 0;
  for (const auto& [split, values] : by_split) {
    all.insert(all.end(), values.begin(), values.end());
    within += SquaresAboutMean(values);
  }
  const int runs = static_cast<int>(all.size()), splits = static_cast<int>(by_split.size());
  const std::string changed = absl::StrFormat(": changed by %+.2g, ", change);
  if (runs < kFewestRuns) {
    return {name, Reproduced::kNotJudged,
            absl::StrCat(VerdictText(Reproduced::kNotJudged), changed, "only ", runs,
                         runs == 1 ? " stored run" : " stored runs", " of this method to compare it with")};
  }
  const bool over_seeds = runs - splits >= 2;
  const int freedom = over_seeds ? runs - splits : runs - 1;
  const double deviation = std::sqrt((over_seeds ? within : SquaresAboutMean(all)) / freedom);
  const std::string of = absl::StrFormat("the standard deviation %s (%.2g; %d runs on %d split%s)",
                                         over_seeds ? "over seeds of a split" : "over splits and seeds", deviation,
                                         runs, splits, splits == 1 ? "" : "s");
  const bool is_within = std::abs(change) <= StudentTTwoSidedQuantile(kLevel, freedom) * std::sqrt(2.0) * deviation;
  const Reproduced verdict = is_within ? Reproduced::kWithinSpread : Reproduced::kDifferent;
  constexpr double kLittle = 0.01;
  const double times = std::abs(change) / deviation;
  const std::string size = deviation == 0    ? absl::StrCat("while stored runs don't vary: ", of)
                           : times < kLittle ? absl::StrFormat("less than %g times %s", kLittle, of)
                                             : absl::StrFormat("%.2g times %s", times, of);
  return {name, verdict, absl::StrCat(VerdictText(verdict), changed, size)};
}

}  // namespace

std::vector<MetricVerdict> CompareAgain(const TrialRecord& record, const TrialRecord& again,
                                        absl::Span<const TrialRecord> stored) {
  std::vector<MetricVerdict> verdicts;
  for (const MetricRecord& metric : record.metric()) {
    const std::string name = MeasuredNameInGroup(metric);
    const std::optional<double> before = ValueOf(record, name), now = ValueOf(again, name);
    if (before.has_value() != now.has_value()) {
      verdicts.push_back({name, Reproduced::kDifferent,
                          absl::StrCat(VerdictText(Reproduced::kDifferent), ": undefined in ",
                                       now.has_value() ? "the record" : "this run")});
      continue;
    }
    if (!before.has_value() || std::memcmp(&*before, &*now, sizeof(*before)) == 0) {
      verdicts.push_back({name, Reproduced::kSameBits, VerdictText(Reproduced::kSameBits)});
      continue;
    }
    std::map<int, std::vector<double>> by_split;
    for (const TrialRecord& other : stored) {
      if (!IsOfTheSameRow(record.trial(), other.trial())) continue;
      if (const std::optional<double> value = ValueOf(other, name); value.has_value()) {
        by_split[other.trial().split()].push_back(*value);
      }
    }
    verdicts.push_back(Judge(name, *now - *before, by_split));
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
      return "other bits, and too few runs to judge";
  }
  return "";
}

}  // namespace openset
