#include "experiments/evaluate/details.h"

#include <cmath>
#include <limits>
#include <string>

#include "core/random.h"
#include "core/testing/parsed.h"
#include "eval/metrics/detection/auroc.h"
#include "experiments/spec/trial.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;

TrialSpec Parse(const std::string& text) { return Parsed<TrialSpec>(text); }

// Known classes 4 and 7; sets "a" with class 1 and "b" with classes 1 and 2.
TrialSpec Trial() {
  return Parse(R"(data { test_known { class_id: [4, 7] }
                         test_unknown { name: "a" selection { class_id: [1] } }
                         test_unknown { name: "b" selection { class_id: [1, 2] } } })");
}

struct Samples {
  std::vector<double> score = {1, 2, 3, 4, 2.5, 0, 5};
  std::vector<int32_t> prediction = {0, 0, 1, 0, 1, 0, 1};
  std::vector<int32_t> label = {0, 0, 1, 1, -1, -1, -1};
  std::vector<int32_t> group = {0, 0, 0, 0, 0, 1, 1};
  std::vector<int64_t> class_id = {4, 4, 7, 7, 1, 1, 2};

  TrialDetails Details(const TrialSpec& trial) const {
    EvaluationInput::Arrays arrays;
    arrays.unknown_score = score;
    arrays.prediction = prediction;
    arrays.label = label;
    arrays.group = group;
    arrays.num_classes = 2;
    Outputs outputs;
    outputs.class_id = class_id;
    return MakeDetails(trial, outputs, RankedInput(EvaluationInput::Create(arrays).value()));
  }
};

double Area(const RecordedCurve& curve) {
  double area = 0;
  for (int i = 1; i < curve.x_size(); ++i) area += (curve.x(i) - curve.x(i - 1)) * (curve.y(i) + curve.y(i - 1)) / 2;
  return area;
}

TEST(MakeDetails, HasTheCurvesOfThePoolAndOfEachSet) {
  const TrialDetails details = Samples().Details(Trial());
  ASSERT_EQ(details.curve_size(), 4 + 2 * 2);
  EXPECT_EQ(details.curve(0).kind(), RecordedCurve::ROC);
  // Pairs of known and unknown where the unknown's score is larger: 2 + 0 + 4 of 4 * 3.
  EXPECT_NEAR(Area(details.curve(0)), 6.0 / 12, 1e-6);
  EXPECT_EQ(details.curve(4).set(), "a");
  EXPECT_NEAR(Area(details.curve(4)), 2.0 / 4, 1e-6);
  EXPECT_NEAR(Area(details.curve(6)), 4.0 / 8, 1e-6);
  // Without the pairs of the sample that is classified wrongly: 2 + 3.
  EXPECT_NEAR(Area(details.curve(1)), 5.0 / 12, 1e-6);
}

// 4,000 samples: a curve of as many points.
TEST(MakeDetails, ThinsCurvesWithoutChangingTheirAreas) {
  RandomStream random(1, "details");
  Samples samples;
  samples.score.clear();
  samples.prediction.clear();
  samples.label.clear();
  for (int i = 0; i < 4000; ++i) {
    const bool known = i % 2 == 0;
    samples.score.push_back(random.Normal() + (known ? 0 : 1));
    samples.label.push_back(known ? 0 : -1);
    samples.prediction.push_back(0);
  }
  samples.group.assign(4000, 0);
  samples.class_id.assign(4000, 4);
  const TrialDetails details = samples.Details(Trial());
  EXPECT_GE(details.curve(0).x_size(), 20);
  EvaluationInput::Arrays arrays;
  arrays.unknown_score = samples.score;
  arrays.prediction = samples.prediction;
  arrays.label = samples.label;
  arrays.num_classes = 1;
  const RankedInput ranked(EvaluationInput::Create(arrays).value());
  EXPECT_NEAR(Area(details.curve(0)), Auroc(ranked).value.value(), 1e-3);
  for (const RecordedCurve& curve : details.curve()) EXPECT_LE(curve.x_size(), 512);
}

