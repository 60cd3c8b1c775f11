#include "eval/scores/make_score.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/proto/needs.h"
#include "core/proto/proto_rules.h"
#include "core/status_macros.h"
#include "eval/scores/combine.h"
#include "eval/scores/distances/class_anchor.h"
#include "eval/scores/distances/nearest_mean.h"
#include "eval/scores/features/combood.h"
#include "eval/scores/features/ghost.h"
#include "eval/scores/features/gmm.h"
#include "eval/scores/features/knn.h"
#include "eval/scores/features/mahalanobis.h"
#include "eval/scores/features/nnguide.h"
#include "eval/scores/features/postmax.h"
#include "eval/scores/features/relation.h"
#include "eval/scores/features/she.h"
#include "eval/scores/features/ssd.h"
#include "eval/scores/gradients/gradient_uncertainty.h"
#include "eval/scores/gradients/gradnorm.h"
#include "eval/scores/gradients/grood.h"
#include "eval/scores/head/fdbd.h"
#include "eval/scores/head/mcm.h"
#include "eval/scores/head/nac.h"
#include "eval/scores/head/nci.h"
#include "eval/scores/head/pnml.h"
#include "eval/scores/head/residual.h"
#include "eval/scores/head/vim.h"
#include "eval/scores/head/weiper_kld.h"
#include "eval/scores/logits/edl.h"
#include "eval/scores/logits/energy.h"
#include "eval/scores/logits/entropy.h"
#include "eval/scores/logits/extra_output.h"
#include "eval/scores/logits/gen.h"
#include "eval/scores/logits/klm.h"
#include "eval/scores/logits/margin.h"
#include "eval/scores/logits/max_logit.h"
#include "eval/scores/logits/max_softmax.h"
#include "eval/scores/logits/member_uncertainty.h"
#include "eval/scores/logits/min_misclassification.h"
#include "eval/scores/logits/openmax.h"
#include "eval/scores/logits/temperature_scaled_softmax.h"
#include "eval/scores/shaping/adascale.h"
#include "eval/scores/shaping/ash.h"
#include "eval/scores/shaping/dice.h"
#include "eval/scores/shaping/lts.h"
#include "eval/scores/shaping/react.h"
#include "eval/scores/shaping/scale.h"
#include "eval/scores/shaping/vra.h"
#include "eval/scores/shaping/weighted_energy.h"
#include "eval/scores/stages/gram.h"
#include "eval/scores/stages/mahalanobis_ensemble.h"
#include "eval/scores/stages/nac_stages.h"
#include "eval/softmax.h"

