#include "experiments/report/hints.h"

#include "absl/strings/str_cat.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/task.pb.h"
#include "experiments/spec/method.pb.h"

namespace openset {
namespace {

constexpr char kImported[] = "";
constexpr char kTrained[] = "training { epochs: 1 }";

// A data set of five classes: 4, 2 and 7 are known, 0 and 1 unknown.
TrialSpec Trial(const std::string& method, const std::string& more = kImported) {
  return Parsed<TrialSpec>(absl::StrCat("task: 't' split: 1 seed: 0 method { name: '", method, "' ", more, R"( }
      data { test_known { data_set: "digits" class_id: [4, 2, 7] }
             test_unknown { name: "unknown" selection { data_set: "digits" class_id: [0, 1] } } })"));
}

// 100 samples of each class, of which `right` are classified correctly; `cells` are the accepted ones.
TrialRecord Record(const std::string& checkpoint, int right, const std::string& cells, double auroc = 0.75) {
  std::string known;
  for (const int class_id : {4, 2, 7}) {
    absl::StrAppend(&known, "known { class_id: ", class_id, " samples: 100 right: ", right, " } ");
  }
  return Parsed<TrialRecord>(absl::StrCat("checkpoint_key: '", checkpoint, R"('
      counts { known: 300 unknown: 200 }
      metric { name: 'auroc' group { kind: SET set: 'far' } value: 0 }
      metric { name: 'auroc' group { kind: POOL } value: )",
                                          auroc, " } details { decisions { ", known,
                                          "unknown { class_id: 0 samples: 100 } unknown { class_id: 1 samples: 100 } ",
                                          cells, " } }"));
}

std::string Cell(int actual, int predicted, int samples) {
  return absl::StrCat("confusion { actual: ", actual, " predicted: ", predicted, " samples: ", samples, " } ");
}

const KnownClassesOfTasks kSplits = {{"t", {{0, 1, 2}, {4, 2, 7}, {0, 4, 1}}}};

TEST(FindHints, NoneForAGoodNetwork) {
  const TrialSpec trial = Trial("m");
  const TrialRecord record = Record("a", 90, absl::StrCat(Cell(0, 0, 90), Cell(1, 1, 90), Cell(2, 2, 90)));
  EXPECT_THAT(FindHints({{&trial, &record}, {&trial, nullptr}}, kSplits), IsEmpty());
}

// Each class is predicted as each class 33 or 34 times.
TEST(FindHints, GuessingIsNamedOnceForACheckpoint) {
  const TrialSpec a = Trial("a", kTrained), b = Trial("b", kTrained);
  const TrialRecord first = Record("x", 33, ""), second = Record("x", 34, ""), other = Record("y", 90, "");
  const std::vector<ResultHint> hints = FindHints({{&a, &first}, {&b, &second}, {&a, &other}}, kSplits);
  ASSERT_EQ(hints.size(), 1);
  EXPECT_EQ(hints[0].kind, ResultHint::Kind::kNearChance);
  EXPECT_EQ(hints[0].trial, &b);
  EXPECT_EQ(hints[0].text, "accuracy is 34.0 % on 300 known samples, no better than guessing among 3 classes");
}

// The network was trained on the classes 0, 4 and 1 (split 2): 240 of their 270 accepted samples are right for that
// split. For the trial's own classes 4, 2 and 7, only 10 samples of class 2 are right.
TEST(FindHints, AnotherSplitFitsAnImportedNetwork) {
  const std::string cells =
      absl::StrCat(Cell(-1, 0, 80), Cell(0, 1, 80), Cell(-2, 2, 80), Cell(-1, 1, 10), Cell(-2, 0, 10), Cell(0, 2, 10),
                   Cell(1, 1, 10), Cell(1, 0, 40), Cell(1, 2, 40), Cell(2, 0, 45), Cell(2, 1, 45));
  const TrialRecord record = Record("a", 3, cells);
  const TrialSpec imported = Trial("m");
  const std::vector<ResultHint> hints = FindHints({{&imported, &record}}, kSplits);
  ASSERT_EQ(hints.size(), 1);
  EXPECT_EQ(hints[0].kind, ResultHint::Kind::kOtherSplit);
  EXPECT_EQ(hints[0].split, 2);
  EXPECT_EQ(
      hints[0].text,
      "on accepted samples, accuracy is 3.7 % with the classes of split 1 of t, and 88.9 % with those of split 2");
  // A network that openset trained has the classes of its split.
  const TrialSpec trained = Trial("m", kTrained);
  EXPECT_EQ(FindHints({{&trained, &record}}, kSplits).at(0).kind, ResultHint::Kind::kNearChance);
  // Classes of another data set with the same ids are different classes.
  TrialSpec elsewhere = imported;
  elsewhere.mutable_data()->mutable_test_unknown(0)->mutable_selection()->set_data_set("letters");
  EXPECT_NE(FindHints({{&elsewhere, &record}}, kSplits).at(0).kind, ResultHint::Kind::kOtherSplit);
  EXPECT_NE(FindHints({{&imported, &record}}, {}).at(0).kind, ResultHint::Kind::kOtherSplit);
}

// Class 4 is output 2, 2 is output 0, 7 is output 1.
TEST(FindHints, AnotherOrderFitsAnImportedNetwork) {
  const TrialSpec trial = Trial("m");
  const TrialRecord record =
      Record("a", 5, absl::StrCat(Cell(0, 2, 90), Cell(1, 0, 90), Cell(2, 1, 90), Cell(0, 0, 5), Cell(1, 1, 5)));
  const std::vector<ResultHint> hints = FindHints({{&trial, &record}}, kSplits);
  ASSERT_EQ(hints.size(), 1);
  EXPECT_EQ(hints[0].kind, ResultHint::Kind::kOtherOrder);
  EXPECT_THAT(hints[0].prediction_of, ElementsAre(2, 0, 1));
  EXPECT_EQ(hints[0].text,
            "on accepted samples, accuracy is 3.6 %, and 96.4 % with the known classes in another order");
}

// Three standard errors below 50 % are 39.4 % for 300 and 200 samples.
TEST(FindHints, AurocBelowHalf) {
  const TrialSpec a = Trial("a"), b = Trial("b"), c = Trial("c");
  const TrialRecord low = Record("x", 90, "", 0.375), lower = Record("x", 90, "", 0.25),
                    high = Record("x", 90, "", 0.4);
  const TrialRecord guessing = Record("y", 33, "", 0.25);
  const std::vector<ResultHint> hints =
      FindHints({{&c, &high}, {&a, &low}, {&a, &lower}, {&b, &lower}, {&c, &guessing}}, kSplits);
  ASSERT_EQ(hints.size(), 2);
  EXPECT_EQ(hints[0].kind, ResultHint::Kind::kNearChance);
  EXPECT_EQ(hints[1].kind, ResultHint::Kind::kBelowHalf);
  EXPECT_EQ(hints[1].trial, &a);
  EXPECT_EQ(hints[1].text,
            "AUROC is below 50 %, known samples have the larger unknown scores, by a (25.0 % at split 1, seed 0; "
            "mean of the table 31.2 %), b (25.0 % at split 1, seed 0)");
}

// 0.47, 0.46 and 0.45 have the standard deviation 0.01, so that their mean is 0.04 / (0.01 / sqrt(3)) = 6.9 standard
// errors below 0.5: p = 0.020 with 2 degrees of freedom. With a fourth of 0.46, it is 0.04 / 0.00408 = 9.8 and p =
// 0.002.
TEST(FindHints, OneBadRunOfManyIsNotNamed) {
  const TrialSpec trial = Trial("a");
  const TrialRecord bad = Record("x", 90, "", 0.25), good = Record("y", 90, "", 0.75);
  const TrialResult one = {&trial, &bad}, other = {&trial, &good};
  EXPECT_EQ(FindHints({one, other, other, other}, kSplits).size(), 1);
  EXPECT_THAT(FindHints({one, other, other, other, other}, kSplits), IsEmpty());
}

TEST(FindHints, AurocBelowHalfOverSeedsTogether) {
  std::vector<TrialSpec> trials(4, Trial("a"));
  std::vector<TrialRecord> records;
  for (const double auroc : {0.47, 0.46, 0.45, 0.46}) records.push_back(Record("x", 90, "", auroc));
  std::vector<TrialResult> results;
  for (int t = 0; t < 4; ++t) {
    trials[t].set_seed(t);
    results.push_back({&trials[t], &records[t]});
  }
  EXPECT_THAT(FindHints(absl::MakeConstSpan(results).subspan(0, 2), kSplits), IsEmpty());  // no test of two
  const std::vector<ResultHint> hints = FindHints(results, kSplits);
  ASSERT_EQ(hints.size(), 1);
  EXPECT_EQ(hints[0].kind, ResultHint::Kind::kBelowHalf);
  EXPECT_EQ(hints[0].trial, &trials[0]);
  EXPECT_EQ(hints[0].text,
            "AUROC is below 50 %, known samples have the larger unknown scores, by a (46.0 % over 4 seeds together)");
  // Not above 50 %.
  for (TrialRecord& record : records) {
    for (MetricRecord& metric : *record.mutable_metric()) metric.set_value(1 - metric.value());
  }
  EXPECT_THAT(FindHints(results, kSplits), IsEmpty());
}

TEST(FindHints, RecordsWithoutDecisionsHaveNoAccuracyHints) {
  const TrialSpec trial = Trial("m");
  TrialRecord record = Record("a", 33, "");
  record.clear_details();
  EXPECT_THAT(FindHints({{&trial, &record}}, kSplits), IsEmpty());
}

}  // namespace
}  // namespace openset
