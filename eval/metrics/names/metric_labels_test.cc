#include "eval/metrics/names/metric_labels.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset::metric_labels {
namespace {

using ::testing::ElementsAre;

TEST(MetricLabels, DefaultsAreNotNamed) {
  EXPECT_THAT(AuprLabel("unknown positive", {}), ElementsAre("AUPR", "unknown positive"));
  EXPECT_THAT(FprLabel("known positive", {}), ElementsAre("FPR95", "known positive"));
  EXPECT_THAT(AurcLabel({"AURC"}, AurcSpec::EXPECTED), ElementsAre("AURC"));
  EXPECT_THAT(DenominatorLabel({"inner"}, {}), ElementsAre("inner"));
  EXPECT_THAT(RiskLabel("risk", 0.8, "coverage", /*pooled=*/false), ElementsAre("risk at 80 % coverage"));
}

TEST(MetricLabels, WhatDiffersFromTheDefaultIs) {
  AuprSpec aupr;
  aupr.set_form(AuprSpec::TRAPEZOID);
  EXPECT_THAT(AuprLabel("unknown positive", aupr), ElementsAre("AUPR", "unknown positive", "trapezoid"));
  FprAtTprSpec fpr;
  fpr.set_rule(FprAtTprSpec::FIRST_REACHING_CORNERS);
  EXPECT_THAT(FprLabel("known positive", fpr), ElementsAre("FPR95", "known positive", "first reaching corners"));
  BalancedScoreSpec balanced;
  balanced.set_denominator(BalancedScoreSpec::ALL);
  EXPECT_THAT(DenominatorLabel({"inner"}, balanced), ElementsAre("inner", "mean over all classes"));
  EceSpec ece;
  ece.set_bins(10);
  ece.set_edges(EceSpec::LEFT_CLOSED);
  EXPECT_THAT(EceLabel("ECE", ece), ElementsAre("ECE", "10 bins", "left closed"));
  EXPECT_THAT(RiskLabel("risk", 0.125, "coverage", /*pooled=*/true), ElementsAre("risk at 12.5 % coverage", "pooled"));
}

}  // namespace
}  // namespace openset::metric_labels
