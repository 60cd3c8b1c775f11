#include "eval/report/curve_files.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

TEST(RocPlot, OverlaysMethodsAndChance) {
  const Plot plot = RocPlot({{"a", {{0, 0}, {1, 1}}}, {"b", {{0, 0.5}, {1, 1}}}});
  ASSERT_EQ(plot.series.size(), 3);
  EXPECT_EQ(plot.series[1].name, "b");
  EXPECT_NE(plot.series[0].color, plot.series[1].color);
  EXPECT_EQ(plot.series[2].name, "by chance");
  EXPECT_EQ(plot.x_high, 1);
}

TEST(OscrPlot, TellsMoreLinesThanColoursApart) {
  const Plot plot = OscrPlot(std::vector<NamedCurve>(9, {"m", {{0, 0}, {1, 1}}}));
  EXPECT_FALSE(plot.series[1].dashed);
  EXPECT_EQ(plot.series[8].color, plot.series[1].color);
  EXPECT_TRUE(plot.series[8].dashed);
}

TEST(RiskCoveragePlot, ScalesTheRisk) {
  EXPECT_EQ(RiskCoveragePlot({}, RiskSamples::KNOWN).y_high, 0);
  EXPECT_EQ(RiskCoveragePlot({}, RiskSamples::POOL).y_label, "wrong or unknown among them");
}

// Two bins of width 2; one of four samples is outside.
TEST(DensityPlot, HasTheShareOfSamplesAsArea) {
  const Plot plot = DensityPlot("Scores", 0, 4, {{"known", {2, 1}, 4, 0}, {"none", {0, 0}, 0, 1}});
  ASSERT_EQ(plot.series.size(), 1);
  EXPECT_THAT(plot.series[0].points, ElementsAre(Pair(0, 0.25), Pair(2, 0.25), Pair(2, 0.125), Pair(4, 0.125)));
  EXPECT_EQ(plot.x_label, "unknown score (1 of 4 samples lie outside)");
  EXPECT_THAT(DensityPlot("", 3, 3, {{"known", {4}, 4, 0}}).series[0].points, ElementsAre(Pair(3, 1), Pair(3, 1)));
}

// By score: a right, an unknown, a wrong and an unknown sample, of two classes.
class ThresholdCurvesTest : public ::testing::Test {
 protected:
  RankedInput Ranked() const {
    EvaluationInput::Arrays arrays;
    arrays.unknown_score = score_;
    arrays.prediction = prediction_;
    arrays.label = label_;
    arrays.num_classes = 2;
    return RankedInput(*EvaluationInput::Create(arrays));
  }

  const std::vector<double> score_ = {1, 2, 3, 4};
  const std::vector<int32_t> prediction_ = {0, 1, 0, 0}, label_ = {0, -1, 1, -1};
};

TEST_F(ThresholdCurvesTest, NaccByRates) {
  const ThresholdCurves curves = MakeThresholdCurves(Ranked(), 100);
  ASSERT_EQ(curves.table.rows.size(), 5);
  ASSERT_EQ(curves.table.header.back(), "nacc_rates");
  // Half of: known samples accepted and right, unknown ones rejected.
  const double expected[] = {(0 + 1) / 2.0, (0.5 + 1) / 2, (0.5 + 0.5) / 2, (0.5 + 0.5) / 2, (0.5 + 0) / 2};
  for (int i = 0; i < 5; ++i) {
    double value = 0;
    ASSERT_TRUE(absl::SimpleAtod(curves.table.rows[i].back(), &value));
    EXPECT_DOUBLE_EQ(value, expected[i]);
  }
  EXPECT_EQ(curves.table.rows[0][0], "-inf");
  EXPECT_EQ(curves.table.rows[2][1], "0.5");  // unknown_rejected
  EXPECT_EQ(curves.plot.series.size(), 6);
}

TEST_F(ThresholdCurvesTest, ThinnedToTheRowsAskedFor) {
  const ThresholdCurves curves = MakeThresholdCurves(Ranked(), 3);
  ASSERT_EQ(curves.table.rows.size(), 3);
  EXPECT_EQ(curves.table.rows[0][0], "-inf");
  EXPECT_EQ(curves.table.rows[2][0], "4");
}

struct Arrays {
  std::vector<double> score;
  std::vector<int32_t> prediction, label;
  std::vector<float> logits;

