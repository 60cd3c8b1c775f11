#include "eval/metrics/names/metric_labels.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "eval/metrics/detection/threshold_text.h"

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
