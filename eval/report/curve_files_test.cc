#include "eval/report/curve_files.h"

#include <map>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

struct Arrays {
  std::vector<double> score;
  std::vector<int32_t> prediction, label;
  std::vector<float> logits;

  std::map<std::string, std::string> Files() const {
    EvaluationInput::Arrays arrays;
    arrays.unknown_score = score;
    arrays.prediction = prediction;
    arrays.label = label;
    arrays.num_classes = 2;
    arrays.logits = logits;
    arrays.num_outputs = 2;
    std::map<std::string, std::string> files;
    for (auto& [name, content] : CurveFiles(RankedInput(*EvaluationInput::Create(arrays)), "title", "<summary>")) {
      files[name] = content;
    }
    return files;
  }
};

TEST(CurveFiles, Values) {
  // By score: right, unknown, wrong.
  const auto files = Arrays{{0.25, 0.5, 1}, {0, 1, 1}, {0, -1, 0}, {}}.Files();
  EXPECT_EQ(files.at("oscr.csv"),
            "threshold,unknown_accepted,known_accepted_and_right\n-inf,0,0\n0.25,0,0.5\n0.5,1,0.5\n1,1,0.5\n");
  EXPECT_EQ(files.at("risk_coverage.csv"), "threshold,coverage,risk\n0.25,0.5,0\n1,1,0.5\n");
  EXPECT_THAT(files.at("thresholds.csv"), HasSubstr("\n0.25,1,0.5,"));
  EXPECT_THAT(files.at("index.html"), HasSubstr("&lt;summary&gt;"));
  EXPECT_EQ(files.count("reliability.csv"), 0);
}

TEST(CurveFiles, WhatIsUndefinedIsLeftOut) {
  const auto known = Arrays{{1, 2}, {0, 1}, {0, 1}, {3, 0, 0, 3}}.Files();
  EXPECT_EQ(known.count("roc.csv") + known.count("oscr.csv") + known.count("thresholds.csv") +
                known.count("risk_coverage_pool.csv"),
            0);
  EXPECT_EQ(known.count("reliability.svg"), 1);
  EXPECT_EQ(known.count("risk_coverage.svg"), 1);
  const auto unknown = Arrays{{1, 1}, {0, 1}, {-1, -1}, {}}.Files();
  EXPECT_EQ(unknown.count("risk_coverage.csv"), 0);
  EXPECT_EQ(unknown.count("score_densities.svg"), 1);
}

}  // namespace
}  // namespace openset