namespace openset {
namespace {

Evidence EvidenceOf(const EdlSpec& spec) {
  switch (spec.evidence()) {
    case EdlSpec::RELU:
      return Evidence::kRelu;
    case EdlSpec::SOFTPLUS:
      return Evidence::kSoftplus;
    case EdlSpec::EVIDENCE_UNSPECIFIED:  // the default
    case EdlSpec::EXP:
      break;
  }
  return Evidence::kExp;
}

template <typename T>
std::optional<T> Given(bool has, T value) {
  return has ? std::make_optional(value) : std::nullopt;
}

OpenMax::Options OptionsOf(const OpenMaxSpec& spec) {
  OpenMax::Options options;
  switch (spec.distance()) {
    case OpenMaxSpec::DISTANCE_UNSPECIFIED:  // the default
    case OpenMaxSpec::EUCOS:
      options.distance = OpenMax::Distance::kEucos;
      break;
    case OpenMaxSpec::EUCLIDEAN:
      options.distance = OpenMax::Distance::kEuclidean;
      break;
    case OpenMaxSpec::COSINE:
      options.distance = OpenMax::Distance::kCosine;
      break;
  }
  options.euclidean_weight = spec.euclidean_weight();
  options.tail = spec.tail();
  options.alpha = spec.alpha();
  options.rank_weight = Given(spec.has_rank_weight(), spec.rank_weight());
  options.translation = spec.translation();
  options.cdf_of_logit = spec.cdf_of() == OpenMaxSpec::LOGIT;
  options.rejection = spec.value() == OpenMaxSpec::REJECTION;
  options.revised_prediction = spec.prediction() == OpenMaxSpec::REVISED;
  options.exponentiated = spec.tail_distribution() == OpenMaxSpec::EXPONENTIATED_WEIBULL;
  options.unrevised_of_batch = spec.unrevised_of_batch();
  return options;
}

Ash::Variant VariantOf(const AshSpec& spec) {
  switch (spec.variant()) {
    case AshSpec::P:
      return Ash::Variant::kP;
    case AshSpec::B:
      return Ash::Variant::kB;
    case AshSpec::VARIANT_UNSPECIFIED:  // the default
    case AshSpec::S:
      break;
  }
  return Ash::Variant::kS;
}

Adascale::Options OptionsOf(const AdascaleSpec& spec) {
  Adascale::Options options;
  options.variant = spec.variant() == AdascaleSpec::L ? Adascale::Variant::kL : Adascale::Variant::kA;
  options.min_percentile = spec.min_percentile();
  options.max_percentile = spec.max_percentile();
  options.k1 = spec.k1();
  options.k2 = spec.k2();
  options.lambda = spec.lambda();
  return options;
}

WeiperKld::Options OptionsOf(const WeiperKldSpec& spec) {
  WeiperKld::Options options;
  options.repeats = spec.repeats();
  options.distance = spec.distance();
  options.bins = spec.bins();
  options.lambda_1 = spec.lambda_1();
  options.lambda_2 = spec.lambda_2();
  options.smoothing = spec.smoothing();
  options.smoothing_perturbed = spec.smoothing_perturbed();
  options.seed = static_cast<uint64_t>(spec.seed());
  return options;
}

// For a spec that sets it.
ExtraOutput::Value ValueOf(const ExtraOutputSpec& spec) {
  if (spec.value() == ExtraOutputSpec::MARGIN) return ExtraOutput::Value::kMargin;
  if (spec.value() == ExtraOutputSpec::PLAIN) return ExtraOutput::Value::kPlain;
  return spec.value() == ExtraOutputSpec::NEGATED ? ExtraOutput::Value::kNegated : ExtraOutput::Value::kProbability;
}

template <typename Spec>
TiedLogits TiedOf(const Spec& spec) {
  return spec.tied() == TiedLogitsRule::FIRST ? TiedLogits::kFirst : TiedLogits::kLeastScore;
}

Vra::Options OptionsOf(const VraSpec& spec) {
  Vra::Options options;
  options.low_percentile = spec.low_percentile();
  options.high_percentile = spec.high_percentile();
  options.shift = spec.shift();
  options.per_feature = spec.thresholds() != VraSpec::OVERALL;
  options.clip_low = spec.low() == VraSpec::CLIP;
  return options;
}

Combine::Rule RuleOf(const CombineSpec& spec) {
  switch (spec.rule()) {
    case CombineSpec::FISHER:
      return Combine::Rule::kFisher;
    case CombineSpec::STOUFFER:
      return Combine::Rule::kStouffer;
    case CombineSpec::RULE_UNSPECIFIED:  // the default
    case CombineSpec::RANKS:
      break;
  }
  return Combine::Rule::kRanks;
}

Nac::Options OptionsOf(const NacSpec& spec) {
  Nac::Options options;
  options.full = spec.full();
  options.thresholds = spec.thresholds();
  options.steepness = spec.steepness();
  options.samples = spec.samples();
  return options;
}

NacStages::Options OptionsOf(const NacStagesSpec& spec) {
  NacStages::Options options;
  for (const NacStagesSpec::Stage& stage : spec.stage()) {
    options.stages.push_back({stage.full(), stage.thresholds(), stage.steepness()});
  }
  options.samples = spec.samples();
  return options;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> MakeScore(const ScoreSpec& spec) {
  for (const FieldProblem& problem : FindProblems(spec)) {
    return absl::InvalidArgumentError(
        absl::StrCat("score", problem.path.empty() ? "" : ".", problem.path, " ", problem.message));
  }
  switch (spec.kind_case()) {
    case ScoreSpec::kMaxSoftmax:
      return std::make_unique<MaxSoftmax>();
    case ScoreSpec::kMaxLogit:
      return std::make_unique<MaxLogit>();
    case ScoreSpec::kMinMisclassification:
      return std::make_unique<MinMisclassification>();
    case ScoreSpec::kEnergy:
      return std::make_unique<Energy>(spec.energy().temperature());
    case ScoreSpec::kEntropy:
      return std::make_unique<Entropy>();
    case ScoreSpec::kMargin:
      return std::make_unique<Margin>();
    case ScoreSpec::kEdlVacuity:
      return std::make_unique<EdlVacuity>(EvidenceOf(spec.edl_vacuity()));
    case ScoreSpec::kEdlProbability:
      return std::make_unique<EdlProbability>(EvidenceOf(spec.edl_probability()));
    case ScoreSpec::kTemperatureScaledSoftmax: {
      const TemperatureScaledSoftmaxSpec& softmax = spec.temperature_scaled_softmax();
      return std::make_unique<TemperatureScaledSoftmax>(Given(softmax.has_temperature(), softmax.temperature()));
    }
    case ScoreSpec::kReact:
      return std::make_unique<React>(Given(spec.react().has_clip(), spec.react().clip()), spec.react().percentile());
    case ScoreSpec::kOpenmax:
      return std::make_unique<OpenMax>(OptionsOf(spec.openmax()));
    case ScoreSpec::kMahalanobis:
      return std::make_unique<Mahalanobis>();
    case ScoreSpec::kRelativeMahalanobis:
      return std::make_unique<RelativeMahalanobis>();
    case ScoreSpec::kKnn:
      return std::make_unique<Knn>(spec.knn().k());
    case ScoreSpec::kVim:
      return std::make_unique<Vim>(Given<int64_t>(spec.vim().has_principal_dim(), spec.vim().principal_dim()));
    case ScoreSpec::kGen:
      return std::make_unique<Gen>(spec.gen().gamma(), spec.gen().top());
    case ScoreSpec::kAsh:
      return std::make_unique<Ash>(VariantOf(spec.ash()), spec.ash().percentile());
    case ScoreSpec::kDice:
      return std::make_unique<Dice>(spec.dice().percentile());
    case ScoreSpec::kShe:
      return std::make_unique<She>(TiedOf(spec.she()));
    case ScoreSpec::kExtraOutput:
      return std::make_unique<ExtraOutput>(ValueOf(spec.extra_output()));
    case ScoreSpec::kNci:
      return std::make_unique<Nci>(spec.nci().alpha(), TiedOf(spec.nci()));
    case ScoreSpec::kFdbd:
      return std::make_unique<Fdbd>(/*centred=*/spec.fdbd().normaliser() != FdbdSpec::NORM, TiedOf(spec.fdbd()));
    case ScoreSpec::kWeiperKld:
      return std::make_unique<WeiperKld>(OptionsOf(spec.weiper_kld()));
    case ScoreSpec::kScale:
      return std::make_unique<Scale>(spec.scale().percentile());
    case ScoreSpec::kAdascale:
      return std::make_unique<Adascale>(OptionsOf(spec.adascale()));
    case ScoreSpec::kNnguide:
      return std::make_unique<Nnguide>(spec.nnguide().k(), spec.nnguide().share());
    case ScoreSpec::kRelation:
      return std::make_unique<Relation>(spec.relation().power(), spec.relation().threshold());
    case ScoreSpec::kResidual:
      return std::make_unique<Residual>(Given(spec.residual().has_principal_dim(), spec.residual().principal_dim()));
    case ScoreSpec::kGradnorm:
      return std::make_unique<Gradnorm>();
    case ScoreSpec::kKlm:
      return std::make_unique<Klm>();
    case ScoreSpec::kMahalanobisPlusPlus:
      return std::make_unique<Mahalanobis>(RowScale::kUnitLength);
    case ScoreSpec::kRelativeMahalanobisPlusPlus:
      return std::make_unique<RelativeMahalanobis>(RowScale::kUnitLength);
    case ScoreSpec::kCombood:
      return std::make_unique<Combood>(spec.combood().k(), spec.combood().ridge());
    case ScoreSpec::kNac:
      return std::make_unique<Nac>(OptionsOf(spec.nac()));
    case ScoreSpec::kPostmax:
      return std::make_unique<PostMax>();
    case ScoreSpec::kGhost:
      return std::make_unique<Ghost>(
          spec.ghost().value() == GhostSpec::PROBABILITY ? Ghost::Value::kProbability : Ghost::Value::kQuotient,
          TiedOf(spec.ghost()));
    case ScoreSpec::kMutualInformation:
      return std::make_unique<MemberUncertainty>(MemberUncertainty::Value::kMutualInformation);
    case ScoreSpec::kExpectedEntropy:
      return std::make_unique<MemberUncertainty>(MemberUncertainty::Value::kExpectedEntropy);
    case ScoreSpec::kVariationRatio:
      return std::make_unique<MemberUncertainty>(MemberUncertainty::Value::kVariationRatio);
    case ScoreSpec::kVra:
      return std::make_unique<Vra>(OptionsOf(spec.vra()));
    case ScoreSpec::kLts:
      return std::make_unique<Lts>(spec.lts().percentile());
    case ScoreSpec::kPnml:
      return std::make_unique<Pnml>();
    case ScoreSpec::kWeightedEnergy:
      return std::make_unique<WeightedEnergy>(
          std::vector<double>(spec.weighted_energy().weight().begin(), spec.weighted_energy().weight().end()));
    case ScoreSpec::kSsd:
      return std::make_unique<Ssd>(spec.ssd().clusters() == SsdSpec::CLASSES ? Ssd::Clusters::kClasses
                                                                             : Ssd::Clusters::kOne);
    case ScoreSpec::kGmm:
      return std::make_unique<Gmm>(spec.gmm().ridge());
    case ScoreSpec::kGrood:
      return std::make_unique<Grood>();
    case ScoreSpec::kMcm:
      return std::make_unique<Mcm>(spec.mcm().temperature());
    case ScoreSpec::kGradientUncertainty:
      return std::make_unique<GradientUncertainty>(spec.gradient_uncertainty().bias());
    case ScoreSpec::kClassAnchor:
      return std::make_unique<ClassAnchorScore>(spec.class_anchor().anchor());
    case ScoreSpec::kNearestMean:
      return std::make_unique<NearestMean>();
    case ScoreSpec::kMahalanobisEnsemble:
      return std::make_unique<MahalanobisEnsemble>(std::vector<double>(spec.mahalanobis_ensemble().weight().begin(),
                                                                       spec.mahalanobis_ensemble().weight().end()));
    case ScoreSpec::kGram:
      return std::make_unique<Gram>();
    case ScoreSpec::kNacStages:
      return std::make_unique<NacStages>(OptionsOf(spec.nac_stages()));
    case ScoreSpec::kCombine: {
      std::vector<Combine::Part> parts;
      for (const ScoreSpec& part : spec.combine().score()) {
        OPENSET_ASSIGN_OR_RETURN(std::unique_ptr<Score> score, MakeScore(part));
        parts.push_back({std::move(score), NeedsOf(part).fit()});
      }
      return std::make_unique<Combine>(RuleOf(spec.combine()), std::move(parts));
    }
    case ScoreSpec::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("score: no score is set");  // the schema's rules exclude it
}

}  // namespace openset