  CurveFiles Files() const {
    EvaluationInput::Arrays arrays;
    arrays.unknown_score = score;
    arrays.prediction = prediction;
    arrays.label = label;
    arrays.num_classes = 2;
    arrays.logits = logits;
    arrays.num_outputs = 2;
    return MakeCurveFiles(RankedInput(*EvaluationInput::Create(arrays)), "title", "<summary>").value();
  }
};

TEST(CurveFiles, Values) {
  // By score: right, unknown, wrong.
  const auto files = Arrays{{0.25, 0.5, 1}, {0, 1, 1}, {0, -1, 0}, {}}.Files().files;
  EXPECT_EQ(files.at("oscr.csv"),
            "threshold,unknown_accepted,known_accepted_and_right\n-inf,0,0\n0.25,0,0.5\n0.5,1,0.5\n1,1,0.5\n");
  EXPECT_EQ(files.at("risk_coverage.csv"), "threshold,coverage,risk\n0.25,0.5,0\n1,1,0.5\n");
  EXPECT_THAT(files.at("thresholds.csv"), HasSubstr("\n0.25,1,0.5,"));
  EXPECT_THAT(files.at("index.html"), HasSubstr("&lt;summary&gt;"));
  EXPECT_EQ(files.count("reliability.csv"), 0);
}

TEST(CurveFiles, OfSeveralMethodsInOnePicture) {
  // By score: right, unknown, wrong; and of scores alone unknown, known, known.
  const std::vector<double> score_a = {0.25, 0.5, 1}, score_b = {2, 1, 3};
  const std::vector<int32_t> prediction = {0, 1, 1}, label = {0, -1, 0};
  const RankedInput a(*EvaluationInput::Create({score_a, prediction, label, 2}));
  const RankedInput b(*EvaluationInput::Create({score_b, {}, label, 2}));
  const std::vector<RankedMethod> methods = {{"a", &a}, {"b", &b}};
  ASSERT_OK_AND_ASSIGN(const CurveFiles made, MakeOverlaidCurveFiles(methods, "a, b", "<summary>"));
  EXPECT_EQ(made.files.at("roc.csv"),
            "method,threshold,unknown_accepted,known_accepted\n"
            "a,-inf,0,0\na,0.25,0,0.5\na,0.5,1,0.5\na,1,1,1\n"
            "b,-inf,0,0\nb,1,1,0\nb,2,1,0.5\nb,3,1,1\n");
  // Only `a` has predictions.
  EXPECT_EQ(made.files.at("risk_coverage.csv"), "method,threshold,coverage,risk\na,0.25,0.5,0\na,1,1,0.5\n");
  EXPECT_EQ(made.charts.size(), 6);
  EXPECT_THAT(made.files.at("index.html"),
              AllOf(HasSubstr("a (AUROC 50.00 %)"), HasSubstr("b (AUROC 0.00 %)"), HasSubstr("a (OpenAUC 50.00 %)"),
                    HasSubstr("&lt;summary&gt;"), Not(HasSubstr("b (OpenAUC"))));
}

TEST(CurveFiles, WithoutPredictions) {
  const CurveFiles curves = Arrays{{0.25, 0.5, 1}, {}, {0, -1, 0}, {}}.Files();
  EXPECT_EQ(curves.charts.size(), 4);
  EXPECT_EQ(curves.files.at("roc.csv"),
            "threshold,unknown_accepted,known_accepted\n-inf,0,0\n0.25,0,0.5\n0.5,1,0.5\n1,1,1\n");
  EXPECT_THAT(curves.files.at("score_densities.csv"), HasSubstr("low,high,known,unknown\n0.25,"));
}

TEST(CurveFiles, LeaveOutUndefinedCurves) {
  const CurveFiles known = Arrays{{1, 2}, {0, 1}, {0, 1}, {3, 0, 0, 3}}.Files();
  for (const char* name : {"roc", "oscr", "thresholds", "risk_coverage_pool", "cost", "net_benefit"}) {
    EXPECT_EQ(known.files.count(absl::StrCat(name, ".csv")) + known.charts.count(name), 0) << name;
  }
  EXPECT_EQ(known.charts.count("reliability"), 1);
  EXPECT_EQ(known.charts.count("risk_coverage"), 1);
  const CurveFiles unknown = Arrays{{1, 1}, {0, 1}, {-1, -1}, {}}.Files();
  EXPECT_EQ(unknown.charts.count("risk_coverage"), 0);
  EXPECT_EQ(unknown.charts.count("score_densities"), 1);
}

}  // namespace
}  // namespace openset
