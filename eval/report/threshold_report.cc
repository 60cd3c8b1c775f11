#include "eval/report/threshold_report.h"

#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/text/json_text.h"
#include "core/text/suggest.h"
#include "core/text/table.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

const std::pair<const char*, ThresholdRule> kRules[] = {
    {"known_accepted", ThresholdRule::kKnownAccepted},
    {"unknown_rejected", ThresholdRule::kUnknownRejected},
    {"open_set_f_macro", ThresholdRule::kBestOpenSetFMacro},
    {"open_set_f_micro", ThresholdRule::kBestOpenSetFMicro},
    {"youden_macro", ThresholdRule::kBestYoudenMacro},
    {"youden_micro", ThresholdRule::kBestYoudenMicro},
    {"nacc_rates", ThresholdRule::kBestNaccRates},
    {"open_set_accuracy", ThresholdRule::kBestOpenSetAccuracy},
    {"risk", ThresholdRule::kRiskAtMost},
    {"risk_guaranteed", ThresholdRule::kRiskGuaranteed},
    {"conformal", ThresholdRule::kConformal},
};

// One number of a report, by name.
struct Share {
  const char* name;
  std::optional<double> value;
  std::optional<double> low;
  std::optional<double> high;
};

Share Counted(const char* name, const std::optional<CountedShare>& share) {
  if (!share.has_value()) return {name, {}, {}, {}};
  return {name, share->value, share->low, share->high};
}

std::vector<Share> SharesOf(const ThresholdReport& report) {
  return {Counted("known_accepted", report.known_accepted),
          Counted("correct_accepted", report.correct_accepted),
          Counted("unknown_rejected", report.unknown_rejected),
          Counted("coverage", report.coverage),
          Counted("risk", report.risk),
          Counted("open_set_accuracy", report.open_set_accuracy),
          {"open_set_f_macro", report.open_set_f_macro},
          {"open_set_f_micro", report.open_set_f_micro},
          {"youden_macro", report.youden_macro},
          {"youden_micro", report.youden_micro},
          {"nacc_rates", report.nacc_rates}};
}

std::string Shown(const std::optional<double>& value, bool full) {
  if (!value.has_value()) return full ? "" : "-";
  return full ? FullPrecision(*value) : absl::StrFormat("%.2f", 100 * *value);
}

// What the rows of the table are.
const std::map<std::string, const char*>& Meanings() {
  static const auto* const meanings = new std::map<std::string, const char*>{
      {"known_accepted", "known samples that are accepted"},
      {"correct_accepted", "known samples that are accepted with their class"},
      {"unknown_rejected", "unknown samples that are rejected"},
      {"coverage", "samples that are accepted"},
      {"risk", "accepted samples that are wrong or unknown"},
      {"open_set_accuracy", "samples accepted with their class, or unknown and rejected"},
      {"open_set_f_macro", "F-score of the known classes, from means over them"},
      {"open_set_f_micro", "F-score of the known classes, from summed counts"},
      {"youden_macro", "TPR + TNR - 1 of the known classes, means over them"},
      {"youden_micro", "TPR + TNR - 1 of the known classes, summed counts"},
      {"nacc_rates", "mean of correct_accepted and unknown_rejected"}};
  return *meanings;
}

Table MakeTable(const ChosenThreshold& chosen, bool full) {
  Table table{{full ? "name" : "percent", "validation"}, {}, full ? 1 : 2};
  if (!full) table.header.insert(table.header.begin() + 1, "of, or what");
  if (chosen.test.has_value()) table.header.insert(table.header.end(), {"test", "low", "high"});
  const std::vector<Share> validation = SharesOf(chosen.validation);
  const std::vector<Share> test = SharesOf(chosen.test.value_or(ThresholdReport()));
  for (size_t i = 0; i < validation.size(); ++i) {
    table.rows.push_back({validation[i].name, Shown(validation[i].value, full)});
    if (!full) table.rows.back().insert(table.rows.back().begin() + 1, Meanings().at(validation[i].name));
    if (!chosen.test.has_value()) continue;
    for (const std::optional<double>& value : {test[i].value, test[i].low, test[i].high}) {
      table.rows.back().push_back(Shown(value, full));
    }
  }
  return table;
}

nlohmann::ordered_json ToJson(const ThresholdReport& report) {
  nlohmann::ordered_json json;
  json["n_known"] = report.total.known();
  json["n_unknown"] = report.total.unknown;
  if (report.clusters > 0) json["n_clusters"] = report.clusters;
  for (const Share& share : SharesOf(report)) {
    if (share.value.has_value()) json[share.name] = *share.value;
    if (share.low.has_value()) json["intervals"][share.name] = {*share.low, *share.high};
  }
  return json;
}

std::string FormatJson(const ChosenThreshold& chosen) {
  nlohmann::ordered_json json;
  json["rule"] = chosen.rule;
  if (chosen.target.has_value()) json["target"] = *chosen.target;
  if (chosen.delta.has_value()) json["delta"] = *chosen.delta;
  const double threshold = chosen.validation.threshold;
  json["threshold"] = std::isfinite(threshold) ? nlohmann::ordered_json(threshold)
                                               : nlohmann::ordered_json(absl::StrFormat("%g", threshold));
  json["guarantee"] = GuaranteeText(chosen);
  json["validation"] = ToJson(chosen.validation);
  if (chosen.test.has_value()) json["test"] = ToJson(*chosen.test);
  return JsonText(json, 2) + "\n";
}

