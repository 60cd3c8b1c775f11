#include "experiments/report/statistics/spread.h"

#include <cmath>
#include <vector>

#include "core/text/suggest.h"
#include "eval/statistics/paired_tests.h"

namespace openset {

std::optional<double> SpreadOf(const ReportCell& cell, Spread spread) {
  if (cell.n < 2) return std::nullopt;
  switch (spread) {
    case Spread::kPopulation:
      return cell.std;
    case Spread::kSample:
      return cell.std * std::sqrt(cell.n / (cell.n - 1.0));
    case Spread::kInterval: {
      // The interval of the mean is that of its difference from 0.
      const std::vector<double> zeros(cell.values.size(), 0);
      const absl::StatusOr<PairedTest> test = ComparePairedRuns(cell.values, zeros, cell.splits);
      if (!test.ok() || !test->p_value.has_value()) return std::nullopt;
      return (test->high - test->low) / 2;
    }
  }
  return std::nullopt;
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

absl::StatusOr<Spread> ParseSpread(const std::string& name) {
  if (name == "population") return Spread::kPopulation;
  if (name == "sample") return Spread::kSample;
  if (name == "interval") return Spread::kInterval;
  return absl::InvalidArgumentError(UnknownName("spread", name, {"population", "sample", "interval"}));
}

}  // namespace openset
