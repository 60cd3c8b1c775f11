#include "tools/evaluation/requested.h"

#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RequestedTest, MetricsComeFromTheConventionOrTheirNames) {
  EvaluationRequest request;
  EXPECT_EQ(RequestedMetrics(request)->size(), FindConvention("openset")->metrics.size());
  request.set_convention("openood");
  EXPECT_EQ(RequestedMetrics(request)->size(), FindConvention("openood")->metrics.size());
  request.set_metrics("auroc");
  EXPECT_EQ(RequestedMetrics(request).status().message(), "--metrics goes with --convention=openset only");
  request.clear_convention();
  ASSERT_EQ(RequestedMetrics(request)->size(), 1);
  EXPECT_EQ(RequestedMetrics(request)->front().printed_name, "auroc");
  request.set_convention("openod");
  EXPECT_THAT(std::string(RequestedMetrics(request).status().message()), HasSubstr("did you mean 'openood'"));
}

TEST(RequestedTest, ChecksIntervalsEvenIfNoneAreRequested) {
  EvaluationRequest request;
  EXPECT_FALSE(RequestedIntervals(request)->has_value());
  request.set_ci(true);
  request.mutable_interval()->set_ci_method("delong");
  ASSERT_TRUE(RequestedIntervals(request)->has_value());
  EXPECT_TRUE((*RequestedIntervals(request))->delong);
  EXPECT_EQ((*RequestedIntervals(request))->bootstrap.replicates, 2000);
  request.clear_ci();
  request.mutable_interval()->set_ci_method("delogn");
  EXPECT_THAT(std::string(RequestedIntervals(request).status().message()), HasSubstr("did you mean 'delong'"));
}

TEST(RequestedTest, BootstrapHasLimits) {
  const auto error = [](void (*change)(IntervalOptions*)) {
    IntervalOptions options;
    change(&options);
    return std::string(RequestedBootstrap(options).status().message());
  };
  EXPECT_EQ(error([](IntervalOptions*) {}), "");
  EXPECT_GE(RequestedBootstrap({})->threads, 1);
  EXPECT_EQ(error([](IntervalOptions* o) { o->set_replicates(1000001); }), "--replicates: must be at most 1000000");
  EXPECT_EQ(error([](IntervalOptions* o) { o->set_threads(1025); }), "--threads: must be at most 1024");
  for (void (*change)(IntervalOptions*) : {
           +[](IntervalOptions* o) { o->set_replicates(0); },
           +[](IntervalOptions* o) { o->set_replicates(std::numeric_limits<int64_t>::min()); },
           +[](IntervalOptions* o) { o->set_threads(-1); },
           +[](IntervalOptions* o) { o->set_level(1); },
           +[](IntervalOptions* o) { o->set_level(std::numeric_limits<double>::quiet_NaN()); },
       }) {
    EXPECT_THAT(error(change), HasSubstr("--replicates, --level, --threads: "));
  }
}

TEST(RequestedTest, RunComparisonsAcceptSynonyms) {
  RunComparisonRequest request;
  request.set_metrics("AUC, openauc");
  const absl::StatusOr<RunComparisonOptions> options = RequestedRunComparison(request);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_THAT(options->metrics, ElementsAre("auroc", "openauc"));
  EXPECT_EQ(options->test.confidence, 0.95);
  request.set_test_per_training(-1);
  EXPECT_EQ(RequestedRunComparison(request).status().message(), "--test_per_training: must be at least 0");
}

TEST(RequestedTest, ThresholdsNameTheirTarget) {
  ThresholdRequest request;
  EXPECT_EQ(RequestedThreshold(request)->chosen.target, 0.95);
  EXPECT_FALSE(RequestedThreshold(request)->chosen.delta.has_value());
  request.set_rule("risk_guaranteed");
  EXPECT_EQ(RequestedThreshold(request)->chosen.delta, 0.05);
  request.set_rule("youden_macro");
  EXPECT_FALSE(RequestedThreshold(request)->chosen.target.has_value());
  request.set_target(1.5);
  EXPECT_EQ(RequestedThreshold(request).status().message(), "--target: must lie in 0 .. 1 (is 1.5)");
  request.set_target(0.5);
  request.set_delta(0);
  EXPECT_EQ(RequestedThreshold(request).status().message(), "--delta: must lie between 0 and 1 (is 0)");
  request.set_rule("youden");
  EXPECT_THAT(std::string(RequestedThreshold(request).status().message()), HasSubstr("--rule: unknown rule 'youden'"));
}

}  // namespace
}  // namespace openset
