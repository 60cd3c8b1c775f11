#include "tools/evaluation/requested.h"

#include <limits>

#include "core/testing/status_matchers.h"
#include "eval/metrics/metric.h"

namespace openset {
namespace {

TEST(ParseMetrics, NamesAndFields) {
  ASSERT_OK_AND_ASSIGN(
      const auto metrics,
      ParseMetrics("--metrics", "auroc, partial_openauc { max_ofpr: 0.1 },early = partial_openauc{max_ofpr: 0.05}"));
  ASSERT_EQ(metrics.size(), 3);
  EXPECT_EQ(MetricName(metrics[0]), "auroc");
  EXPECT_EQ(metrics[1].partial_openauc().max_ofpr(), 0.1);
  EXPECT_EQ(MetricName(metrics[2]), "early");
  EXPECT_EQ(metrics[2].partial_openauc().max_ofpr(), 0.05);
  EXPECT_GT(ParseMetrics("--metrics", " ")->size(), 25);
}

TEST(ParseMetrics, AcceptsSynonyms) {
  ASSERT_OK_AND_ASSIGN(const auto metrics,
                       ParseMetrics("--metrics", "AUROC,fpr95, Open-AUC, ECE { bins: 3 }, aurc, EAURC"));
  std::vector<std::string> names;
  for (const MetricSpec& metric : metrics) names.push_back(MetricName(metric));
  EXPECT_THAT(names, ElementsAre("auroc", "fpr_at_95tpr", "openauc", "ece", "aurc", "eaurc"));
  EXPECT_EQ(metrics[3].ece().bins(), 3);
}

// OpenOOD's four.
TEST(ParseMetrics, LevelsMakeNames) {
  ASSERT_OK_AND_ASSIGN(
      const auto metrics,
      ParseMetrics("--metrics",
                   "ccr_at_fpr { fpr: 0.1 }, ccr_at_fpr { fpr: 0.01 }, ccr_at_0.001fpr, ccr_at_0.0001fpr"));
  std::vector<std::string> names;
  for (const MetricSpec& metric : metrics) names.push_back(MetricName(metric));
  EXPECT_THAT(names, ElementsAre("ccr_at_0.1fpr", "ccr_at_0.01fpr", "ccr_at_0.001fpr", "ccr_at_0.0001fpr"));
  EXPECT_EQ(metrics[3].ccr_at_fpr().fpr(), 0.0001);
  EXPECT_EQ(SuggestedMetric("ccr_at_0.01fpr"), "ccr_at_0.01fpr");
}

TEST(ParseMetrics, Refuses) {
  const auto error = [](const char* text) { return std::string(ParseMetrics("--metrics", text).status().message()); };
  EXPECT_THAT(error("auroq"), HasSubstr("--metrics: unknown metric 'auroq'; did you mean 'auroc'?"));
  EXPECT_THAT(error("auroc,"), HasSubstr("--metrics: unknown metric ''"));
  EXPECT_THAT(error("ece { bin: 3 }"), HasSubstr("unknown field 'bin'; did you mean 'bins'?"));
  EXPECT_THAT(error("ece { bins: 0 }"), HasSubstr("ece.bins: must be at least 1 (is 0)"));
  EXPECT_THAT(error("ece {"), HasSubstr("--metrics:"));
  EXPECT_THAT(error("auroc } { auroc"), HasSubstr("--metrics:"));
  EXPECT_THAT(error("ece, ece { bins: 3 }"),
              HasSubstr("there is another metric named 'ece'; where they differ in their settings, give "
                        "one a name"));
  EXPECT_THAT(error("ccr_at_0.1fpr, ccr_at_fpr"), HasSubstr("there is another metric named 'ccr_at_0.1fpr'"));
}

TEST(ParseScore, NamesAndFields) {
  EXPECT_TRUE(ParseScore("--score", "max_logit")->has_max_logit());
  EXPECT_TRUE(ParseScore("--score", "MLS")->has_max_logit());
  EXPECT_TRUE(ParseScore("--score", "maxlogit")->has_max_logit());
  EXPECT_TRUE(ParseScore("--score", "msp")->has_max_softmax());
  EXPECT_TRUE(ParseScore("--score", "OpenMax")->has_openmax());
  EXPECT_EQ(ParseScore("--score", "EBO { temperature: 2 }")->energy().temperature(), 2);
  EXPECT_EQ(ParseScore("--score", "energy { temperature: 2 }")->energy().temperature(), 2);
  EXPECT_THAT(std::string(ParseScore("--score", "energy { temperature: 0 }").status().message()),
              HasSubstr("energy.temperature: must be above 0 (is 0)"));
  EXPECT_THAT(std::string(ParseScore("--score", "enrgy").status().message()),
              HasSubstr("--score: unknown score 'enrgy'; did you mean 'energy'?"));
}

// Two samples with logits, or with a score.
absl::StatusOr<SampleSet> Read(bool with_score, const SetRoles& /*roles*/, ScoreDirection direction) {
  ScoreFile file;
  file.path = "samples";
  file.num_samples = 2;
  file.label = {0, -1};
  if (with_score) {
    file.unknown_score = {direction == ScoreDirection::kHigherIsKnown ? -1.0 : 1.0, 2.0};
  } else {
    file.logits = {1, 3, 2, 0};
    file.num_outputs = 2;
  }
  std::vector<ScoreFile> files;
  files.push_back(std::move(file));
  return MakeSampleSet(std::move(files), {});
}

SampleReader Reader(bool with_score) {
  return [with_score](const SetRoles& roles, ScoreDirection direction) { return Read(with_score, roles, direction); };
}

TEST(ScoredSamplesTest, UsesTheGivenScoreOrMaxSoftmax) {
  absl::StatusOr<ScoredSamples> scored = ScoreSamples({}, Reader(true), nullptr);
  ASSERT_TRUE(scored.ok()) << scored.status();
  EXPECT_THAT(scored->samples.unknown_score, ElementsAre(1, 2));
  EXPECT_EQ(scored->note, "unknown score: the file's");
  EXPECT_EQ(scored->origin, ScoreOrigin::kFile);

  scored = ScoreSamples({}, Reader(false), nullptr);
  ASSERT_TRUE(scored.ok()) << scored.status();
  EXPECT_EQ(scored->note, "unknown score: max_softmax of the logits (--score= takes another)");

  SampleOptions options;
  options.set_score("max_logit");
  scored = ScoreSamples(options, Reader(false), nullptr);
  ASSERT_TRUE(scored.ok()) << scored.status();
  EXPECT_THAT(scored->samples.unknown_score, ElementsAre(-3, -2));
}

TEST(ScoredSamplesTest, NegatesGivenScoresButNotComputedOnes) {
  SampleOptions options;
  options.set_higher_is_known(true);
  ASSERT_OK_AND_ASSIGN(const ScoredSamples scored, ScoreSamples(options, Reader(true), nullptr));
  EXPECT_THAT(scored.samples.unknown_score, ElementsAre(-1, 2));
  options.set_score("energy");
  EXPECT_THAT(std::string(ScoreSamples(options, Reader(true), nullptr).status().message()),
              HasSubstr("--higher_is_known: applies to the score in the files"));
}

TEST(ScoredSamplesTest, ReadsTrainingOutputsOnlyForFittedScores) {
  const SampleReader fails = [](const SetRoles&, ScoreDirection) -> absl::StatusOr<SampleSet> {
    return absl::NotFoundError("fit.npz");
  };
  EXPECT_TRUE(ScoreSamples({}, Reader(true), fails).ok());
  EXPECT_EQ(ScoreSamples({}, Reader(false), fails).status().message(), "fit.npz");
}

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
  ASSERT_OK_AND_ASSIGN(const RunComparisonOptions options, RequestedRunComparison(request));
  EXPECT_THAT(options.metrics, ElementsAre("auroc", "openauc"));
  EXPECT_EQ(options.test.confidence, 0.95);
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
