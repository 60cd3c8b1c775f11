// Tests that every metric must pass.
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/proto/traits.h"
#include "core/random.h"
#include "core/testing/parsed.h"
#include "eval/metrics/conventions.h"
#include "eval/metrics/metric.h"
#include "eval/metrics/metric.pb.h"
#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

// Properties of one form of a metric, beside what all metrics have in common.
struct MetricForm {
  double low = 0;  // its range
  double high = 1;
  bool depends_on_ranks_only = true;  // and not on the scores' values
  bool depends_on_order = false;      // of the samples in the input
};

// On random inputs with and without ties, without known and without unknown samples, of one class, with infinite and
// with constant scores:
//   * a value is finite and in range; an absent one has a reason;

//   * the order of the samples and a strictly increasing function of the scores change nothing, as `form` says;

constexpr double kTolerance = 1e-12;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// `levels` 0: scores without ties.
Samples RandomSamples(absl::string_view name, int known, int unknown, int classes, int levels) {
  RandomStream random(5, name);
  Samples samples;
  samples.name = std::string(name);
  samples.num_classes = classes;
  for (int i = 0; i < known + unknown; ++i) {
    const bool is_known = i < known;
    samples.label.push_back(is_known ? static_cast<int32_t>(random.Below(classes)) : kUnknownLabel);
    const bool copies = is_known && random.Uniform() < 0.6;
    samples.prediction.push_back(copies ? samples.label.back() : static_cast<int32_t>(random.Below(classes)));
    const double score = random.Normal() + (is_known ? 0 : 1);
    samples.unknown_score.push_back(levels == 0 ? score : std::round(score * levels) / levels);
    for (int c = 0; c < classes; ++c) samples.logits.push_back(static_cast<float>(2 * random.Normal()));
  }
  samples.num_outputs = classes;
  return samples;
}

std::vector<Samples> Inputs() {
  std::vector<Samples> inputs = {
      RandomSamples("distinct", 30, 20, 4, 0),  RandomSamples("ties", 40, 30, 3, 2),
      RandomSamples("no unknown", 12, 0, 3, 2), RandomSamples("no known", 0, 9, 3, 2),
      RandomSamples("one class", 8, 7, 1, 3),   RandomSamples("one against one", 1, 1, 2, 0),
      RandomSamples("infinite", 10, 10, 2, 1),  RandomSamples("constant", 6, 5, 2, 0),
      RandomSamples("all wrong", 6, 5, 3, 0),
  };
  for (int i = 0; i < 20; i += 3) inputs[6].unknown_score[i] = i % 2 == 0 ? kInfinity : -kInfinity;
  for (double& score : inputs[7].unknown_score) score = 0.25;
  for (int i = 0; i < 6; ++i) inputs[8].prediction[i] = (inputs[8].label[i] + 1) % 3;
  return inputs;
}

void AddSample(const Samples& from, int64_t i, Samples* to) {
  to->num_classes = from.num_classes;
  to->num_outputs = from.num_outputs;
  to->unknown_score.push_back(from.unknown_score[i]);
  to->prediction.push_back(from.prediction[i]);
  to->label.push_back(from.label[i]);
  const auto row = from.logits.begin() + i * from.num_outputs;
  to->logits.insert(to->logits.end(), row, row + from.num_outputs);
}

Samples Repeated(const Samples& samples, const std::vector<uint32_t>& times) {
  Samples result;
  for (int64_t i = 0; i < times.size(); ++i) {
    for (uint32_t copy = 0; copy < times[i]; ++copy) AddSample(samples, i, &result);
  }
  return result;
}

Samples Permuted(const Samples& samples, const std::vector<int64_t>& order) {
  Samples result;
  for (const int64_t i : order) AddSample(samples, i, &result);
  return result;
}

void ExpectSame(const MetricResult& a, const MetricResult& b) {
  ASSERT_EQ(a.value.has_value(), b.value.has_value()) << a.absent_reason << b.absent_reason;
  if (a.value.has_value()) {
    EXPECT_NEAR(*a.value, *b.value, kTolerance);
  }
}

MetricResult Compute(const MetricSpec& spec, const Samples& samples) {
  return ComputeMetric(spec, RankedInput(samples.Input()));
}

//   * weights give what repeated samples give, and weights of 0 what samples left out give.
void CheckMetric(const MetricSpec& spec, const MetricForm& form) {
  SCOPED_TRACE(spec.ShortDebugString());
  for (const Samples& samples : Inputs()) {
    SCOPED_TRACE(samples.name);
    const int64_t n = samples.label.size();
    RandomStream random(6, samples.name);
    const MetricResult result = Compute(spec, samples);
    if (result.value.has_value()) {
      EXPECT_TRUE(std::isfinite(*result.value));
      EXPECT_GE(*result.value, form.low - kTolerance);
      EXPECT_LE(*result.value, form.high + kTolerance);
      EXPECT_EQ(result.absent_reason, "");
    } else {
      EXPECT_NE(result.absent_reason, "");
    }

    if (!form.depends_on_order) ExpectSame(Compute(spec, Permuted(samples, random.Permutation(n))), result);
    if (form.depends_on_ranks_only) {
      Samples moved = samples;
      for (double& score : moved.unknown_score) score = 3 + 2 * score;
      ExpectSame(Compute(spec, moved), result);
    }

    std::vector<uint32_t> times(n);
    times[random.Below(n)] = 1;  // not all 0
    for (uint32_t& t : times) t += static_cast<uint32_t>(random.Below(4));
    RankedInput ranked(samples.Input());
    ranked.Reweight(times);
    ExpectSame(ComputeMetric(spec, ranked), Compute(spec, Repeated(samples, times)));
    ranked.Reweight(std::vector<uint32_t>(n, 1));
    ExpectSame(ComputeMetric(spec, ranked), result);
  }
}

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
  for (const auto& [text, form] : forms) CheckMetric(Parsed<MetricSpec>(text), form);
}

}  // namespace

}  // namespace openset