TEST(MakeDetails, CountsScoresInBinsAndOutside) {
  Samples samples;
  samples.score[0] = -std::numeric_limits<double>::infinity();
  const ScoreDensity density = samples.Details(Trial()).density();
  ASSERT_EQ(density.series_size(), 4);  // right, wrong, "a", "b"
  EXPECT_EQ(density.series(0).below(), 1);
  EXPECT_EQ(density.series(3).set(), "b");
  EXPECT_EQ(density.low(), 0);
  EXPECT_EQ(density.high(), 5);
  EXPECT_EQ(density.series(3).count(0), 1);
  EXPECT_EQ(density.series(3).count(density.series(3).count_size() - 1), 1);
}

TEST(MakeDetails, DecidesByTheMethodsOwnThreshold) {
  TrialSpec trial = Trial();
  const DecisionTable accepting = Samples().Details(trial).decisions();
  EXPECT_EQ(accepting.rule(), "95 % of the known samples are accepted");
  EXPECT_EQ(accepting.threshold(), 4);  // all four: three are too few
  trial = Parse(trial.DebugString() + " method { decision { threshold: 2 } }");
  const DecisionTable table = Samples().Details(trial).decisions();
  ASSERT_EQ(table.known_size(), 2);
  EXPECT_EQ(table.known(0).class_id(), 4);
  EXPECT_EQ(table.known(0).rejected(), 0);
  EXPECT_EQ(table.known(1).samples(), 2);
  EXPECT_EQ(table.known(1).rejected(), 2);
  EXPECT_EQ(table.known(1).right(), 1);
  EXPECT_EQ(table.known(1).right_rejected(), 1);
  ASSERT_EQ(table.unknown_size(), 3);  // class 1 of "a", 1 and 2 of "b"
  EXPECT_EQ(table.unknown(1).set(), "b");
  EXPECT_EQ(table.unknown(1).rejected(), 0);
  EXPECT_EQ(table.unknown(2).rejected(), 1);
  // Accepted: two of class 4, and the sample at 0.
  ASSERT_EQ(table.confusion_size(), 2);
  EXPECT_EQ(table.confusion(0).actual(), 0);
  EXPECT_EQ(table.confusion(0).samples(), 2);
  EXPECT_EQ(table.confusion(1).actual(), -1 - 1);
  EXPECT_EQ(table.confusion(1).predicted(), 0);
}

TEST(MakeDetails, NamesTheLargestMistakes) {
  const TrialDetails details = Samples().Details(Trial());
  std::vector<int64_t> rows[4];
  for (const Mistake& mistake : details.mistake()) rows[mistake.kind()].push_back(mistake.row());
  EXPECT_THAT(rows[Mistake::KNOWN_TAKEN_FOR_UNKNOWN], ElementsAre(2, 1, 0));
  EXPECT_THAT(rows[Mistake::UNKNOWN_TAKEN_FOR_KNOWN], ElementsAre(5, 4, 6));
  EXPECT_THAT(rows[Mistake::WRONG_CLASS], ElementsAre(3));
  EXPECT_EQ(details.mistake(3).set(), "b");
  EXPECT_EQ(details.mistake(3).predicted_label(), 0);
}

TEST(MakeDetails, LeavesOutUndefinedCurves) {
  Samples samples;
  for (int32_t& label : samples.label) label = 0;
  const TrialDetails known = samples.Details(Trial());
  ASSERT_EQ(known.curve_size(), 1);
  EXPECT_EQ(known.curve(0).kind(), RecordedCurve::RISK_COVERAGE);
  for (int32_t& label : samples.label) label = -1;
  const TrialDetails unknown = samples.Details(Trial());
  EXPECT_FALSE(unknown.has_decisions());
}

}  // namespace
}  // namespace openset
