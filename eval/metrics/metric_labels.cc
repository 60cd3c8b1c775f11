

#include "eval/metrics/metric_labels.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "eval/metrics/detection/threshold_text.h"

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

}  // namespace openset

namespace openset::metric_labels {

std::string Words(const std::string& enumerator) {
  return absl::StrReplaceAll(absl::AsciiStrToLower(enumerator), {{"_", " "}});
}

std::string Number(double value) { return absl::StrFormat("%g", value); }

Label With(Label label, bool is_set, const std::string& detail) {
  if (is_set) label.push_back(detail);
  return label;
}

std::string Percent(double share) { return absl::StrCat(Number(100 * share), " %"); }

Label AuprLabel(const std::string& positive, const AuprSpec& spec) {
  return With({"AUPR", positive}, spec.form() > AuprSpec::STEP, Words(AuprSpec::Form_Name(spec.form())));
}

Label FprLabel(const std::string& positive, const FprAtTprSpec& spec) {
  return With({"FPR95", positive}, spec.rule() > FprAtTprSpec::FIRST_REACHING,
              Words(FprAtTprSpec::Rule_Name(spec.rule())));
}

Label NaccLabel(const std::string& form, const NaccSpec& spec) {
  return With(With({"NAcc", form}, spec.lambda() != 0.5, absl::StrCat("lambda ", Number(spec.lambda()))), true,
              ThresholdText(spec.at()));
}

Label DenominatorLabel(Label label, const BalancedScoreSpec& spec) {
  return With(With(std::move(label), spec.denominator() == BalancedScoreSpec::TOUCHED, "mean over touched classes"),
              spec.denominator() == BalancedScoreSpec::ALL, "mean over all classes");
}

Label AurcLabel(Label label, AurcSpec::Form form) {
  return With(std::move(label), form > AurcSpec::EXPECTED, Words(AurcSpec::Form_Name(form)));
}

Label AugrcLabel(Label label, AugrcSpec::Form form) {
  return With(std::move(label), form > AugrcSpec::TRAPEZOID_DISTINCT, Words(AugrcSpec::Form_Name(form)));
}

Label EceLabel(const std::string& name, const EceSpec& spec) {
  return With({name, absl::StrCat(spec.bins(), " bins")}, spec.edges() == EceSpec::LEFT_CLOSED, "left closed");
}

Label RiskLabel(const std::string& what, double level, const std::string& of, bool pooled) {
  return With({absl::StrCat(what, " at ", Percent(level), " ", of)}, pooled, "pooled");
}

}  // namespace openset::metric_labels
