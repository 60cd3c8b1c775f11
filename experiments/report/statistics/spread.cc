#include "experiments/report/statistics/spread.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/text/suggest.h"
#include "eval/statistics/paired_tests.h"

namespace openset {

namespace {

std::optional<double> SpreadOf(double std, absl::Span<const double> values, absl::Span<const int> splits, int n,
                               Spread spread) {
  if (n < 2) return std::nullopt;
  switch (spread) {
    case Spread::kPopulation:
      return std;
    case Spread::kSample:
      return std * std::sqrt(n / (n - 1.0));
    case Spread::kInterval: {
      // The interval of the mean is that of its difference from 0.
      const std::vector<double> zeros(values.size(), 0);
      const absl::StatusOr<PairedTest> test = ComparePairedRuns(values, zeros, splits);
      if (!test.ok() || !test->p_value.has_value()) return std::nullopt;
      return (test->high - test->low) / 2;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> SpreadOf(const ReportCell& cell, Spread spread) {
  return SpreadOf(cell.std, cell.values, cell.splits, cell.n, spread);
}

std::optional<double> SpreadOf(absl::Span<const double> values, absl::Span<const int> splits, Spread spread) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) squares += (value - sum / n) * (value - sum / n);
  return SpreadOf(std::sqrt(squares / n), values, splits, static_cast<int>(values.size()), spread);
}

std::string SpreadText(Spread spread) {
  switch (spread) {
    case Spread::kPopulation:
      return "population standard deviation over splits and seeds";
    case Spread::kSample:
      return "sample standard deviation over splits and seeds";
    case Spread::kInterval:
      return "half of the 95 % interval of the mean (Student's t over splits, or over seeds with one split)";
  }
  return "";
}

std::string BandText(Spread spread) {
  return spread == Spread::kInterval ? "mean, in its 95 % interval (Student's t)"
                                     : absl::StrCat("mean ± ", SpreadText(spread));
}

absl::StatusOr<Spread> ParseSpread(const std::string& name) {
  if (name == "population") return Spread::kPopulation;
  if (name == "sample") return Spread::kSample;
  if (name == "interval") return Spread::kInterval;
  return absl::InvalidArgumentError(UnknownName("spread", name, {"population", "sample", "interval"}));
}

}  // namespace openset
