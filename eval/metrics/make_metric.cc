#include "eval/metrics/make_metric.h"

#include <utility>

#include "eval/metrics/accuracy.h"
#include "eval/metrics/aupr.h"
#include "eval/metrics/aurc.h"
#include "eval/metrics/auroc.h"
#include "eval/metrics/balanced_score.h"
#include "eval/metrics/calibration.h"
#include "eval/metrics/class_balanced_aurc.h"
#include "eval/metrics/detection_error.h"
#include "eval/metrics/error_at_tpr.h"
#include "eval/metrics/fpr_at_tpr.h"
#include "eval/metrics/known_unknown_ratio.h"
#include "eval/metrics/level_name.h"
#include "eval/metrics/openauc.h"
#include "eval/metrics/oscr.h"
#include "eval/metrics/risk_coverage.h"
#include "eval/metrics/threshold_metric.h"

namespace openset {
namespace {

// An enum field that is UNSPECIFIED means its default; so does a value that the schema does not have.

TiedPair TiedPairOf(TiedPairRule::Value rule) {
  return rule == TiedPairRule::NOTHING ? TiedPair::kNothing : TiedPair::kHalf;
}

MetricResult OpenAucOf(const OpenAucMetricSpec& spec, const RankedInput& ranked) {
  switch (spec.mask()) {
    case OpenAucMetricSpec::EPSILON_DOUBLE:
      return OpenAucWithEpsilonMask(ranked, /*in_float=*/false);
    case OpenAucMetricSpec::EPSILON_FLOAT:
      return OpenAucWithEpsilonMask(ranked, /*in_float=*/true);
    case OpenAucMetricSpec::MASK_UNSPECIFIED:
    case OpenAucMetricSpec::RANK:
      break;
  }
  return OpenAuc(ranked);
}

MetricResult OscrOf(const OscrSpec& spec, const RankedInput& ranked) {
  switch (spec.form()) {
    case OscrSpec::LEGACY:
      return OscrLegacy(ranked);
    case OscrSpec::EQ9_MIXED:
      return OscrEq9Mixed(ranked);
    case OscrSpec::FORM_UNSPECIFIED:
    case OscrSpec::TRAPEZOID:
      break;
  }
  return OscrTrapezoid(ranked);
}

MetricResult PartialOpenAucOf(const PartialOpenAucSpec& spec, const RankedInput& ranked) {
  if (spec.min_ofpr() >= spec.max_ofpr()) return MetricResult::Absent("min_ofpr is not below max_ofpr");
  return PartialOpenAuc(ranked, spec.min_ofpr(), spec.max_ofpr());
}

MetricResult AuprOf(const AuprSpec& spec, const RankedInput& ranked, Positive positive) {
  switch (spec.form()) {
    case AuprSpec::TRAPEZOID:
      return Aupr(ranked, positive, AuprForm::kTrapezoid);
    case AuprSpec::BALANCED_STEP:
      return Aupr(ranked, positive, AuprForm::kBalancedStep);
    case AuprSpec::FORM_UNSPECIFIED:
    case AuprSpec::STEP:
      break;
  }
  return Aupr(ranked, positive, AuprForm::kStep);
}

MetricResult FprOf(const FprAtTprSpec& spec, const RankedInput& ranked, Positive positive) {
  switch (spec.rule()) {
    case FprAtTprSpec::FIRST_REACHING_CORNERS:
      return FprAt95Tpr(ranked, positive, FprRule::kFirstReachingCorners);
    case FprAtTprSpec::NEAREST:
      return FprAt95Tpr(ranked, positive, FprRule::kNearest);
    case FprAtTprSpec::NEAREST_WALK:
      return FprAt95Tpr(ranked, positive, FprRule::kNearestWalk);
    case FprAtTprSpec::STRICT_QUANTILE:
      return FprAt95Tpr(ranked, positive, FprRule::kStrictQuantile);
    case FprAtTprSpec::GRID_MEAN: {
      std::optional<std::pair<double, double>> range;
      if (spec.has_grid_low() && spec.has_grid_high()) range = {spec.grid_low(), spec.grid_high()};
      return FprAt95TprOnGrid(ranked, positive, range);
    }
    case FprAtTprSpec::RULE_UNSPECIFIED:
    case FprAtTprSpec::FIRST_REACHING:
      break;
  }
  return FprAt95Tpr(ranked, positive, FprRule::kFirstReaching);
}

MetricResult BalancedScoreOf(const BalancedScoreSpec& spec, const RankedInput& ranked, BalancedScore score) {
  Denominator denominator = Denominator::kPresent;
  if (spec.denominator() == BalancedScoreSpec::TOUCHED) denominator = Denominator::kTouched;
  if (spec.denominator() == BalancedScoreSpec::ALL) denominator = Denominator::kAll;
  if (score == BalancedScore::kInner) return BalancedScoreAt(ranked, score, 0, denominator);
  switch (spec.at_case()) {
    case BalancedScoreSpec::kThreshold:
      return BalancedScoreAt(ranked, score, spec.threshold(), denominator);
    case BalancedScoreSpec::kOfMethod:
      return MetricResult::Absent("the threshold of a method is known in experiments only");
    case BalancedScoreSpec::kKnownAccepted:
    case BalancedScoreSpec::AT_NOT_SET:
      break;
  }
  const double share = spec.at_case() == BalancedScoreSpec::kKnownAccepted ? spec.known_accepted() : 0.95;
  const std::optional<double> threshold = ThresholdAcceptingKnown(ranked, share);
  if (!threshold.has_value()) return AbsentWithoutKnown();
  return BalancedScoreAt(ranked, score, *threshold, denominator);
}

AurcForm AurcFormOf(AurcSpec::Form form) {
  switch (form) {
    case AurcSpec::INPUT_ORDER:
      return AurcForm::kInputOrder;
    case AurcSpec::CORRECT_FIRST:
      return AurcForm::kCorrectFirst;
    case AurcSpec::ERROR_FIRST:
      return AurcForm::kErrorFirst;
    case AurcSpec::TRAPEZOID_DISTINCT:
      return AurcForm::kTrapezoidDistinct;
    case AurcSpec::TRAPEZOID_NORMALISED:
      return AurcForm::kTrapezoidNormalised;
    case AurcSpec::FORM_UNSPECIFIED:
    case AurcSpec::EXPECTED:
      break;
  }
  return AurcForm::kExpected;
}

AugrcForm AugrcFormOf(AugrcSpec::Form form) {
  return form == AugrcSpec::TRAPEZOID_NORMALISED ? AugrcForm::kTrapezoidNormalised : AugrcForm::kTrapezoidDistinct;
}

RiskOver RiskOverOf(RiskSamples::Value over) { return over == RiskSamples::POOL ? RiskOver::kPool : RiskOver::kKnown; }

BinEdges EdgesOf(EceSpec::Edges edges) {
  return edges == EceSpec::LEFT_CLOSED ? BinEdges::kLeftClosed : BinEdges::kRightClosed;
}

struct Traits {
  std::optional<bool> higher_is_better;
  bool needs_prediction = false;
};

Traits TraitsOf(const MetricSpec& spec) {
  switch (spec.kind_case()) {
    case MetricSpec::kAccuracy:
    case MetricSpec::kOpenauc:
    case MetricSpec::kOpenaucStrict:
    case MetricSpec::kOscr:
    case MetricSpec::kPartialOpenauc:
    case MetricSpec::kOpenSetFMacro:
    case MetricSpec::kOpenSetFMicro:
    case MetricSpec::kYoudenMacro:
    case MetricSpec::kYoudenMicro:
    case MetricSpec::kNacc:
    case MetricSpec::kNaccRates:
    case MetricSpec::kInner:
    case MetricSpec::kHalfpoint:
    case MetricSpec::kOverall:
    case MetricSpec::kAurocMisclassification:
    case MetricSpec::kCcrAtFpr:
    case MetricSpec::kCoverageAtRisk:
    case MetricSpec::kOpenSetAccuracy:
      return {/*higher_is_better=*/true, /*needs_prediction=*/true};
    case MetricSpec::kAuroc:
    case MetricSpec::kAuprUnknown:
    case MetricSpec::kAuprKnown:
    case MetricSpec::kOuter:
      return {/*higher_is_better=*/true, /*needs_prediction=*/false};
    case MetricSpec::kAurc:
    case MetricSpec::kEaurc:
    case MetricSpec::kAugrc:
    case MetricSpec::kPooledAurc:
    case MetricSpec::kPooledAugrc:
    case MetricSpec::kEaugrc:
    case MetricSpec::kClassBalancedAurc:
    case MetricSpec::kClassBalancedAugrc:
    case MetricSpec::kRiskAtCoverage:
      return {/*higher_is_better=*/false, /*needs_prediction=*/true};
    case MetricSpec::kFprAt95Tpr:
    case MetricSpec::kFprAt95TprUnknownPositive:
    case MetricSpec::kFprAtTpr:
    case MetricSpec::kErrorAt95Tpr:
    case MetricSpec::kDetectionError:
    case MetricSpec::kNll:
    case MetricSpec::kBrier:
    case MetricSpec::kEce:
    case MetricSpec::kMce:
    case MetricSpec::kAdaptiveEce:
      return {/*higher_is_better=*/false, /*needs_prediction=*/false};
    case MetricSpec::kKnownUnknownRatio:
    case MetricSpec::KIND_NOT_SET:
      break;
  }
  return {};
}

}  // namespace

std::string MetricName(const MetricSpec& spec) {
  if (!spec.name().empty()) return spec.name();
  if (std::string with_level = LevelName(spec); !with_level.empty()) return with_level;
  const google::protobuf::OneofDescriptor* kind = MetricSpec::descriptor()->FindOneofByName("kind");
  const google::protobuf::FieldDescriptor* member = MetricSpec::GetReflection()->GetOneofFieldDescriptor(spec, kind);
  return member == nullptr ? "" : member->name();
}

std::optional<bool> HigherIsBetter(const MetricSpec& spec) { return TraitsOf(spec).higher_is_better; }

bool NeedsPrediction(const MetricSpec& spec) { return TraitsOf(spec).needs_prediction; }

MetricResult ComputeMetric(const MetricSpec& spec, const RankedInput& ranked) {
  if (NeedsPrediction(spec) && !ranked.input().has_predictions()) return AbsentWithoutPredictions();
  switch (spec.kind_case()) {
    case MetricSpec::kAccuracy:
      return Accuracy(ranked);
    case MetricSpec::kAuroc:
      return Auroc(ranked, TiedPairOf(spec.auroc().tied()));
    case MetricSpec::kAuprUnknown:
      return AuprOf(spec.aupr_unknown(), ranked, Positive::kUnknown);
    case MetricSpec::kAuprKnown:
      return AuprOf(spec.aupr_known(), ranked, Positive::kKnown);
    case MetricSpec::kFprAt95Tpr:
      return FprOf(spec.fpr_at_95tpr(), ranked, Positive::kKnown);
    case MetricSpec::kFprAt95TprUnknownPositive:
      return FprOf(spec.fpr_at_95tpr_unknown_positive(), ranked, Positive::kUnknown);
    case MetricSpec::kErrorAt95Tpr:
      return ErrorAt95Tpr(ranked, spec.error_at_95tpr().rule() == ErrorAtTprSpec::RELEASED ? ErrorRule::kReleased
                                                                                           : ErrorRule::kFirstReaching);
    case MetricSpec::kDetectionError:
      return DetectionError(ranked);
    case MetricSpec::kOpenauc:
      return OpenAucOf(spec.openauc(), ranked);
    case MetricSpec::kOpenaucStrict:
      return OpenAuc(ranked, TiedPair::kNothing);
    case MetricSpec::kOscr:
      return OscrOf(spec.oscr(), ranked);
    case MetricSpec::kPartialOpenauc:
      return PartialOpenAucOf(spec.partial_openauc(), ranked);
    case MetricSpec::kOpenSetFMacro:
      return AtOperatingPoint(OpenSetFMacro(), ranked, spec.open_set_f_macro().at());
    case MetricSpec::kOpenSetFMicro:
      return AtOperatingPoint(OpenSetFMicro(), ranked, spec.open_set_f_micro().at());
    case MetricSpec::kYoudenMacro:
      return AtOperatingPoint(YoudenMacro(), ranked, spec.youden_macro().at());
    case MetricSpec::kYoudenMicro:
      return AtOperatingPoint(YoudenMicro(), ranked, spec.youden_micro().at());
    case MetricSpec::kNacc:
      return AtOperatingPoint(NaccEq6(spec.nacc().lambda()), ranked, spec.nacc().at());
    case MetricSpec::kNaccRates:
      return AtOperatingPoint(NaccRates(spec.nacc_rates().lambda()), ranked, spec.nacc_rates().at());
    case MetricSpec::kInner:
      return BalancedScoreOf(spec.inner(), ranked, BalancedScore::kInner);
    case MetricSpec::kOuter:
      return BalancedScoreOf(spec.outer(), ranked, BalancedScore::kOuter);
    case MetricSpec::kHalfpoint:
      return BalancedScoreOf(spec.halfpoint(), ranked, BalancedScore::kHalfpoint);
    case MetricSpec::kOverall:
      return BalancedScoreOf(spec.overall(), ranked, BalancedScore::kOverall);
    case MetricSpec::kKnownUnknownRatio:
      return KnownUnknownRatio(ranked);
    case MetricSpec::kAurc:
      return Aurc(ranked, RiskOver::kKnown, AurcFormOf(spec.aurc().form()));
    case MetricSpec::kEaurc:
      return ExcessAurc(ranked, RiskOver::kKnown,
                        spec.eaurc().oracle() == EaurcSpec::EXACT ? AurcOracle::kExact : AurcOracle::kAsymptotic,
                        AurcFormOf(spec.eaurc().form()));
    case MetricSpec::kAugrc:
      return Augrc(ranked, RiskOver::kKnown, AugrcFormOf(spec.augrc().form()));
    case MetricSpec::kPooledAugrc:
      return Augrc(ranked, RiskOver::kPool, AugrcFormOf(spec.pooled_augrc().form()));
    case MetricSpec::kEaugrc:
      return ExcessAugrc(ranked);
    case MetricSpec::kClassBalancedAurc:
      return ClassBalancedAurc(ranked);
    case MetricSpec::kClassBalancedAugrc:
      return ClassBalancedAugrc(ranked);
    case MetricSpec::kFprAtTpr:
      return FprAtTpr(ranked,
                      spec.fpr_at_tpr().positive() == FprAtLevelSpec::UNKNOWN ? Positive::kUnknown : Positive::kKnown,
                      spec.fpr_at_tpr().tpr());
    case MetricSpec::kCcrAtFpr:
      return CcrAtFpr(ranked, spec.ccr_at_fpr().fpr());
    case MetricSpec::kRiskAtCoverage:
      return RiskAtCoverage(ranked, RiskOverOf(spec.risk_at_coverage().over()), spec.risk_at_coverage().coverage());
    case MetricSpec::kCoverageAtRisk:
      return CoverageAtRisk(ranked, RiskOverOf(spec.coverage_at_risk().over()), spec.coverage_at_risk().risk());
    case MetricSpec::kOpenSetAccuracy:
      return AtOperatingPoint(OpenSetAccuracy(), ranked, spec.open_set_accuracy().at());
    case MetricSpec::kPooledAurc:
      return Aurc(ranked, RiskOver::kPool, AurcFormOf(spec.pooled_aurc().form()));
    case MetricSpec::kAurocMisclassification:
      return AurocMisclassification(ranked);
    case MetricSpec::kNll:
      return NegativeLogLikelihood(ranked);
    case MetricSpec::kBrier:
      return BrierScore(ranked);
    case MetricSpec::kEce:
      return ExpectedCalibrationError(ranked, spec.ece().bins(), EdgesOf(spec.ece().edges()));
    case MetricSpec::kMce:
      return MaximumCalibrationError(ranked, spec.mce().bins(), EdgesOf(spec.mce().edges()));
    case MetricSpec::kAdaptiveEce:
      return AdaptiveCalibrationError(ranked, spec.adaptive_ece().bins());
    case MetricSpec::KIND_NOT_SET:
      break;
  }
  return MetricResult::Absent("it is not said which metric");
}

}  // namespace openset
