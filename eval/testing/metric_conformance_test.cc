#include "eval/testing/metric_conformance.h"

#include <optional>
#include <utility>
#include <vector>

#include "core/proto/traits.h"
#include "core/testing/parsed.h"
#include "eval/metrics/conventions.h"
#include "eval/metrics/metric.h"
#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace testing {
namespace {

TEST(MetricConformance, HoldsForEveryMember) {
  const google::protobuf::OneofDescriptor* kind = MetricSpec::descriptor()->FindOneofByName("kind");
  for (int i = 0; i < kind->field_count(); ++i) {
    MetricSpec spec;
    MetricSpec::GetReflection()->MutableMessage(&spec, kind->field(i));
    const Traits traits = TraitsOf(spec);
    MetricForm form;
    form.low = traits.low();
    form.high = traits.high();
    CheckMetric(spec, form);
  }
}

// Right predictions with the unknown samples on top against wrong ones with the known samples on top.
TEST(MetricConformance, DirectionIsThatOfTheBetterInput) {
  Samples better;
  better.num_classes = better.num_outputs = 2;
  Samples worse = better;
  for (int i = 0; i < 20; ++i) {
    const bool known = i < 10;
    for (Samples* samples : {&better, &worse}) {
      const bool good = samples == &better;
      // One of five known samples is the other way round, so that all metrics are defined.
      const bool right = (i % 5 == 0) != good;
      samples->label.push_back(known ? i % 2 : kUnknownLabel);
      samples->prediction.push_back(right ? i % 2 : 1 - i % 2);
      for (int c = 0; c < 2; ++c) samples->logits.push_back(c == samples->prediction.back() ? 2.0f : 0.0f);
      const bool on_top = good ? !known || !right : known && right;
      samples->unknown_score.push_back(i * 0.01 + (on_top ? 1 : 0));
    }
  }
  for (const MetricSpec& spec : AllMetrics()) {
    const double of_better = *ComputeMetric(spec, RankedInput(better.Input())).value;
    const double of_worse = *ComputeMetric(spec, RankedInput(worse.Input())).value;
    const std::optional<bool> higher = HigherIsBetter(spec);
    if (!higher.has_value()) {
      EXPECT_EQ(of_better, of_worse) << MetricName(spec);
    } else if (*higher) {
      EXPECT_GT(of_better, of_worse) << MetricName(spec);
    } else {
      EXPECT_LT(of_better, of_worse) << MetricName(spec);
    }
  }
}

TEST(MetricConformance, HoldsForOtherForms) {
  MetricForm by_order;
  by_order.depends_on_order = true;
  MetricForm by_value;
  by_value.depends_on_ranks_only = false;
  MetricForm any = by_value;
  any.low = -1;
  MetricForm any_share;
  any_share.low = -1;
  const std::vector<std::pair<const char*, MetricForm>> forms = {
      {"oscr { form: EQ9_MIXED }", {}},
      {"oscr { form: LEGACY }", by_order},
      {"openauc { mask: EPSILON_DOUBLE }", by_value},
      {"openauc { mask: EPSILON_FLOAT }", by_value},
      {"auroc { tied: NOTHING }", {}},
      {"aupr_known { form: TRAPEZOID }", {}},
      {"aupr_unknown { form: BALANCED_STEP }", {}},
      {"fpr_at_95tpr { rule: FIRST_REACHING_CORNERS }", {}},
      {"fpr_at_95tpr { rule: NEAREST }", {}},
      {"fpr_at_95tpr { rule: NEAREST_WALK }", {}},
      {"fpr_at_95tpr { rule: STRICT_QUANTILE }", {}},
      {"fpr_at_95tpr { rule: GRID_MEAN grid_low: -3 grid_high: 3 }", by_value},
      {"error_at_95tpr { rule: RELEASED }", {}},
      {"open_set_f_macro { at { threshold: 0.5 } }", by_value},
      {"youden_micro { at { best_on_grid { divisions: 7 } } }", any},
      {"nacc { lambda: 0.2 at { known_accepted: 0.9 } }", {}},
      {"overall { threshold: 0.5 denominator: ALL }", by_value},
      {"halfpoint { known_accepted: 0.7 denominator: TOUCHED }", {}},
      {"aurc { form: INPUT_ORDER }", by_order},
      {"aurc { form: CORRECT_FIRST }", {}},
      {"pooled_aurc { form: ERROR_FIRST }", {}},
      {"aurc { form: TRAPEZOID_DISTINCT }", {}},
      {"aurc { form: TRAPEZOID_NORMALISED }", by_order},
      {"eaurc { oracle: EXACT }", {}},
      {"eaurc { form: TRAPEZOID_DISTINCT }", any_share},
      {"augrc { form: TRAPEZOID_NORMALISED }", by_order},
      {"fpr_at_tpr { tpr: 0.8 positive: UNKNOWN }", {}},
      {"ccr_at_fpr { fpr: 0 }", {}},
      {"risk_at_coverage { coverage: 0.3 over: POOL }", {}},
      {"coverage_at_risk { risk: 0.5 over: POOL }", {}},
      {"open_set_accuracy { at { threshold: 0.5 } }", by_value},
      {"mce { bins: 4 edges: LEFT_CLOSED }", {}},
      {"adaptive_ece { bins: 7 }", {}},
  };
  for (const auto& [text, form] : forms) {
    CheckMetric(Parsed<MetricSpec>(text), form);
  }
}

}  // namespace
}  // namespace testing
}  // namespace openset
