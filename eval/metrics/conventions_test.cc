#include "eval/metrics/conventions.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/testing/status_matchers.h"
#include "eval/metrics/evaluate.h"
#include "eval/testing/golden.h"

namespace openset {
namespace {

// The values by the names that the tool prints.
std::map<std::string, double> Printed(const std::string& convention, const Samples& samples) {
  std::map<std::string, double> printed;
  const Convention found = FindConvention(convention).value();
  for (const ConventionMetric& metric : found.metrics) {
    const std::vector<MetricValue> values = Evaluate({metric.metric}, samples.Input()).value();
    if (values[0].value.has_value()) printed[metric.printed_name] = metric.offset + metric.factor * *values[0].value;
  }
  return printed;
}

TEST(Conventions, AreValidAndFoundByName) {
  for (const Convention& convention : Conventions()) {
    std::vector<MetricSpec> metrics;
    for (const ConventionMetric& metric : convention.metrics) metrics.push_back(metric.metric);
    EXPECT_TRUE(CheckMetrics(metrics).ok()) << convention.name;
    EXPECT_EQ(FindConvention(convention.name)->tool, convention.tool);
  }
  EXPECT_THAT(FindConvention("openod"), IsNotFound("did you mean 'openood'?"));
}

TEST(Conventions, MatchTheToolsOnGoldenDetectionCases) {
  for (const GoldenCase& golden : ReadGolden("unknown_detection.json", "detection")) {
    SCOPED_TRACE(golden.name);
    const Samples samples = DetectionSamples(golden);
    const auto expected = [&golden](const std::string& key) { return *golden.at("expected/" + key); };
    auto printed = Printed("openood", samples);
    EXPECT_NEAR(printed.at("AUROC"), expected("auroc"), 1e-12);
    EXPECT_NEAR(printed.at("AUPR_IN"), expected("aupr_in_trapz"), 1e-12);
    EXPECT_NEAR(printed.at("AUPR_OUT"), expected("aupr_out_trapz"), 1e-12);
    if (golden.name != "collinear_equal_ratio_blocks") {
      EXPECT_NEAR(printed.at("FPR@95"), expected("fpr95_ood_positive"), 1e-12);
    } else {
      EXPECT_EQ(printed.at("FPR@95"), 1);  // the tool's own result; the full curve gives 0.95
    }
    printed = Printed("oe", samples);
    EXPECT_NEAR(printed.at("FPR95"), expected("fpr95_ood_positive_nearest"), 1e-12);
    EXPECT_NEAR(printed.at("AUPR"), expected("aupr_out_step"), 1e-12);
    printed = Printed("udb", samples);
    EXPECT_NEAR(printed.at("FPR@95%TPR"), expected("fpr95_id_positive_merge_walk"), 1e-12);
    EXPECT_NEAR(printed.at("AUROC"), expected("auroc_ties_lose"), 1e-12);
    printed = Printed("arpl", samples);
    EXPECT_NEAR(printed.at("TNR"), 1 - expected("fpr95_id_positive_merge_walk"), 1e-12);
    printed = Printed("openset", samples);
    EXPECT_NEAR(printed.at("fpr_at_95tpr"), expected("fpr95_id_positive"), 1e-12);
    EXPECT_NEAR(printed.at("fpr_at_95tpr_unknown_positive"), expected("fpr95_ood_positive"), 1e-12);
  }
}

TEST(Conventions, MatchTheToolsOnGoldenOpenSetCases) {
  for (const GoldenCase& golden : ReadGolden("open_set_metrics.json", "cases")) {
    if (!golden.at("expected/openauc").has_value()) continue;
    SCOPED_TRACE(golden.name);
    const Samples samples = OpenSetSamples(golden);
    auto printed = Printed("released", samples);
    EXPECT_NEAR(printed.at("OpenAUC"), *golden.at("expected/openauc_epsilon_double"), 1e-12);
    EXPECT_NEAR(printed.at("Error@95%TPR"), *golden.at("expected/error_at_95tpr_released"), 1e-12);
    EXPECT_NEAR(printed.at("ma_f_score"), *golden.at("best_over_grid/open_set_f_micro/value"), 1e-12);
    EXPECT_NEAR(printed.at("mi_f_score"), *golden.at("best_over_grid/open_set_f_macro/value"), 1e-12);
    printed = Printed("arpl", samples);
    EXPECT_NEAR(printed.at("OSCR"), *golden.at("expected/oscr_legacy"), 1e-12);
    EXPECT_NEAR(printed.at("AUROC"), *golden.at("expected/auroc_strict"), 1e-12);
  }
}

TEST(Conventions, MatchTheToolsOnGoldenSelectiveCases) {
  for (const GoldenCase& golden : ReadGolden("selective.json", "cases")) {
    SCOPED_TRACE(golden.name);
    const Samples samples = OpenSetSamples(golden);
    auto printed = Printed("fd_shifts", samples);
    EXPECT_NEAR(printed.at("aurc x1000"), 1000 * *golden.at("aurc"), 1e-9);
    EXPECT_NEAR(printed.at("e-aurc x1000"), 1000 * *golden.at("eaurc"), 1e-9);
    EXPECT_NEAR(printed.at("e-augrc x1000"), 1000 * *golden.at("eaugrc"), 1e-9);
    EXPECT_NEAR(printed.at("augrc-ba x1000"), 1000 * *golden.at("augrc_ba"), 1e-9);
    if (golden.numbers.count("tu_aurc") == 0) continue;
    printed = Printed("torch_uncertainty", samples);
    EXPECT_NEAR(printed.at("sc/AURC"), *golden.at("tu_aurc"), 1e-12);
    EXPECT_NEAR(printed.at("sc/AUGRC"), *golden.at("tu_augrc"), 1e-12);
    EXPECT_NEAR(printed.at("sc/Risk_80Cov"), *golden.at("risk_80_cov"), 1e-12);
    EXPECT_NEAR(printed.at("sc/Cov_5Risk"), *golden.at("cov_5_risk"), 1e-12);
    if (golden.numbers.count("mce") > 0) {
      EXPECT_NEAR(printed.at("cal/MCE"), *golden.at("mce"), 1e-12);
    }
    if (golden.numbers.count("mce") > 0) {
      EXPECT_NEAR(printed.at("cal/aECE"), *golden.at("adaptive_ece"), 1e-12);
    }
  }
}

// What the tools themselves print for the same arrays (tools/peers/make_conventions_golden.py): every cell of their
// tables. ODIN's values come from a fixed grid of thresholds.
TEST(Conventions, PrintWhatTheToolsPrint) {
  std::set<std::string> left;
  for (const Convention& convention : Conventions()) {
    if (convention.name == "openset") continue;
    for (const ConventionMetric& metric : convention.metrics) left.insert(convention.name + "/" + metric.printed_name);
  }
  for (const GoldenCase& golden : ReadGolden("conventions.json", "cases")) {
    const Samples samples = OpenSetSamples(golden);
    for (const Convention& convention : Conventions()) {
      const std::map<std::string, double> printed = Printed(convention.name, samples);
      for (const ConventionMetric& metric : convention.metrics) {
        const std::string cell = convention.name + "/" + metric.printed_name;
        const auto expected = golden.numbers.find("printed/" + cell);
        if (expected == golden.numbers.end()) continue;
        // torch-uncertainty computes some in single precision.
        const double tolerance = (convention.name == "torch_uncertainty" ? 1e-6
                                  : convention.name == "odin"            ? 1e-3
                                                                         : 1e-9) *
                                 std::max(1.0, metric.factor);
        EXPECT_NEAR(printed.at(metric.printed_name), *expected->second, tolerance) << golden.name << ", " << cell;
        left.erase(cell);
      }
    }
  }
  EXPECT_THAT(left, ::testing::IsEmpty());
}

// With the grid of its code, of the confidence 1 - the score.
TEST(Conventions, PrintOdinsFprOnItsGrid) {
  const GoldenCase golden = ReadGolden("conventions.json", "cases")[0];
  const Samples samples = OpenSetSamples(golden);
  EXPECT_TRUE(
      Agrees(Compute("fpr_at_95tpr { rule: GRID_MEAN grid_low: -0.9 grid_high: 0 }", RankedInput(samples.Input())),
             golden.at("printed/odin/FPR at TPR 95%"), 1e-9));
}

}  // namespace
}  // namespace openset
