// The small forms of the papers' studies, end to end: every method has its numbers, and these have learned something.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

struct Range {
  double low, high;
};

// Where a study was run once: openauc_table_2_small had accuracies of 0.64 to 0.86 and AUROCs of 0.58 to 0.67 (Softmax,
// GCPL, RPL, ARPL+CS; chance: 1/6 and 1/2).
struct SmallStudy {
  std::string name;
  int methods;
  // Of the mean over methods (and swept values) of a metric on the pool.
  std::map<std::string, Range> means;
};

class SmallStudyTest : public ::testing::TestWithParam<SmallStudy> {};

TEST_P(SmallStudyTest, ShowsAllMethodsAndTheyHaveLearned) {
  const SmallStudy& study = GetParam();
  const OpensetProgram program;
  const ProgramResult result = program.Run({"run", study.name});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json report =
      nlohmann::json::parse(program.Read(absl::StrCat("openset-store/reports/", study.name, "/report.json")));
  EXPECT_EQ(report.at("missing"), 0);
  std::set<std::string> methods;
  std::map<std::string, std::vector<double>> values;
  for (const nlohmann::json& cell : report.at("cells")) {
    methods.insert(cell.at("method").get<std::string>());
    if (cell.at("group") == "pool" && !cell.at("mean").is_null()) {
      values[cell.at("metric").get<std::string>()].push_back(cell.at("mean"));
    }
    EXPECT_THAT(result.out, HasSubstr(cell.at("method").get<std::string>()));
  }
  EXPECT_EQ(static_cast<int>(methods.size()), study.methods);
  for (const auto& [metric, range] : study.means) {
    double sum = 0;
    for (const double value : values[metric]) sum += value;
    const double mean = sum / static_cast<double>(values[metric].size());
    EXPECT_GT(mean, range.low) << metric;
    EXPECT_LT(mean, range.high) << metric;
  }
  // The objective falls from the first epoch to the last, in the mean over all trainings.
  double first = 0, last = 0;
  for (const nlohmann::json& trial : report.at("results")) {
    if (trial.at("curve").empty()) continue;
    first += trial.at("curve").front().at("loss").get<double>();
    last += trial.at("curve").back().at("loss").get<double>();
  }
  EXPECT_LT(last, first);
}

INSTANTIATE_TEST_SUITE_P(
    Papers, SmallStudyTest,
    ::testing::Values(SmallStudy{"openauc_table_2_small", 8, {{"accuracy", {0.5, 0.95}}, {"auroc", {0.55, 0.85}}}},
                      SmallStudy{"openauc_tables_4_5_small", 7, {}}, SmallStudy{"openauc_lambda_small", 2, {}},
                      SmallStudy{"imbalance_table_1_small", 8, {}}, SmallStudy{"imbalance_figure_6_small", 4, {}},
                      SmallStudy{"unified_benchmark_table_6_small", 11, {}},
                      SmallStudy{"unified_benchmark_table_7_small", 11, {}}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace openset
