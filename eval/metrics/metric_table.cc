#include "eval/metrics/metric_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "eval/metrics/detection/aupr.h"
#include "eval/metrics/detection/auroc.h"
#include "eval/metrics/detection/balanced_score.h"
#include "eval/metrics/detection/detection_error.h"
#include "eval/metrics/detection/error_at_tpr.h"
#include "eval/metrics/detection/fpr_at_tpr.h"
#include "eval/metrics/detection/known_unknown_ratio.h"
#include "eval/metrics/detection/threshold_metric.h"
#include "eval/metrics/detection/threshold_text.h"
#include "eval/metrics/metric_labels.h"
#include "eval/metrics/open_set/accuracy.h"
#include "eval/metrics/open_set/openauc.h"
#include "eval/metrics/open_set/oscr.h"
#include "eval/metrics/selective/aurc.h"
#include "eval/metrics/selective/calibration.h"
#include "eval/metrics/selective/class_balanced_aurc.h"
#include "eval/metrics/selective/risk_coverage.h"

namespace openset {
namespace {

using metric_labels::AugrcLabel;
using metric_labels::AuprLabel;
using metric_labels::AurcLabel;
using metric_labels::DenominatorLabel;
using metric_labels::EceLabel;
using metric_labels::FprLabel;
using metric_labels::Label;
using metric_labels::NaccLabel;
using metric_labels::Number;
using metric_labels::Percent;
using metric_labels::RiskLabel;
using metric_labels::With;
using metric_labels::Words;

constexpr std::optional<bool> kHigher = true, kLower = false, kNeither = std::nullopt;
constexpr bool kPrediction = true, kScoreOnly = false;
constexpr MetricUse kPlain = MetricUse::kPlain, kJoint = MetricUse::kJoint, kOfRatio = MetricUse::kDependsOnRatio;
constexpr MetricScale kPercent = {100, "%", 2, "share"};
constexpr MetricScale kThousandths = {1000, "x1000", 2, "share"};
constexpr MetricScale kNats = {1, "nats", 4, "nats"};
constexpr MetricScale kNumber = {1, "", 4, "1"};

// The arguments of a row's functions, and their results.
using Spec = const MetricSpec&;
using Ranked = const RankedInput&;
using Trials = std::optional<int64_t>;
bool Unknown(Spec) { return true; }     // reads unknown samples
bool KnownOnly(Spec) { return false; }  // does not

// MetricTraits.trials. A mean over pairs has as many independent pairs as the smaller side has samples.
Trials NoTrials(Spec, Ranked) { return std::nullopt; }
Trials KnownSamples(Spec, Ranked r) { return r.total().known(); }
Trials UnknownSamples(Spec, Ranked r) { return r.total().unknown; }
Trials AllSamples(Spec, Ranked r) { return r.total().all(); }
Trials SmallerSide(Spec, Ranked r) { return std::min(r.total().known(), r.total().unknown); }
Trials SmallerSideOfErrors(Spec, Ranked r) { return std::min(r.total().correct, r.total().wrong); }
Trials NegativeSamples(Spec m, Ranked r) {
  return m.fpr_at_tpr().positive() == FprAtLevelSpec::UNKNOWN ? r.total().known() : r.total().unknown;
}

template <typename RiskSpec>
bool IsPooled(const RiskSpec& spec) {
  return spec.over() == RiskSamples::POOL;
}

// An UNSPECIFIED enum field, or a value that the schema does not have, means the default.
TiedPair TiedPairOf(TiedPairRule::Value rule) {
  return rule == TiedPairRule::NOTHING ? TiedPair::kNothing : TiedPair::kHalf;
}

Positive PositiveOf(FprAtLevelSpec::Positive positive) {
  return positive == FprAtLevelSpec::UNKNOWN ? Positive::kUnknown : Positive::kKnown;
}

ErrorRule RuleOf(const ErrorAtTprSpec& spec) {
  return spec.rule() == ErrorAtTprSpec::RELEASED ? ErrorRule::kReleased : ErrorRule::kFirstReaching;
}

AurcOracle OracleOf(EaurcSpec::Oracle oracle) {
  return oracle == EaurcSpec::EXACT ? AurcOracle::kExact : AurcOracle::kAsymptotic;
}

template <typename RiskSpec>
RiskOver OverOf(const RiskSpec& spec) {
  return IsPooled(spec) ? RiskOver::kPool : RiskOver::kKnown;
}

Trials AcceptedSamples(Spec m, Ranked r) {
  return SamplesAtCoverage(m.risk_at_coverage().coverage(),
                           IsPooled(m.risk_at_coverage()) ? r.total().all() : r.total().known());
}

BinEdges EdgesOf(const EceSpec& spec) {
  return spec.edges() == EceSpec::LEFT_CLOSED ? BinEdges::kLeftClosed : BinEdges::kRightClosed;
}

}  // namespace

MetricRow RowOf(MetricSpec::KindCase kind) {
  switch (kind) {
    case MetricSpec::kAccuracy:
      return {{kHigher, kPrediction, KnownOnly, KnownSamples, kOfRatio, kPercent},
              [](Spec) { return Label{"accuracy"}; },
              [](Spec, Ranked r) { return Accuracy(r); }};
    case MetricSpec::kAuroc:
      return {{kHigher, kScoreOnly, Unknown, SmallerSide, kPlain, kPercent},
              [](Spec m) { return With({"AUROC"}, m.auroc().tied() == TiedPairRule::NOTHING, "ties count 0"); },
              [](Spec m, Ranked r) { return Auroc(r, TiedPairOf(m.auroc().tied())); }};
    case MetricSpec::kAuprUnknown:
      return {{kHigher, kScoreOnly, Unknown, NoTrials, kPlain, kPercent},
              [](Spec m) { return AuprLabel("unknown positive", m.aupr_unknown()); },
              [](Spec m, Ranked r) { return Aupr(r, Positive::kUnknown, m.aupr_unknown()); }};
    case MetricSpec::kAuprKnown:
      return {{kHigher, kScoreOnly, Unknown, NoTrials, kPlain, kPercent},
              [](Spec m) { return AuprLabel("known positive", m.aupr_known()); },
              [](Spec m, Ranked r) { return Aupr(r, Positive::kKnown, m.aupr_known()); }};
    case MetricSpec::kFprAt95Tpr:
      return {{kLower, kScoreOnly, Unknown, UnknownSamples, kPlain, kPercent},
              [](Spec m) { return FprLabel("known positive", m.fpr_at_95tpr()); },
              [](Spec m, Ranked r) { return FprAt95Tpr(r, Positive::kKnown, m.fpr_at_95tpr()); }};
    case MetricSpec::kFprAt95TprUnknownPositive:
      return {{kLower, kScoreOnly, Unknown, KnownSamples, kPlain, kPercent},
              [](Spec m) { return FprLabel("unknown positive", m.fpr_at_95tpr_unknown_positive()); },
              [](Spec m, Ranked r) { return FprAt95Tpr(r, Positive::kUnknown, m.fpr_at_95tpr_unknown_positive()); }};
    case MetricSpec::kFprAtTpr:
      return {
          {kLower, kScoreOnly, Unknown, NegativeSamples, kPlain, kPercent},
          [](Spec m) {
            return Label{absl::StrCat("FPR at ", Percent(m.fpr_at_tpr().tpr()), " TPR"),
                         m.fpr_at_tpr().positive() == FprAtLevelSpec::UNKNOWN ? "unknown positive" : "known positive"};
          },
          [](Spec m, Ranked r) { return FprAtTpr(r, PositiveOf(m.fpr_at_tpr().positive()), m.fpr_at_tpr().tpr()); }};
    case MetricSpec::kErrorAt95Tpr:
      return {{kLower, kScoreOnly, Unknown, SmallerSide, kPlain, kPercent},
              [](Spec m) {
                return With({"error at 95 % TPR", "unknown positive"},
                            RuleOf(m.error_at_95tpr()) == ErrorRule::kReleased, "released");
              },
              [](Spec m, Ranked r) { return ErrorAt95Tpr(r, RuleOf(m.error_at_95tpr())); }};
    case MetricSpec::kDetectionError:
      return {{kLower, kScoreOnly, Unknown, SmallerSide, kPlain, kPercent},
              [](Spec) { return Label{"detection error"}; },
              [](Spec, Ranked r) { return DetectionError(r); }};
    case MetricSpec::kOpenauc:
      return {{kHigher, kPrediction, Unknown, SmallerSide, kJoint, kPercent},
              [](Spec m) {
                return With({"OpenAUC"}, m.openauc().mask() > OpenAucMetricSpec::RANK,
                            Words(OpenAucMetricSpec::Mask_Name(m.openauc().mask())));
              },
              [](Spec m, Ranked r) { return OpenAuc(r, m.openauc()); }};
    case MetricSpec::kOpenaucStrict:
      return {{kHigher, kPrediction, Unknown, SmallerSide, kJoint, kPercent},
              [](Spec) {
                return Label{"OpenAUC", "ties count 0"};
              },
              [](Spec, Ranked r) { return OpenAuc(r, TiedPair::kNothing); }};
    case MetricSpec::kOscr:
      return {{kHigher, kPrediction, Unknown, SmallerSide, kJoint, kPercent},
              [](Spec m) {
                return With({"OSCR"}, m.oscr().form() > OscrSpec::TRAPEZOID,
                            Words(OscrSpec::Form_Name(m.oscr().form())));
              },
              [](Spec m, Ranked r) { return Oscr(r, m.oscr()); }};
    case MetricSpec::kPartialOpenauc:
      return {{kHigher, kPrediction, Unknown, NoTrials, kJoint, kPercent},
              [](Spec m) {
                return Label{"partial OpenAUC", absl::StrCat("OFPR ", Number(m.partial_openauc().min_ofpr()), " to ",
                                                             Number(m.partial_openauc().max_ofpr()))};
              },
              [](Spec m, Ranked r) { return PartialOpenAuc(r, m.partial_openauc()); }};
    case MetricSpec::kCcrAtFpr:
      return {{kHigher, kPrediction, Unknown, KnownSamples, kJoint, kPercent},
              [](Spec m) {
                return Label{absl::StrCat("CCR at ", Percent(m.ccr_at_fpr().fpr()), " FPR"), "known positive"};
              },
              [](Spec m, Ranked r) { return CcrAtFpr(r, m.ccr_at_fpr().fpr()); }};
    case MetricSpec::kOpenSetAccuracy:
      return {{kHigher, kPrediction, Unknown, AllSamples, kOfRatio, kPercent},
              [](Spec m) {
                return Label{"open-set accuracy", ThresholdText(m.open_set_accuracy().at())};
              },
              [](Spec m, Ranked r) { return AtOperatingPoint(OpenSetAccuracy(), r, m.open_set_accuracy().at()); }};
    case MetricSpec::kOpenSetFMacro:
      return {{kHigher, kPrediction, Unknown, NoTrials, kOfRatio, kPercent},
              [](Spec m) {
                return Label{"open-set F", "macro", ThresholdText(m.open_set_f_macro().at())};
              },
              [](Spec m, Ranked r) { return AtOperatingPoint(OpenSetFMacro(), r, m.open_set_f_macro().at()); }};
    case MetricSpec::kOpenSetFMicro:
      return {{kHigher, kPrediction, Unknown, NoTrials, kOfRatio, kPercent},
              [](Spec m) {
                return Label{"open-set F", "micro", ThresholdText(m.open_set_f_micro().at())};
              },
              [](Spec m, Ranked r) { return AtOperatingPoint(OpenSetFMicro(), r, m.open_set_f_micro().at()); }};
    case MetricSpec::kYoudenMacro:
      return {{kHigher, kPrediction, Unknown, NoTrials, kPlain, kPercent},
              [](Spec m) {
                return Label{"Youden's J", "macro", ThresholdText(m.youden_macro().at())};
              },
              [](Spec m, Ranked r) { return AtOperatingPoint(YoudenMacro(), r, m.youden_macro().at()); }};
    case MetricSpec::kYoudenMicro:
      return {{kHigher, kPrediction, Unknown, NoTrials, kPlain, kPercent},
              [](Spec m) {
                return Label{"Youden's J", "micro", ThresholdText(m.youden_micro().at())};
              },
              [](Spec m, Ranked r) { return AtOperatingPoint(YoudenMicro(), r, m.youden_micro().at()); }};
    case MetricSpec::kNacc:
      return {{kHigher, kPrediction, Unknown, NoTrials, kJoint, kPercent},
              [](Spec m) { return NaccLabel("Eq. 6", m.nacc()); },
              [](Spec m, Ranked r) { return AtOperatingPoint(NaccEq6(m.nacc().lambda()), r, m.nacc().at()); }};
    case MetricSpec::kNaccRates:
      return {{kHigher, kPrediction, Unknown, NoTrials, kJoint, kPercent},
              [](Spec m) { return NaccLabel("rates", m.nacc_rates()); },
              [](Spec m, Ranked r) {
                return AtOperatingPoint(NaccRates(m.nacc_rates().lambda()), r, m.nacc_rates().at());
              }};
    case MetricSpec::kInner:
      return {{kHigher, kPrediction, KnownOnly, NoTrials, kPlain, kPercent},
              [](Spec m) { return DenominatorLabel({"inner score"}, m.inner()); },
              [](Spec m, Ranked r) { return BalancedScoreAt(r, BalancedScore::kInner, m.inner()); }};
    case MetricSpec::kOuter:
      return {{kHigher, kScoreOnly, Unknown, NoTrials, kPlain, kPercent},
              [](Spec m) {
                return DenominatorLabel({"outer score", ThresholdText(m.outer())}, m.outer());
              },
              [](Spec m, Ranked r) { return BalancedScoreAt(r, BalancedScore::kOuter, m.outer()); }};
    case MetricSpec::kHalfpoint:
      return {{kHigher, kPrediction, KnownOnly, NoTrials, kJoint, kPercent},
              [](Spec m) {
                return DenominatorLabel({"halfpoint score", ThresholdText(m.halfpoint())}, m.halfpoint());
              },
              [](Spec m, Ranked r) { return BalancedScoreAt(r, BalancedScore::kHalfpoint, m.halfpoint()); }};
    case MetricSpec::kOverall:
      return {{kHigher, kPrediction, Unknown, NoTrials, kJoint, kPercent},
              [](Spec m) {
                return DenominatorLabel({"overall score", ThresholdText(m.overall())}, m.overall());
              },
              [](Spec m, Ranked r) { return BalancedScoreAt(r, BalancedScore::kOverall, m.overall()); }};
    case MetricSpec::kKnownUnknownRatio:
      return {{kNeither, kScoreOnly, Unknown, NoTrials, kPlain, kNumber},
              [](Spec) { return Label{"known : unknown"}; },
              [](Spec, Ranked r) { return KnownUnknownRatio(r); }};
    case MetricSpec::kAurc:
      return {{kLower, kPrediction, KnownOnly, NoTrials, kPlain, kThousandths},
              [](Spec m) { return AurcLabel({"AURC"}, m.aurc().form()); },
              [](Spec m, Ranked r) { return Aurc(r, RiskOver::kKnown, FormOf(m.aurc().form())); }};
    case MetricSpec::kPooledAurc:
      return {{kLower, kPrediction, Unknown, NoTrials, kJoint, kThousandths},
              [](Spec m) {
                return AurcLabel({"AURC", "pooled"}, m.pooled_aurc().form());
              },
              [](Spec m, Ranked r) { return Aurc(r, RiskOver::kPool, FormOf(m.pooled_aurc().form())); }};
    case MetricSpec::kClassBalancedAurc:
      return {{kLower, kPrediction, KnownOnly, NoTrials, kPlain, kThousandths},
              [](Spec) {
                return Label{"AURC", "class-balanced"};
              },
              [](Spec, Ranked r) { return ClassBalancedAurc(r); }};
    case MetricSpec::kEaurc:
      return {{kLower, kPrediction, KnownOnly, NoTrials, kPlain, kThousandths},
              [](Spec m) {
                return AurcLabel(With({"E-AURC"}, m.eaurc().oracle() == EaurcSpec::EXACT, "exact oracle"),
                                 m.eaurc().form());
              },
              [](Spec m, Ranked r) {
                return ExcessAurc(r, RiskOver::kKnown, OracleOf(m.eaurc().oracle()), FormOf(m.eaurc().form()));
              }};
    case MetricSpec::kAugrc:
      return {{kLower, kPrediction, KnownOnly, NoTrials, kPlain, kThousandths},
              [](Spec m) { return AugrcLabel({"AUGRC"}, m.augrc().form()); },
              [](Spec m, Ranked r) { return Augrc(r, RiskOver::kKnown, FormOf(m.augrc().form())); }};
    case MetricSpec::kPooledAugrc:
      return {{kLower, kPrediction, Unknown, NoTrials, kJoint, kThousandths},
              [](Spec m) {
                return AugrcLabel({"AUGRC", "pooled"}, m.pooled_augrc().form());
              },
              [](Spec m, Ranked r) { return Augrc(r, RiskOver::kPool, FormOf(m.pooled_augrc().form())); }};
    case MetricSpec::kClassBalancedAugrc:
      return {{kLower, kPrediction, KnownOnly, NoTrials, kPlain, kThousandths},
              [](Spec) {
                return Label{"AUGRC", "class-balanced"};
              },
              [](Spec, Ranked r) { return ClassBalancedAugrc(r); }};
    case MetricSpec::kEaugrc:
      return {{kLower, kPrediction, KnownOnly, NoTrials, kPlain, kThousandths},
              [](Spec) { return Label{"E-AUGRC"}; },
              [](Spec, Ranked r) { return ExcessAugrc(r); }};
    case MetricSpec::kAurocMisclassification:
      return {{kHigher, kPrediction, KnownOnly, SmallerSideOfErrors, kPlain, kPercent},
              [](Spec) { return Label{"AUROC of errors"}; },
              [](Spec, Ranked r) { return AurocMisclassification(r); }};
    case MetricSpec::kRiskAtCoverage:
      return {{kLower, kPrediction, [](Spec m) { return IsPooled(m.risk_at_coverage()); }, AcceptedSamples, kPlain,
               kPercent},
              [](Spec m) {
                return RiskLabel("risk", m.risk_at_coverage().coverage(), "coverage", IsPooled(m.risk_at_coverage()));
              },
              [](Spec m, Ranked r) {
                return RiskAtCoverage(r, OverOf(m.risk_at_coverage()), m.risk_at_coverage().coverage());
              }};
    case MetricSpec::kCoverageAtRisk:
      return {{kHigher, kPrediction, [](Spec m) { return IsPooled(m.coverage_at_risk()); }, NoTrials, kPlain, kPercent},
              [](Spec m) {
                return RiskLabel("coverage", m.coverage_at_risk().risk(), "risk", IsPooled(m.coverage_at_risk()));
              },
              [](Spec m, Ranked r) {
                return CoverageAtRisk(r, OverOf(m.coverage_at_risk()), m.coverage_at_risk().risk());
              }};
    case MetricSpec::kNll:
      return {{kLower, kScoreOnly, KnownOnly, NoTrials, kPlain, kNats},
              [](Spec) { return Label{"NLL"}; },
              [](Spec, Ranked r) { return NegativeLogLikelihood(r); }};
    case MetricSpec::kBrier:
      return {{kLower, kScoreOnly, KnownOnly, NoTrials, kPlain, kNumber},
              [](Spec) { return Label{"Brier score"}; },
              [](Spec, Ranked r) { return BrierScore(r); }};
    case MetricSpec::kEce:
      return {{kLower, kScoreOnly, KnownOnly, NoTrials, kPlain, kPercent},
              [](Spec m) { return EceLabel("ECE", m.ece()); },
              [](Spec m, Ranked r) { return ExpectedCalibrationError(r, m.ece().bins(), EdgesOf(m.ece())); }};
    case MetricSpec::kMce:
      return {{kLower, kScoreOnly, KnownOnly, NoTrials, kPlain, kPercent},
              [](Spec m) { return EceLabel("MCE", m.mce()); },
              [](Spec m, Ranked r) { return MaximumCalibrationError(r, m.mce().bins(), EdgesOf(m.mce())); }};
    case MetricSpec::kAdaptiveEce:
      return {{kLower, kScoreOnly, KnownOnly, NoTrials, kPlain, kPercent},
              [](Spec m) {
                return Label{"adaptive ECE", absl::StrCat(m.adaptive_ece().bins(), " bins")};
              },
              [](Spec m, Ranked r) { return AdaptiveCalibrationError(r, m.adaptive_ece().bins()); }};
    case MetricSpec::KIND_NOT_SET:
      break;
  }
  return {{kNeither, kScoreOnly, Unknown, NoTrials, kPlain, kNumber},
          [](Spec) { return Label{""}; },
          [](Spec, Ranked) { return MetricResult::Absent("no metric is set"); }};
}

std::string MetricName(const MetricSpec& spec) {
  if (!spec.name().empty()) return spec.name();
  if (std::string with_level = LevelName(spec); !with_level.empty()) return with_level;
  const google::protobuf::OneofDescriptor* kind = MetricSpec::descriptor()->FindOneofByName("kind");
  const google::protobuf::FieldDescriptor* member = MetricSpec::GetReflection()->GetOneofFieldDescriptor(spec, kind);
  return member == nullptr ? "" : member->name();
}

std::optional<bool> HigherIsBetter(const MetricSpec& spec) { return RowOf(spec.kind_case()).traits.higher_is_better; }

MetricResult ComputeMetric(const MetricSpec& spec, const RankedInput& ranked) {
  const MetricRow row = RowOf(spec.kind_case());
  if (row.traits.needs_prediction && !ranked.input().has_predictions()) return AbsentWithoutPredictions();
  return row.compute(spec, ranked);
}

}  // namespace openset
