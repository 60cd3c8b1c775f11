#include "eval/metrics/display.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "eval/metrics/make_metric.h"

namespace openset {
namespace {

struct Scale {
  double factor;
  const char* unit;
  int digits;
  const char* value_unit;
};
constexpr Scale kPercent = {100, "%", 2, "share"};
constexpr Scale kThousandths = {1000, "x1000", 2, "share"};
constexpr Scale kNats = {1, "nats", 4, "nats"};
constexpr Scale kNumber = {1, "", 4, "1"};

enum class Reads { kKnown, kKnownAndUnknown };

using Details = std::vector<std::string>;

// "FIRST_REACHING_CORNERS" -> "first reaching corners".
std::string Words(const std::string& enumerator) {
  return absl::StrReplaceAll(absl::AsciiStrToLower(enumerator), {{"_", " "}});
}

std::string Number(double value) { return absl::StrFormat("%g", value); }

// At which threshold decisions are taken.
std::string ThresholdText(const OperatingPoint& at) {
  switch (at.kind_case()) {
    case OperatingPoint::kBestOnGrid:
      return absl::StrCat("best threshold of ", at.best_on_grid().divisions() - 1, " on test");
    case OperatingPoint::kThreshold:
      return absl::StrCat("threshold ", Number(at.threshold()));
    case OperatingPoint::kKnownAccepted:
      return absl::StrCat(Number(100 * at.known_accepted()), " % of known accepted");
    case OperatingPoint::kBest:
    case OperatingPoint::KIND_NOT_SET:
      break;
  }
  return "best threshold on test";
}

std::string ThresholdText(const BalancedScoreSpec& spec) {
  switch (spec.at_case()) {
    case BalancedScoreSpec::kThreshold:
      return absl::StrCat("threshold ", Number(spec.threshold()));
    case BalancedScoreSpec::kOfMethod:
      return "threshold of the method";
    case BalancedScoreSpec::kKnownAccepted:
      return absl::StrCat(Number(100 * spec.known_accepted()), " % of known accepted");
    case BalancedScoreSpec::AT_NOT_SET:
      break;
  }
  return "95 % of known accepted";
}

// `details` are what sets it apart from other numbers of that name.
Display Make(const Scale& scale, Reads reads, const std::string& name, const Details& details = {}) {
  Display display;
  display.label = details.empty() ? name : absl::StrCat(name, " (", absl::StrJoin(details, ", "), ")");
  display.factor = scale.factor;
  display.unit = scale.unit;
  display.digits = scale.digits;
  display.value_unit = scale.value_unit;
  display.reads_unknown = reads == Reads::kKnownAndUnknown;
  return display;
}

Display OfBoth(const std::string& name, const Details& details = {}) {
  return Make(kPercent, Reads::kKnownAndUnknown, name, details);
}
Display OfKnown(const std::string& name, const Details& details = {}) {
  return Make(kPercent, Reads::kKnown, name, details);
}

Display OfAuroc(const AurocSpec& spec) {
  return OfBoth("AUROC", spec.tied() == TiedPairRule::NOTHING ? Details{"ties count 0"} : Details{});
}

Display OfAupr(const std::string& positive, const AuprSpec& spec) {
  Details details = {positive};
  if (spec.form() > AuprSpec::STEP) details.push_back(Words(AuprSpec::Form_Name(spec.form())));
  return OfBoth("AUPR", details);
}

Display OfFpr(const std::string& positive, const FprAtTprSpec& spec) {
  Details details = {positive};
  if (spec.rule() > FprAtTprSpec::FIRST_REACHING) details.push_back(Words(FprAtTprSpec::Rule_Name(spec.rule())));
  return OfBoth("FPR95", details);
}

Display OfOpenAuc(const OpenAucMetricSpec& spec) {
  const bool other = spec.mask() > OpenAucMetricSpec::RANK;
  return OfBoth("OpenAUC", other ? Details{Words(OpenAucMetricSpec::Mask_Name(spec.mask()))} : Details{});
}

Display OfOscr(const OscrSpec& spec) {
  const bool other = spec.form() > OscrSpec::TRAPEZOID;
  return OfBoth("OSCR", other ? Details{Words(OscrSpec::Form_Name(spec.form()))} : Details{});
}

Display OfPartialOpenAuc(const PartialOpenAucSpec& spec) {
  return OfBoth("partial OpenAUC", {absl::StrCat("OFPR ", Number(spec.min_ofpr()), " to ", Number(spec.max_ofpr()))});
}

Display OfNacc(const NaccSpec& spec, Details details) {
  if (spec.lambda() != 0.5) details.push_back(absl::StrCat("lambda ", Number(spec.lambda())));
  details.push_back(ThresholdText(spec.at()));
  return OfBoth("NAcc", details);
}

Display OfBalancedScore(const std::string& name, Reads reads, const BalancedScoreSpec& spec) {
  Details details;
  if (name != "inner score") details.push_back(ThresholdText(spec));
  if (spec.denominator() == BalancedScoreSpec::TOUCHED) details.push_back("mean over touched classes");
  if (spec.denominator() == BalancedScoreSpec::ALL) details.push_back("mean over all classes");
  return Make(kPercent, reads, name, details);
}

Display OfAurc(Reads reads, Details details, const AurcSpec& spec) {
  if (spec.form() > AurcSpec::EXPECTED) details.push_back(Words(AurcSpec::Form_Name(spec.form())));
  return Make(kThousandths, reads, "AURC", details);
}

Display OfExcessAurc(const EaurcSpec& spec) {
  Details details;
  if (spec.oracle() == EaurcSpec::EXACT) details.push_back("exact oracle");
  if (spec.form() > AurcSpec::EXPECTED) details.push_back(Words(AurcSpec::Form_Name(spec.form())));
  return Make(kThousandths, Reads::kKnown, "E-AURC", details);
}

Display OfAugrc(Reads reads, Details details, const AugrcSpec& spec) {
  if (spec.form() > AugrcSpec::TRAPEZOID_DISTINCT) details.push_back(Words(AugrcSpec::Form_Name(spec.form())));
  return Make(kThousandths, reads, "AUGRC", details);
}

std::string Percent(double share) { return absl::StrCat(Number(100 * share), " %"); }

// Of known samples, or of the pool.
Display OfRisk(const std::string& name, RiskSamples::Value over) {
  return over == RiskSamples::POOL ? OfBoth(name, {"pooled"}) : OfKnown(name);
}

Display OfEce(const std::string& name, const EceSpec& spec) {
  Details details = {absl::StrCat(spec.bins(), " bins")};
  if (spec.edges() == EceSpec::LEFT_CLOSED) details.push_back("left closed");
  return OfKnown(name, details);
}

// All but the direction.
Display OfMember(const MetricSpec& metric) {
  switch (metric.kind_case()) {
    case MetricSpec::kAccuracy:
      return OfKnown("accuracy");
    case MetricSpec::kAuroc:
      return OfAuroc(metric.auroc());
    case MetricSpec::kAuprUnknown:
      return OfAupr("unknown positive", metric.aupr_unknown());
    case MetricSpec::kAuprKnown:
      return OfAupr("known positive", metric.aupr_known());
    case MetricSpec::kFprAt95Tpr:
      return OfFpr("known positive", metric.fpr_at_95tpr());
    case MetricSpec::kFprAt95TprUnknownPositive:
      return OfFpr("unknown positive", metric.fpr_at_95tpr_unknown_positive());
    case MetricSpec::kErrorAt95Tpr: {
      Details details = {"unknown positive"};
      if (metric.error_at_95tpr().rule() == ErrorAtTprSpec::RELEASED) details.push_back("released");
      return OfBoth("error at 95 % TPR", details);
    }
    case MetricSpec::kDetectionError:
      return OfBoth("detection error");
    case MetricSpec::kOpenauc:
      return OfOpenAuc(metric.openauc());
    case MetricSpec::kOpenaucStrict:
      return OfBoth("OpenAUC", {"ties count 0"});
    case MetricSpec::kOscr:
      return OfOscr(metric.oscr());
    case MetricSpec::kPartialOpenauc:
      return OfPartialOpenAuc(metric.partial_openauc());
    case MetricSpec::kOpenSetFMacro:
      return OfBoth("open-set F", {"macro", ThresholdText(metric.open_set_f_macro().at())});
    case MetricSpec::kOpenSetFMicro:
      return OfBoth("open-set F", {"micro", ThresholdText(metric.open_set_f_micro().at())});
    case MetricSpec::kYoudenMacro:
      return OfBoth("Youden's J", {"macro", ThresholdText(metric.youden_macro().at())});
    case MetricSpec::kYoudenMicro:
      return OfBoth("Youden's J", {"micro", ThresholdText(metric.youden_micro().at())});
    case MetricSpec::kNacc:
      return OfNacc(metric.nacc(), {"Eq. 6"});
    case MetricSpec::kNaccRates:
      return OfNacc(metric.nacc_rates(), {"rates"});
    case MetricSpec::kInner:
      return OfBalancedScore("inner score", Reads::kKnown, metric.inner());
    case MetricSpec::kOuter:
      return OfBalancedScore("outer score", Reads::kKnownAndUnknown, metric.outer());
    case MetricSpec::kHalfpoint:
      return OfBalancedScore("halfpoint score", Reads::kKnown, metric.halfpoint());
    case MetricSpec::kOverall:
      return OfBalancedScore("overall score", Reads::kKnownAndUnknown, metric.overall());
    case MetricSpec::kKnownUnknownRatio:
      return Make(kNumber, Reads::kKnownAndUnknown, "known : unknown");
    case MetricSpec::kAurc:
      return OfAurc(Reads::kKnown, {}, metric.aurc());
    case MetricSpec::kEaurc:
      return OfExcessAurc(metric.eaurc());
    case MetricSpec::kAugrc:
      return OfAugrc(Reads::kKnown, {}, metric.augrc());
    case MetricSpec::kPooledAugrc:
      return OfAugrc(Reads::kKnownAndUnknown, {"pooled"}, metric.pooled_augrc());
    case MetricSpec::kEaugrc:
      return Make(kThousandths, Reads::kKnown, "E-AUGRC");
    case MetricSpec::kClassBalancedAurc:
      return Make(kThousandths, Reads::kKnown, "AURC", {"class-balanced"});
    case MetricSpec::kClassBalancedAugrc:
      return Make(kThousandths, Reads::kKnown, "AUGRC", {"class-balanced"});
    case MetricSpec::kFprAtTpr: {
      const bool unknown = metric.fpr_at_tpr().positive() == FprAtLevelSpec::UNKNOWN;
      return OfBoth(absl::StrCat("FPR at ", Percent(metric.fpr_at_tpr().tpr()), " TPR"),
                    {unknown ? "unknown positive" : "known positive"});
    }
    case MetricSpec::kCcrAtFpr:
      return OfBoth(absl::StrCat("CCR at ", Percent(metric.ccr_at_fpr().fpr()), " FPR"), {"known positive"});
    case MetricSpec::kRiskAtCoverage:
      return OfRisk(absl::StrCat("risk at ", Percent(metric.risk_at_coverage().coverage()), " coverage"),
                    metric.risk_at_coverage().over());
    case MetricSpec::kCoverageAtRisk:
      return OfRisk(absl::StrCat("coverage at ", Percent(metric.coverage_at_risk().risk()), " risk"),
                    metric.coverage_at_risk().over());
    case MetricSpec::kOpenSetAccuracy:
      return OfBoth("open-set accuracy", {ThresholdText(metric.open_set_accuracy().at())});
    case MetricSpec::kPooledAurc:
      return OfAurc(Reads::kKnownAndUnknown, {"pooled"}, metric.pooled_aurc());
    case MetricSpec::kAurocMisclassification:
      return OfKnown("AUROC of errors");
    case MetricSpec::kNll:
      return Make(kNats, Reads::kKnown, "NLL");
    case MetricSpec::kBrier:
      return Make(kNumber, Reads::kKnown, "Brier score");
    case MetricSpec::kEce:
      return OfEce("ECE", metric.ece());
    case MetricSpec::kMce:
      return OfEce("MCE", metric.mce());
    case MetricSpec::kAdaptiveEce:
      return OfKnown("adaptive ECE", {absl::StrCat(metric.adaptive_ece().bins(), " bins")});
    case MetricSpec::KIND_NOT_SET:
      break;  // the schema's rules require a member
  }
  return {};
}

}  // namespace

Display DisplayOf(const MetricSpec& metric) {
  Display display = OfMember(metric);
  display.higher_is_better = HigherIsBetter(metric);
  if (!metric.name().empty()) display.label = metric.name();
  return display;
}

std::string Shown(double value, const Display& display) {
  return absl::StrFormat("%.*f", display.digits, display.factor * value);
}

std::string LabelWithUnit(const Display& display) {
  return display.unit.empty() ? display.label : absl::StrCat(display.label, ", ", display.unit);
}

std::string BetterText(const Display& display) {
  if (!display.higher_is_better.has_value()) return "";
  return *display.higher_is_better ? "higher" : "lower";
}

}  // namespace openset
