#include "eval/metrics/confusion.h"

#include <limits>

#include "core/testing/status_matchers.h"
#include "eval/metrics/threshold_metric.h"
#include "eval/testing/golden.h"

namespace openset {
namespace {

TEST(ConfusionAt, CountsDecisions) {
  Samples samples;
  samples.num_classes = 2;
  samples.unknown_score = {0.1, 0.2, 0.3, 0.6, 0.7, 0.4};
  samples.label = {0, 0, 1, 1, -1, -1};
  samples.prediction = {0, 1, 1, 1, 0, 1};
  RankedInput ranked(samples.Input());
  EXPECT_THAT(ConfusionAt(ranked, 0.4).counts, ElementsAre(1, 1, 0,  //
                                                           0, 1, 1,  //
                                                           0, 1, 1));
  EXPECT_EQ(ConfusionCsv(ConfusionAt(ranked, 0.4)), "class,0,1,rejected\n0,1,1,0\n1,0,1,1\nunknown,0,1,1\n");
  const ConfusionMatrix closed = ConfusionAt(ranked, std::numeric_limits<double>::infinity());
  EXPECT_THAT(closed.counts, ElementsAre(1, 1, 0, 0, 2, 0, 1, 1, 0));
  EXPECT_EQ(AccuracyPerClassCsv(ranked), "class,samples,accuracy\n0,2,0.5\n1,2,1\n");
  ranked.Reweight(std::vector<uint32_t>{3, 0, 0, 0, 2, 0});
  EXPECT_THAT(ConfusionAt(ranked, 0.4).counts, ElementsAre(3, 0, 0, 0, 0, 0, 0, 0, 2));
  EXPECT_EQ(AccuracyPerClassCsv(ranked, {"cat"}), "class,samples,accuracy\ncat,3,1\n1,0,\n");
}

// A matrix of these classes would take 8 TB.
TEST(CountPerClass, OfAMillionClasses) {
  Samples samples;
  samples.num_classes = 1000000;
  samples.unknown_score = {0.1, 0.2, 0.3, 0.4};
  samples.label = {999999, 999999, 7, -1};
  samples.prediction = {999999, 0, 7, 7};
  const std::vector<ClassCount> counts = CountPerClass(RankedInput(samples.Input()));
  ASSERT_EQ(counts.size(), 1000000);
  EXPECT_EQ(counts[999999].samples, 2);
  EXPECT_EQ(counts[999999].correct, 1);
  EXPECT_EQ(counts[7].samples, 1);
  EXPECT_EQ(counts[7].correct, 1);
  EXPECT_EQ(counts[0].samples, 0);
}

TEST(ConfusionAt, AgreesWithScikitLearn) {
  for (const GoldenCase& golden : ReadGolden("selective.json", "cases")) {
    const Samples samples = OpenSetSamples(golden);
    const RankedInput ranked(samples.Input());
    const double threshold = *golden.at("open_set/threshold");
    const ConfusionMatrix confusion = ConfusionAt(ranked, threshold);
    const std::vector<double>& expected = golden.arrays.at("confusion");
    EXPECT_EQ(std::vector<double>(confusion.counts.begin(), confusion.counts.end()), expected) << golden.name;
    EXPECT_NEAR(AtThreshold(OpenSetAccuracy(), ranked, threshold).value, *golden.at("open_set/open_set_accuracy"),
                1e-12);
  }
}

}  // namespace
}  // namespace openset
