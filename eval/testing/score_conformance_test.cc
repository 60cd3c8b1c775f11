#include "eval/testing/score_conformance.h"

#include <map>
#include <string>

#include "core/testing/parsed.h"
#include "gtest/gtest.h"

namespace openset {
namespace testing {
namespace {

// Of the members of ScoreSpec that have any.
std::map<std::string, ScoreTraits> TraitsOfMembers() {
  std::map<std::string, ScoreTraits> traits;
  traits["max_logit"].shift_changes_it = true;
  traits["energy"].shift_changes_it = true;
  traits["edl_vacuity"].shift_changes_it = true;
  traits["edl_probability"].shift_changes_it = true;
  traits["react"].shift_changes_it = true;
  traits["openmax"].shift_changes_it = true;
  traits["vim"].shift_changes_it = true;
  traits["ash"].shift_changes_it = true;
  traits["dice"].shift_changes_it = true;
  traits["weiper_kld"].is_random = true;
  traits["scale"].shift_changes_it = true;
  traits["adascale"].shift_changes_it = true;
  traits["nnguide"].shift_changes_it = true;
  traits["extra_output"].last_output_is_special = true;
  traits["neg_label"].last_output_is_special = true;
  // Where all probabilities are equal the gradient is 0, and all states are 1/2, as for features that are 0.
  traits["nac"].undecided_may_look_known = true;
  traits["postmax"].shift_changes_it = true;
  traits["ghost"].shift_changes_it = true;
  traits["vra"].shift_changes_it = true;
  traits["lts"].shift_changes_it = true;
  // Features that the head ignores scale its logits.
  traits["lts"].undecided_may_look_known = true;
  traits["weighted_energy"].shift_changes_it = true;
  traits["class_anchor"].shift_changes_it = true;
  // Its values are none of the logits' own.
  traits["nac_stages"].undecided_may_look_known = true;
  traits["combine"].shift_changes_it = true;
  return traits;
}

TEST(ScoreConformance, HoldsForEveryMember) {
  std::map<std::string, ScoreTraits> traits = TraitsOfMembers();
  const google::protobuf::OneofDescriptor* kind = ScoreSpec::descriptor()->FindOneofByName("kind");
  for (int i = 0; i < kind->field_count(); ++i) {
    ScoreSpec spec;
    ScoreSpec::GetReflection()->MutableMessage(&spec, kind->field(i));
    if (spec.has_gl_mcm()) spec.mutable_gl_mcm()->set_places(0);
    if (spec.has_cooked()) spec.mutable_cooked()->set_classifiers(1);
    if (spec.has_combine()) {
      spec.mutable_combine()->add_score()->mutable_energy();
      spec.mutable_combine()->add_score()->mutable_knn();
    }
    CheckScore(spec, traits[kind->field(i)->name()]);
  }
  EXPECT_EQ(traits.size(), kind->field_count()) << "a line above names no member";
}

TEST(ScoreConformance, HoldsForOtherForms) {
  ScoreTraits shift_changes_it;
  shift_changes_it.shift_changes_it = true;
  for (const char* text : {
           "react { clip: 5 }",
           "openmax { tail: 2 alpha: 1 rank_weight: 0.5 }",
           "openmax { distance: COSINE translation: 1 }",
           "ash { variant: P percentile: 60 }",
           "ash { variant: B percentile: 90 }",
           "dice { percentile: 0 }",
           "vim { principal_dim: 0 }",
           "gen { top: 1 }",
           "gen { top: 2 }",
           "knn { k: 1 }",
           "edl_vacuity { evidence: SOFTPLUS }",
           "temperature_scaled_softmax { temperature: 2 }",
           "fdbd { normaliser: NORM }",
           "scale { percentile: 0 }",
           "adascale { variant: L k1: 50 k2: 20 }",
           "adascale { min_percentile: 60 max_percentile: 95 k1: 50 k2: 20 }",
           "nnguide { k: 3 share: 1 }",
           "relation { power: 4 threshold: 0 }",
           "residual { principal_dim: 9 }",
           "combood { k: 1 ridge: 0.01 }",
           "vra { low_percentile: 10 thresholds: OVERALL low: CLIP shift: 0.5 }",
           "lts { percentile: 0 }",
           "weighted_energy { weight: [3, 3, 3, 3, 3] }",
           "combine { score { knn {} } score { max_softmax {} } }",
           "ssd { clusters: CLASSES }",
           "gmm { ridge: 0.1 }",
           "mcm { temperature: 0.01 }",
           "gl_mcm { places: 0 temperature: 0.5 }",
           "cooked { classifiers: 1 last_temperature: 0.5 value: ENTROPY }",
           "gradient_uncertainty { bias: false }",
           "mahalanobis_ensemble { weight: [2, 2] }",
           "combine { score { max_logit {} } score { max_softmax {} } rule: FISHER }",
           "combine { score { vim {} } score { combine { score { energy {} } } } rule: STOUFFER }",
       }) {
    CheckScore(Parsed<ScoreSpec>(text), shift_changes_it);
  }
}

}  // namespace
}  // namespace testing
}  // namespace openset
