#include "eval/report/cost_map.h"

#include <algorithm>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/testing/status_matchers.h"
#include "eval/testing/golden.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

// 100 known and 100 unknown samples of one class. Of the known ones, the first `known_at_0` have a score of 0, of the
// unknown ones the first `unknown_at_0`; the others have 1.
struct Method : Samples {
  Method(int known_at_0, int unknown_at_0) {
    prediction.assign(200, 0);
    for (int i = 0; i < 200; ++i) {
      label.push_back(i < 100 ? 0 : kUnknownLabel);
      unknown_score.push_back(i < 100 ? i >= known_at_0 : i - 100 >= unknown_at_0);
    }
  }

  RankedInput Ranked() const { return RankedInput(Input()); }
};

SampleComparison Compared(const std::vector<MetricSpec>& metrics, const std::vector<std::string>& names,
                          const std::vector<const RankedInput*>& methods) {
  BootstrapOptions options;
  options.replicates = 200;
  return CompareOnSamples(metrics, names, methods, options).value();
}

// Rows of cells in a CSV, by prevalence, cost and method: the fields after these.
std::map<std::string, std::vector<std::string>> RowsOf(const std::string& csv) {
  std::map<std::string, std::vector<std::string>> rows;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(csv, '\n', absl::SkipEmpty()))) {
    std::vector<std::string> fields = absl::StrSplit(line, ',');
    const std::string key = absl::StrCat(fields[0], " ", fields[1], " ", fields[2]);
    rows[key].assign(fields.begin() + 3, fields.end());
  }
  return rows;
}

double Number(const std::string& text) {
  double value = 0;
  EXPECT_TRUE(absl::SimpleAtod(text, &value)) << text;
  return value;
}

