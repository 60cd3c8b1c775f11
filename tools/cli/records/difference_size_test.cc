#include "tools/cli/records/difference_size.h"

#include <vector>

#include "core/proto/text_proto.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

// Seeds of two splits differ by 0.02 each: squares of 2 * 0.0001 a split, over 4 - 2 degrees of freedom, are a variance
// of 0.0002, however far apart the splits are. 0.01 is 0.71 times its root.
TEST(DifferenceSizeLines, AreRelativeToTheSpreadOverSeeds) {
  const std::vector<TrialRecord> stored = {Record(0, 0, 0.50), Record(0, 1, 0.52), Record(1, 0, 0.80),
                                           Record(1, 1, 0.82)};
  EXPECT_THAT(DifferenceSizeLines(stored[0], Record(0, 0, 0.51), stored),
              ElementsAre("auroc: changed by +0.01, 0.71 times the standard deviation over seeds of a split (0.014; 4 "
                          "runs on 2 splits)"));
  EXPECT_THAT(DifferenceSizeLines(stored[0], stored[0], stored), IsEmpty());
  EXPECT_THAT(DifferenceSizeLines(stored[0], Record(0, 0, 0.5 + 1e-9), stored),
              ElementsAre("auroc: changed by +1e-09, less than 0.01 times the standard deviation over seeds of a split "
                          "(0.014; 4 runs on 2 splits)"));
}

// 0.5, 0.6, 0.7 have the sample standard deviation 0.1.
TEST(DifferenceSizeLines, OneSeedPerSplitIncludesSplitVariance) {
  std::vector<TrialRecord> stored = {Record(0, 0, 0.5), Record(1, 0, 0.6), Record(2, 0, 0.7)};
  EXPECT_THAT(
      DifferenceSizeLines(stored[1], Record(1, 0, 0.58), stored),
      ElementsAre("auroc: changed by -0.02, 0.2 times the standard deviation over splits and seeds (0.1; 3 runs "
                  "on 3 splits)"));
  stored[2].mutable_trial()->mutable_method()->set_name("other");
  EXPECT_THAT(DifferenceSizeLines(stored[1], Record(1, 0, 0.58), stored),
              ElementsAre("auroc: changed by -0.02, only 2 stored runs of this method to compare it with"));
}

TEST(DifferenceSizeLines, RunsThatDoNotVary) {
  const std::vector<TrialRecord> stored = {Record(0, 0, 1), Record(0, 1, 1), Record(0, 2, 1)};
  EXPECT_THAT(
      DifferenceSizeLines(stored[0], Record(0, 0, 0.5), stored),
      ElementsAre("auroc: changed by -0.5, while stored runs don't vary: the standard deviation over seeds of a "
                  "split (0; 3 runs on 1 split)"));
}

}  // namespace
}  // namespace openset