std::string Samples(const char* name, const ThresholdReport& report) {
  return absl::StrCat(name, ": ", report.total.known(), " known, ", report.total.unknown, " unknown samples",
                      report.clusters > 0 ? absl::StrCat(" in ", report.clusters, " clusters") : "");
}

}  // namespace

absl::StatusOr<ThresholdRule> ParseThresholdRule(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, rule] : kRules) {
    if (known == name) return rule;
    names.push_back(known);
  }
  return absl::InvalidArgumentError(UnknownName("rule", name, names));
}

std::string GuaranteeText(const ChosenThreshold& chosen) {
  const Tally& total = chosen.validation.total;
  const bool is_conformal = chosen.rule == "conformal", is_risk = chosen.rule == "risk_guaranteed";
  if ((is_conformal || is_risk) && chosen.has_clusters) {
    return "no guarantee: the validation samples belong together in clusters, and the rule assumes that they are "
           "independent; give one sample of each cluster";
  }
  if (is_conformal) {
    return absl::StrFormat(
        "guarantee: a new known sample is accepted with a probability of at least %g, over draws of it and of the %d "
        "known validation samples; if these are independent draws from one distribution and took no part in the "
        "training. It is about all known samples together, not about each class, and not about unknown ones",
        *chosen.target, total.known());
  }
  if (is_risk) {
    return absl::StrCat(
        absl::StrFormat("guarantee: with a probability of at least %g over draws of the %d validation samples, at most "
                        "%g of the new samples that are accepted are wrong or unknown; if the new samples and these "
                        "are independent draws from one distribution, with the same share of unknown samples (%d of "
                        "%d here), and took no part in the training",
                        1 - *chosen.delta, total.all(), *chosen.target, total.unknown, total.all()),
        total.unknown == 0 ? ". There are no unknown validation samples, so that it holds only without unknown ones"
                           : "");
  }
  return absl::StrCat("no guarantee: the threshold was chosen for these validation samples, and new ones may differ",
                      chosen.rule == "known_accepted"     ? "; --rule=conformal guarantees a share of known ones"
                      : chosen.rule == "risk"             ? "; --rule=risk_guaranteed guarantees a risk"
                      : chosen.rule == "unknown_rejected" ? ", unknown ones most of all"
                                                          : "");
}

std::string GuaranteeHint(const ChosenThreshold& chosen) {
  if (!chosen.test.has_value() || !chosen.target.has_value() || chosen.has_clusters) return "";
  const double target = *chosen.target;
  constexpr char kCheck[] =
      ", against the guarantee: did validation samples take part in training the network or in fitting the score, or "
      "are the test samples of another distribution?";
  if (const auto& seen = chosen.test->known_accepted; chosen.rule == "conformal" && seen.has_value()) {
    const double error =
        std::sqrt(target * (1 - target) * (1.0 / chosen.validation.total.known() + 1.0 / chosen.test->total.known()));
    if (seen->high >= target || target - seen->value <= 3 * error) return "";
    return absl::StrFormat("%.2f %% of the known test samples are accepted (95 %% interval to %.2f %%), not %g %%%s",
                           100 * seen->value, 100 * seen->high, 100 * target, kCheck);
  }
  if (const auto& seen = chosen.test->risk; chosen.rule == "risk_guaranteed" && seen.has_value()) {
    if (seen->low <= target) return "";
    return absl::StrFormat(
        "%.2f %% of the accepted test samples are wrong or unknown (95 %% interval from %.2f %%), "
        "not at most %g %%%s",
        100 * seen->value, 100 * seen->low, 100 * target, kCheck);
  }
  return "";
}

std::string FormatThreshold(const ChosenThreshold& chosen, TextFormat format) {
  if (format == TextFormat::kJson) return FormatJson(chosen);
  if (format == TextFormat::kCsv) {
    Table table = MakeTable(chosen, /*full=*/true);
    const std::string threshold = FullPrecision(chosen.validation.threshold);
    table.rows.insert(table.rows.begin(), {"threshold", threshold});
    if (chosen.test.has_value()) table.rows.front().insert(table.rows.front().end(), {threshold, "", ""});
    return ToCsv(table);
  }
  Document document;
  document.above = chosen.notes;
  document.above.push_back(
      absl::StrCat("threshold: ", FullPrecision(chosen.validation.threshold),
                   " (a sample is rejected, called unknown, where its unknown score is above it)"));
  document.above.push_back(absl::StrCat("chosen on the validation samples by ", chosen.rule,
                                        chosen.target.has_value() ? absl::StrFormat(", target %g", *chosen.target) : "",
                                        chosen.delta.has_value() ? absl::StrFormat(", delta %g", *chosen.delta) : ""));
  document.above.push_back(GuaranteeText(chosen));
  document.above.push_back(Samples("validation", chosen.validation));
  if (chosen.test.has_value()) document.above.push_back(Samples("test", *chosen.test));
  document.sections = {
      {!chosen.test.has_value() ? ""
       : chosen.test->clusters > 0
           ? "low, high: 95 % interval of the test samples' shares (of clusters: Clopper-Pearson by Korn and Graubard)"
           : "low, high: 95 % interval of the test samples' shares (Clopper-Pearson)",
       MakeTable(chosen, /*full=*/false)}};
  return FormatDocument(document, format);
}

}  // namespace openset
