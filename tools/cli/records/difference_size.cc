#include "tools/cli/records/difference_size.h"

#include <cmath>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "data/task.pb.h"
#include "experiments/report/report.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {
namespace {

constexpr int kFewestRuns = 3;

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

// "0.12 times the standard deviation ..." for a change of this size.
std::string SizeText(double change, const std::map<int, std::vector<double>>& by_split) {
  std::vector<double> all;
  double within = 0;
  for (const auto& [split, values] : by_split) {
    all.insert(all.end(), values.begin(), values.end());
    within += SquaresAboutMean(values);
  }
  const int runs = static_cast<int>(all.size()), splits = static_cast<int>(by_split.size());
  if (runs < kFewestRuns) {
    return absl::StrCat("only ", runs, runs == 1 ? " stored run" : " stored runs",
                        " of this method to compare it with");
  }
  const bool over_seeds = runs - splits >= 2;
  const double deviation = std::sqrt(over_seeds ? within / (runs - splits) : SquaresAboutMean(all) / (runs - 1));
  const std::string of = absl::StrFormat("the standard deviation %s (%.2g; %d runs on %d split%s)",
                                         over_seeds ? "over seeds of a split" : "over splits and seeds", deviation,
                                         runs, splits, splits == 1 ? "" : "s");
  if (deviation == 0) return absl::StrCat("while stored runs don't vary: ", of);
  constexpr double kLittle = 0.01;
  return change < kLittle * deviation ? absl::StrFormat("less than %g times %s", kLittle, of)
                                      : absl::StrFormat("%.2g times %s", change / deviation, of);
}

}  // namespace

std::vector<std::string> DifferenceSizeLines(const TrialRecord& record, const TrialRecord& again,
                                             absl::Span<const TrialRecord> stored) {
  std::vector<std::string> lines;
  for (const MetricRecord& metric : record.metric()) {
    const std::string name = MeasuredNameInGroup(metric);
    const std::optional<double> now = ValueOf(again, name);
    if (!metric.has_value() || !now.has_value() || *now == metric.value()) continue;
    std::map<int, std::vector<double>> by_split;
    for (const TrialRecord& other : stored) {
      if (!IsOfTheSameRow(record.trial(), other.trial())) continue;
      if (const std::optional<double> value = ValueOf(other, name); value.has_value()) {
        by_split[other.trial().split()].push_back(*value);
      }
    }
    const double change = *now - metric.value();
    lines.push_back(absl::StrFormat("%s: changed by %+.2g, %s", name, change, SizeText(std::abs(change), by_split)));
  }
  return lines;
}

}  // namespace openset