// "few_alarms" rejects 60 of 100 unknown samples and no known one; "few_misses" rejects all unknown ones, and 40 known
// ones. With k = cost p / (1 - p), they cost 1 - p times min(0.4 k, 1) and min(0.4, k): the first is the better one
// below k = 1, and both are the same at k = 1.
TEST(CostMap, ShowsWhereEachMethodIsBest) {
  const Method few_alarms(100, 40), few_misses(60, 0);
  const RankedInput a = few_alarms.Ranked(), b = few_misses.Ranked();
  const SampleComparison comparison = Compared(CostMapMetrics({}), {"few_alarms", "few_misses"}, {&a, &b});
  const auto rows = RowsOf(FormatCostMap(comparison, TextFormat::kCsv));
  ASSERT_EQ(rows.size(), 1 + CostMapPrevalences().size() * CostMapCosts().size() * 2);
  int undecided = 0, ties = 0;
  for (const double p : CostMapPrevalences()) {
    for (const double c : CostMapCosts()) {
      const double k = c * p / (1 - p), first = (1 - p) * std::min(0.4 * k, 1.0), second = (1 - p) * std::min(0.4, k);
      const std::string cell = absl::StrCat(p, " ", c, " ");
      SCOPED_TRACE(cell);
      const std::vector<std::string>&of_a = rows.at(cell + "few_alarms"), &of_b = rows.at(cell + "few_misses");
      EXPECT_NEAR(Number(of_a[0]), first, 1e-12);
      EXPECT_NEAR(Number(of_b[0]), second, 1e-12);
      const std::vector<std::string>& worse = first < second ? of_b : of_a;
      const std::vector<std::string>& best = first < second ? of_a : of_b;
      // A share of 0.4 of 100 samples has a standard error of 0.05.
      if (k < 0.5 || k > 2) {
        EXPECT_EQ(best[1], "best");
        EXPECT_EQ(worse[1], "worse");
        EXPECT_LT(Number(worse[5]), 0.05);
        EXPECT_LT(Number(worse[4]), 0);  // the interval of the best one's cost less this one's
      } else if (k == 1) {
        EXPECT_EQ(best[1], "equal");
        ++ties;
      } else if (k > 0.9 && k < 1.2) {
        EXPECT_EQ(best[1], "least");
        EXPECT_EQ(worse[1], "undecided");
        ++undecided;
      }
      if (best[1] != "equal") {
        EXPECT_NEAR(Number(worse[2]), std::min(first, second) - std::max(first, second), 1e-12);
      }
    }
  }
  EXPECT_EQ(ties, 1);  // prevalence 0.5, cost 1
  EXPECT_GT(undecided, 2);
  const std::string text = FormatCostMap(comparison, TextFormat::kText);
  for (const char* line : {"A: few_alarms", "B: few_misses", "undecided", "A is best in ", "the same cost in 1"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    std::vector<std::string> cells = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (cells.empty() || cells[0] != "0.5") continue;
    EXPECT_EQ(cells[1], "=");
    EXPECT_EQ(cells.back(), "B");
  }
}

// A cell has the same numbers as a comparison by its metric alone.
TEST(CostMap, ACellIsAComparison) {
  const Method one(90, 30), two(80, 20), three(70, 60);
  const RankedInput a = one.Ranked(), b = two.Ranked(), c = three.Ranked();
  ExpectedCostSpec errors;
  errors.set_error_cost(3);
  const auto rows =
      RowsOf(FormatCostMap(Compared(CostMapMetrics(errors), {"one", "two", "three"}, {&a, &b, &c}), TextFormat::kCsv));
  MetricSpec metric;
  *metric.mutable_expected_cost() = errors;
  metric.mutable_expected_cost()->set_prevalence(0.2);
  metric.mutable_expected_cost()->set_unknown_cost(5);
  const SampleComparison alone = Compared({metric}, {"one", "two", "three"}, {&a, &b, &c});
  ASSERT_EQ(alone.rows.size(), 3);
  EXPECT_EQ(Number(rows.at("0.2 5 one")[0]), *alone.rows[0].value_a);
  EXPECT_EQ(Number(rows.at("0.2 5 two")[0]), *alone.rows[0].value_b);
  EXPECT_EQ(Number(rows.at("0.2 5 three")[0]), *alone.rows[1].value_b);
  ASSERT_LT(*alone.rows[0].value_b, *alone.rows[0].value_a);  // "two" is the best one
  ASSERT_LT(*alone.rows[0].value_b, *alone.rows[1].value_b);
  EXPECT_EQ(Number(rows.at("0.2 5 one")[2]), -*alone.rows[0].difference);
  EXPECT_EQ(Number(rows.at("0.2 5 one")[3]), -alone.rows[0].adjusted.high);
  EXPECT_EQ(Number(rows.at("0.2 5 one")[4]), -alone.rows[0].adjusted.low);
  EXPECT_EQ(Number(rows.at("0.2 5 one")[5]), alone.rows[0].adjusted_p_value);
  EXPECT_EQ(Number(rows.at("0.2 5 three")[2]), *alone.rows[2].difference);
  EXPECT_EQ(rows.at("0.2 5 two")[2], "");
}

TEST(CostMap, IsJson) {
  const Method one(90, 30), two(80, 20), three(70, 60);
  const RankedInput a = one.Ranked(), b = two.Ranked(), c = three.Ranked();
  const nlohmann::json json = nlohmann::json::parse(
      FormatCostMap(Compared(CostMapMetrics({}), {"one", "two", "three"}, {&a, &b, &c}), TextFormat::kJson));
  ASSERT_EQ(json.at("cells").size(), 90);
  const nlohmann::json& cell = json.at("cells")[0];
  EXPECT_EQ(cell.at("prevalence"), 0.001);
  EXPECT_EQ(cell.at("unknown_cost"), 1);
  ASSERT_EQ(cell.at("methods").size(), 3);
  EXPECT_EQ(cell.at("methods")[0].at("method"), "one");
  EXPECT_NEAR(cell.at("methods")[0].at("expected_cost"), 0.001, 1e-12);  // everything is accepted
  EXPECT_EQ(cell.at("methods")[0].at("verdict"), "equal");
}

// Of known samples alone.
TEST(CostMap, SaysWhyThereIsNoCost) {
  EvaluationInput::Arrays arrays;
  const std::vector<double> score = {0, 1};
  const std::vector<int32_t> label = {0, 0};
  arrays.unknown_score = score;
  arrays.label = label;
  arrays.num_classes = 1;
  const RankedInput a(*EvaluationInput::Create(arrays)), b(*EvaluationInput::Create(arrays));
  const SampleComparison comparison = Compared(CostMapMetrics({}), {"a", "b"}, {&a, &b});
  EXPECT_THAT(FormatCostMap(comparison, TextFormat::kMarkdown), HasSubstr("-: no cost: "));
  EXPECT_THAT(FormatCostMap(comparison, TextFormat::kCsv), HasSubstr("0.001,1,a,,absent"));
}

}  // namespace
}  // namespace openset
