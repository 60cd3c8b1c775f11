#include "eval/metrics/metric.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "core/proto/traits.h"
#include "core/proto/traits.pb.h"
#include "eval/metrics/metric_members.h"

namespace openset {
namespace {

// `special`: unknown samples are positive, or all samples are meant.
struct Form {
  MetricSpec::KindCase kind;
  bool special;
  const char* before;
  const char* after;
};
constexpr Form kForms[] = {
    {MetricSpec::kFprAtTpr, false, "fpr_at_", "tpr"},
    {MetricSpec::kFprAtTpr, true, "fpr_at_", "tpr_unknown_positive"},
    {MetricSpec::kCcrAtFpr, false, "ccr_at_", "fpr"},
    {MetricSpec::kRiskAtCoverage, false, "risk_at_", "coverage"},
    {MetricSpec::kRiskAtCoverage, true, "pooled_risk_at_", "coverage"},
    {MetricSpec::kCoverageAtRisk, false, "coverage_at_", "risk"},
    {MetricSpec::kCoverageAtRisk, true, "pooled_coverage_at_", "risk"},
};

// The level, and whether the name has the special form.
std::pair<double, bool> LevelOf(const MetricSpec& spec) {
  switch (spec.kind_case()) {
    case MetricSpec::kFprAtTpr:
      return {spec.fpr_at_tpr().tpr(), spec.fpr_at_tpr().positive() == FprAtLevelSpec::UNKNOWN};
    case MetricSpec::kCcrAtFpr:
      return {spec.ccr_at_fpr().fpr(), false};
    case MetricSpec::kRiskAtCoverage:
      return {spec.risk_at_coverage().coverage(), spec.risk_at_coverage().over() == RiskSamples::POOL};
    case MetricSpec::kCoverageAtRisk:
      return {spec.coverage_at_risk().risk(), spec.coverage_at_risk().over() == RiskSamples::POOL};
    default:
      return {0, false};
  }
}

MetricSpec Made(const Form& form, double level) {
  MetricSpec spec;
  if (form.kind == MetricSpec::kFprAtTpr) {
    spec.mutable_fpr_at_tpr()->set_tpr(level);
    if (form.special) spec.mutable_fpr_at_tpr()->set_positive(FprAtLevelSpec::UNKNOWN);
  } else if (form.kind == MetricSpec::kCcrAtFpr) {
    spec.mutable_ccr_at_fpr()->set_fpr(level);
  } else if (form.kind == MetricSpec::kRiskAtCoverage) {
    spec.mutable_risk_at_coverage()->set_coverage(level);
    if (form.special) spec.mutable_risk_at_coverage()->set_over(RiskSamples::POOL);
  } else {
    spec.mutable_coverage_at_risk()->set_risk(level);
    if (form.special) spec.mutable_coverage_at_risk()->set_over(RiskSamples::POOL);
  }
  return spec;
}

std::string ShortestNumber(double value) {
  std::string text;
  double read = 0;
  for (int digits = 6; digits <= 17; ++digits) {
    text = absl::StrFormat("%.*g", digits, value);
    if (absl::SimpleAtod(text, &read) && read == value) break;
  }
  return text;
}

}  // namespace

std::string LevelName(const MetricSpec& spec) {
  const auto [level, special] = LevelOf(spec);
  for (const Form& form : kForms) {
    if (form.kind == spec.kind_case() && form.special == special) {
      return absl::StrCat(form.before, ShortestNumber(level), form.after);
    }
  }
  return "";
}

std::optional<MetricSpec> MetricOfLevelName(absl::string_view name) {
  for (const Form& form : kForms) {
    absl::string_view number = name;
    double level = 0;
    if (!absl::ConsumePrefix(&number, form.before) || !absl::ConsumeSuffix(&number, form.after)) continue;
    if (absl::SimpleAtod(number, &level) && level >= 0 && level <= 1) return Made(form, level);
  }
  return std::nullopt;
}

std::string MetricName(const MetricSpec& spec) {
  if (!spec.name().empty()) return spec.name();
  if (std::string with_level = LevelName(spec); !with_level.empty()) return with_level;
  const google::protobuf::OneofDescriptor* kind = MetricSpec::descriptor()->FindOneofByName("kind");
  const google::protobuf::FieldDescriptor* member = MetricSpec::GetReflection()->GetOneofFieldDescriptor(spec, kind);
  return member == nullptr ? "" : member->name();
}

std::optional<bool> HigherIsBetter(const MetricSpec& spec) {
  const Traits traits = TraitsOf(spec);
  if (traits.higher_is_better()) return true;
  if (traits.lower_is_better()) return false;
  return std::nullopt;
}

Metric MakeMetric(const MetricSpec& spec) {
  Metric metric = Make(spec);
  if (const Traits traits = TraitsOf(spec); traits.predictions()) {
    metric.compute = [compute = std::move(metric.compute), traits](const RankedInput& ranked) {
      const EvaluationInput& input = ranked.input();
      if (!input.loss().empty() && !traits.loss()) {
        return MetricResult::Absent("needs answers that are right or wrong, and the samples have a loss");
      }
      if (!input.has_predictions() && input.loss().empty()) return AbsentWithoutPredictions();
      if (!input.has_classes() && traits.classes()) {
        return MetricResult::Absent("needs the predicted classes; only right and wrong are known");
      }
      return compute(ranked);
    };
  }
  return metric;
}

MetricResult ComputeMetric(const MetricSpec& spec, const RankedInput& ranked) {
  return MakeMetric(spec).compute(ranked);
}

}  // namespace openset
