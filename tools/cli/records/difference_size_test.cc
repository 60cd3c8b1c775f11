#include "tools/cli/records/difference_size.h"

#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.proto.h"

namespace openset {
namespace {

using ::testing::_;

TrialRecord Record(int split, int seed, double auroc) {
  TrialRecord record;
  record.mutable_trial()->set_task("t");
  record.mutable_trial()->mutable_method()->set_name("m");
  record.mutable_trial()->set_split(split);
  record.mutable_trial()->set_seed(seed);
  MetricRecord* metric = record.add_metric();
  metric->set_name("auroc");
  metric->mutable_spec()->mutable_auroc();
  metric->set_value(auroc);
  return record;
}

std::vector<std::string> Texts(const TrialRecord& record, const TrialRecord& again,
                               const std::vector<TrialRecord>& stored) {
  std::vector<std::string> texts;
  for (const MetricVerdict& verdict : CompareAgain(record, again, stored)) {
    texts.push_back(absl::StrCat(verdict.metric, ": ", verdict.text));
  }
  return texts;
}

// The other seeds of two splits differ by 0.02 each: squares of 2 * 0.0001 a split, over 4 - 2 degrees of freedom, are
// a variance of 0.0002, however far apart the splits are. 0.01 is 0.71 times its root. The t quantile of 2 degrees of
// freedom is 4.303, so that changes up to 4.303 * sqrt(2 * 0.0002) = 0.0861 are within the spread.
TEST(CompareAgain, IsRelativeToTheSpreadOfOtherRuns) {
  const std::vector<TrialRecord> stored = {Record(0, 0, 0.50), Record(0, 1, 0.50), Record(0, 2, 0.52),
                                           Record(1, 0, 0.80), Record(1, 1, 0.82)};
  EXPECT_THAT(
      Texts(stored[0], Record(0, 0, 0.51), stored),
      ElementsAre("auroc: same within the seed's spread: changed by +0.01, 0.71 times the standard deviation "
                  "over seeds of a split (0.014; 4 other runs on 2 splits); from 0.086 on it would be different"));
  EXPECT_THAT(Texts(stored[0], stored[0], stored), ElementsAre("auroc: same bits"));
  EXPECT_THAT(
      Texts(stored[0], Record(0, 0, 0.5 + 1e-9), stored),
      ElementsAre("auroc: same within the seed's spread: changed by +1e-09, less than 0.01 times the standard "
                  "deviation over seeds of a split (0.014; 4 other runs on 2 splits); from 0.086 on it would be "
                  "different"));
  // 4 * sqrt(0.0002) = 0.0566. A larger change is neither within the spread nor different.
  EXPECT_EQ(CompareAgain(stored[0], Record(0, 0, 0.556), stored)[0].reproduced, Reproduced::kWithinSpread);
  EXPECT_EQ(CompareAgain(stored[0], Record(0, 0, 0.557), stored)[0].reproduced, Reproduced::kNotJudged);
  EXPECT_EQ(CompareAgain(stored[0], Record(0, 0, 0.586), stored)[0].reproduced, Reproduced::kNotJudged);
  EXPECT_EQ(CompareAgain(stored[0], Record(0, 0, 0.587), stored)[0].reproduced, Reproduced::kDifferent);
  TrialRecord without = stored[0];
  without.mutable_metric(0)->clear_value();
  EXPECT_THAT(Texts(stored[0], without, stored), ElementsAre("auroc: different: undefined in this run"));
  EXPECT_THAT(Texts(without, without, stored), ElementsAre("auroc: same bits"));
}

// With itself among them, the five runs would have the standard deviation 0.231 over 5 - 2 degrees of freedom, and the
// limit 3.182 * sqrt(2) * 0.231 = 1.04.
TEST(CompareAgain, ARecordDoesNotWidenItsOwnSpread) {
  const std::vector<TrialRecord> stored = {Record(0, 0, 0.999), Record(0, 1, 0.50), Record(0, 2, 0.52),
                                           Record(1, 0, 0.80), Record(1, 1, 0.82)};
  EXPECT_EQ(CompareAgain(stored[0], Record(0, 0, 0.51), stored)[0].reproduced, Reproduced::kDifferent);
}

TrialRecord WithAccuracy(TrialRecord record, double accuracy) {
  MetricRecord* metric = record.add_metric();
  metric->set_name("accuracy");
  metric->mutable_spec()->mutable_accuracy();
  metric->set_value(accuracy);
  return record;
}

// Rounding changes the outputs before it changes a metric.
TEST(CompareAgain, ASingleMetricDoesNotChangeAlone) {
  std::vector<TrialRecord> stored;
  for (const int seed : {0, 1, 2, 3}) stored.push_back(WithAccuracy(Record(0, seed, 0.5 + 0.01 * seed), 0.9));
  TrialRecord record = stored[0], again = WithAccuracy(Record(0, 0, 0.501), 0.9);
  EXPECT_THAT(Texts(record, again, stored), ElementsAre(HasSubstr("auroc: same within the seed's spread"), _));
  record.set_outputs_sha256("ab");
  again.set_outputs_sha256("ab");
  EXPECT_THAT(Texts(record, again, stored),
              ElementsAre("auroc: different: changed by +0.001, although the outputs have the same bits",
                          "accuracy: same bits"));
  again.set_fit_outputs_sha256("cd");
  EXPECT_EQ(CompareAgain(record, again, stored)[0].reproduced, Reproduced::kWithinSpread);
  again.set_outputs_sha256("cd");
  for (TrialRecord* side : {&record, &again}) {
    StageProvenance* stage = side->mutable_provenance()->add_stage();
    stage->set_cpu("Intel Xeon");
    stage->set_cpu_capability("AVX512");
  }
  EXPECT_THAT(Texts(record, again, stored), Contains("auroc: different: changed by +0.001, although all other metrics "
                                                     "have the same bits, on the same kind of CPU"));
  again.mutable_metric(1)->set_value(0.9001);
  EXPECT_EQ(CompareAgain(record, again, stored)[0].reproduced, Reproduced::kWithinSpread);
  again.mutable_metric(1)->set_value(0.9);
  again.mutable_provenance()->mutable_stage(0)->set_cpu_capability("AVX2");
  EXPECT_EQ(CompareAgain(record, again, stored)[0].reproduced, Reproduced::kWithinSpread);
}

// The spread of both metrics is that of the first test, in which a change of 0.1 is beyond 0.0861, the limit for a
// p-value of 0.05. For both together, Holm's first limit is that for 0.025: 6.205 * sqrt(2 * 0.0002) = 0.1241.
TEST(CompareAgain, AdjustsForTheNumberOfMetrics) {
  std::vector<TrialRecord> stored = {Record(0, 0, 0.50), Record(0, 1, 0.50), Record(0, 2, 0.52), Record(1, 0, 0.80),
                                     Record(1, 1, 0.82)};
  for (TrialRecord& record : stored) record = WithAccuracy(record, record.metric(0).value() - 0.3);
  const auto verdicts = [&](double auroc, double accuracy) {
    std::vector<Reproduced> found;
    for (const MetricVerdict& verdict : CompareAgain(stored[0], WithAccuracy(Record(0, 0, auroc), accuracy), stored)) {
      found.push_back(verdict.reproduced);
    }
    return found;
  };
  EXPECT_THAT(verdicts(0.6, 0.2), ElementsAre(Reproduced::kDifferent, Reproduced::kSameBits));
  EXPECT_THAT(verdicts(0.6, 0.3), ElementsAre(Reproduced::kNotJudged, Reproduced::kNotJudged));
  EXPECT_THAT(verdicts(0.625, 0.21), ElementsAre(Reproduced::kDifferent, Reproduced::kWithinSpread));
  // After the first is rejected, the limit of the second is that of a single one.
  EXPECT_THAT(verdicts(0.625, 0.3), ElementsAre(Reproduced::kDifferent, Reproduced::kDifferent));
}

// 0.5, 0.6, 0.7 have the sample standard deviation 0.1.
TEST(CompareAgain, OneSeedPerSplitIncludesSplitVariance) {
  std::vector<TrialRecord> stored = {Record(0, 0, 0.5), Record(1, 0, 0.6), Record(2, 0, 0.7), Record(3, 0, 0.9)};
  EXPECT_THAT(Texts(stored[3], Record(3, 0, 0.88), stored),
              ElementsAre("auroc: same within the seed's spread: changed by -0.02, 0.2 times the standard deviation "
                          "over splits and seeds (0.1; 3 other runs on 3 splits); from 0.61 on it would be different"));
  stored[2].mutable_trial()->mutable_method()->set_name("other");
  EXPECT_THAT(Texts(stored[3], Record(3, 0, 0.88), stored),
              ElementsAre("auroc: other bits, not judged: changed by -0.02, only 2 other stored runs of "
                          "this method to compare it with"));
}

TEST(CompareAgain, RunsThatDoNotVary) {
  const std::vector<TrialRecord> stored = {Record(0, 0, 1), Record(0, 1, 1), Record(0, 2, 1), Record(0, 3, 1)};
  EXPECT_THAT(Texts(stored[0], Record(0, 0, 0.5), stored),
              ElementsAre("auroc: other bits, not judged: changed by -0.5, and the 3 other stored runs of this method "
                          "don't vary"));
}

TEST(VerdictOnAll, IsTheWorst) {
  const MetricVerdict same{"a", Reproduced::kSameBits, ""}, within{"b", Reproduced::kWithinSpread, ""},
      different{"c", Reproduced::kDifferent, ""}, open{"d", Reproduced::kNotJudged, ""};
  EXPECT_EQ(VerdictOnAll({same, same}), Reproduced::kSameBits);
  EXPECT_EQ(VerdictOnAll({same, within}), Reproduced::kWithinSpread);
  EXPECT_EQ(VerdictOnAll({open, within}), Reproduced::kNotJudged);
  EXPECT_EQ(VerdictOnAll({open, different, within}), Reproduced::kDifferent);
}

}  // namespace
}  // namespace openset
