#include "eval/metrics/display.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "core/testing/parsed.h"
#include "eval/metrics/conventions.h"
#include "eval/metrics/metric.h"
#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

Display Of(const std::string& text) { return DisplayOf(Parsed<MetricSpec>(text)); }

TEST(Display, EachMemberInItsUnit) {
  EXPECT_EQ(Shown(0.71054, Of("auroc {}")), "71.05");
  EXPECT_EQ(LabelWithUnit(Of("auroc {}")), "AUROC, %");
  EXPECT_EQ(Of("auroc {}").value_unit, "share");
  EXPECT_EQ(BetterText(Of("auroc {}")), "higher");

  EXPECT_EQ(Shown(0.0625, Of("aurc {}")), "62.50");
  EXPECT_EQ(LabelWithUnit(Of("aurc {}")), "AURC, x1000");
  EXPECT_EQ(BetterText(Of("aurc {}")), "lower");

  EXPECT_EQ(Shown(1.23456, Of("nll {}")), "1.2346");
  EXPECT_EQ(LabelWithUnit(Of("nll {}")), "NLL, nats");
  EXPECT_EQ(Of("nll {}").value_unit, "nats");

  EXPECT_EQ(Shown(0.5, Of("brier {}")), "0.5000");
  EXPECT_EQ(Of("brier {}").value_unit, "1");

  EXPECT_EQ(Shown(1.5, Of("known_unknown_ratio {}")), "1.5000");
  EXPECT_EQ(LabelWithUnit(Of("known_unknown_ratio {}")), "known : unknown");
  EXPECT_EQ(BetterText(Of("known_unknown_ratio {}")), "");
}

// The label of a metric with several conventions names its convention.
TEST(Display, ConventionsAreInTheLabel) {
  const std::vector<std::pair<const char*, const char*>> labels = {
      {"fpr_at_95tpr {}", "FPR95 (known positive)"},
      {"fpr_at_95tpr { rule: NEAREST_WALK }", "FPR95 (known positive, nearest walk)"},
      {"fpr_at_95tpr_unknown_positive { rule: FIRST_REACHING_CORNERS }",
       "FPR95 (unknown positive, first reaching corners)"},
      {"aupr_unknown {}", "AUPR (unknown positive)"},
      {"aupr_known { form: TRAPEZOID }", "AUPR (known positive, trapezoid)"},
      {"auroc { tied: NOTHING }", "AUROC (ties count 0)"},
      {"error_at_95tpr { rule: RELEASED }", "error at 95 % TPR (unknown positive, released)"},
      {"openauc { mask: EPSILON_FLOAT }", "OpenAUC (epsilon float)"},
      {"openauc_strict {}", "OpenAUC (ties count 0)"},
      {"oscr { form: LEGACY }", "OSCR (legacy)"},
      {"partial_openauc { max_ofpr: 0.1 }", "partial OpenAUC (OFPR 0 to 0.1)"},
      {"open_set_f_macro {}", "open-set F (macro, best threshold on test)"},
      {"youden_micro { at { best_on_grid {} } }", "Youden's J (micro, best threshold of 99 on test)"},
      {"nacc { lambda: 0.2 at { known_accepted: 0.9 } }", "NAcc (Eq. 6, lambda 0.2, 90 % of known accepted)"},
      {"nacc_rates { at { threshold: 0.5 } }", "NAcc (rates, threshold 0.5)"},
      {"inner {}", "inner score"},
      {"outer {}", "outer score (95 % of known accepted)"},
      {"overall { of_method {} denominator: ALL }", "overall score (threshold of the method, mean over all classes)"},
      {"aurc { form: TRAPEZOID_DISTINCT }", "AURC (trapezoid distinct)"},
      {"pooled_aurc {}", "AURC (pooled)"},
      {"eaurc { oracle: EXACT }", "E-AURC (exact oracle)"},
      {"ece { bins: 10 edges: LEFT_CLOSED }", "ECE (10 bins, left closed)"},
      {"eaurc { form: TRAPEZOID_DISTINCT }", "E-AURC (trapezoid distinct)"},
      {"pooled_augrc {}", "AUGRC (pooled)"},
      {"class_balanced_aurc {}", "AURC (class-balanced)"},
      {"fpr_at_tpr { tpr: 0.8 positive: UNKNOWN }", "FPR at 80 % TPR (unknown positive)"},
      {"ccr_at_fpr { fpr: 0.01 }", "CCR at 1 % FPR (known positive)"},
      {"ccr_at_fpr { rule: BELOW_RANK }", "CCR at 10 % FPR (known positive, below the rank)"},
      {"coverage_at_risk { risk: 0.1 over: POOL }", "coverage at 10 % risk (pooled)"},
      {"open_set_accuracy { at { threshold: 0.5 } }", "open-set accuracy (threshold 0.5)"},
      {"mce {}", "MCE (15 bins)"},
      {"halfpoint { denominator: TOUCHED }", "halfpoint score (95 % of known accepted, mean over touched classes)"},
      {"risk_at_coverage { coverage: 0.125 }", "risk at 12.5 % coverage"},
      {"name: 'early' partial_openauc {}", "early"},
  };
  for (const auto& [text, label] : labels) EXPECT_EQ(Of(text).label, label);
}

TEST(Display, LabelsTellAllMembersApart) {
  std::set<std::string> labels;
  for (const MetricSpec& metric : AllMetrics()) {
    const Display display = DisplayOf(metric);
    EXPECT_TRUE(labels.insert(display.label).second) << display.label;
    EXPECT_FALSE(display.label.empty());
    for (const char c : display.label) EXPECT_TRUE(absl::ascii_isprint(c)) << display.label;
    EXPECT_EQ(display.higher_is_better, HigherIsBetter(metric));
  }
}

// Metrics that ignore unknown samples don't change with other unknown samples; all others do. Four known samples, two
// sets of unknown ones.
TEST(Display, KnowsWhichMetricsReadUnknownSamples) {
  Samples one;
  one.num_classes = one.num_outputs = 2;
  one.label = {0, 0, 1, 1, kUnknownLabel, kUnknownLabel};
  one.prediction = {0, 1, 1, 1, 0, 1};
  one.unknown_score = {0.1, 0.3, 0.2, 0.4, 0.35, 0.5};
  one.logits = {2, 1, 0, 1, 0, 3, 0, 1, 1, 0, 0, 1};
  Samples other = one;
  other.unknown_score[4] = 0.15;
  other.unknown_score.push_back(0.05);
  other.label.push_back(kUnknownLabel);
  other.prediction.push_back(1);
  other.logits.insert(other.logits.end(), {0, 1});
  for (const MetricSpec& metric : AllMetrics()) {
    const MetricResult a = ComputeMetric(metric, RankedInput(one.Input()));
    const MetricResult b = ComputeMetric(metric, RankedInput(other.Input()));
    ASSERT_TRUE(a.value.has_value() && b.value.has_value()) << metric.ShortDebugString();
    EXPECT_EQ(*a.value != *b.value, DisplayOf(metric).reads_unknown) << metric.ShortDebugString();
  }
}

}  // namespace
}  // namespace openset
