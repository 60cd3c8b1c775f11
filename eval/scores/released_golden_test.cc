// Scores against the released code of others, on random and on real features (tools/peers/make_released_golden.py).

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/testing/parsed.h"
#include "eval/scores/make_score.h"
#include "eval/scores/weiper_kld.h"
#include "eval/testing/golden_scores.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(ReleasedCode, ComputesTheSameScores) {
  for (const char* features : {"random", "digits"}) {
    SCOPED_TRACE(features);
    const PostHocGolden golden("released_scores.json", features);
    for (const auto& [text, name] : {
             std::pair("vra {}", "vra"),
             std::pair("vra { shift: 0.6 }", "vra_plus"),
             std::pair("vra { low_percentile: 10 high_percentile: 90 thresholds: OVERALL low: CLIP }", "vra_openood"),
             std::pair("vra { low_percentile: 1 high_percentile: 99 low: CLIP }", "vra_pytorch_ood"),
             std::pair("lts {}", "lts"),
             std::pair("lts { percentile: 80 }", "lts_80"),
             std::pair("lts { percentile: 65 }", "lts_65"),
             std::pair("pnml {}", "pnml"),
             std::pair("pnml {}", "pnml_pytorch_ood"),
             std::pair("ssd {}", "ssd"),
             std::pair("ssd { clusters: CLASSES }", "ssd_classes"),
             std::pair("gmm { ridge: 1e-3 }", "gmm"),
             std::pair("grood {}", "grood"),
             std::pair("gram {}", "gram"),
             std::pair("class_anchor {}", "class_anchor"),
             std::pair("ghost {}", "ghost"),
             std::pair("ghost { value: PROBABILITY }", "ghost_probability"),
             std::pair("nac {}", "nac"),
             std::pair("nac { full: 5 thresholds: 20 steepness: 1 }", "nac_5"),
             std::pair("nac_stages { stage { full: 20 thresholds: 20 steepness: 0.5 } samples: 0 }", "nac_last_stage"),
             std::pair("nac_stages { stage { full: 20 thresholds: 20 steepness: 0.5 } "
                       "stage { full: 5 thresholds: 52 steepness: 2 } samples: 0 }",
                       "nac_stages"),
             std::pair("mahalanobis {}", "mahalanobis"),
             std::pair("relative_mahalanobis {}", "relative_mahalanobis"),
             std::pair("mahalanobis_ensemble {}", "mahalanobis_ensemble"),
             std::pair("mahalanobis_ensemble { weight: [0.25, 3] }", "mahalanobis_ensemble_weighted"),
             std::pair("she {}", "she"),
             std::pair("knn { k: 1 }", "knn_1"),
             std::pair("knn {}", "knn_50"),
             std::pair("combood {}", "combood"),
             std::pair("combood { k: 5 ridge: 0.1 }", "combood_5"),
             std::pair("mcm {}", "mcm"),
             std::pair("mcm { temperature: 0.1 }", "mcm_01"),
             std::pair("gradient_uncertainty {}", "gradient_uncertainty"),
             std::pair("openmax { distance: EUCLIDEAN alpha: 3 translation: 1 }", "openmax"),
             std::pair("openmax { alpha: 4 translation: 1 }", "openmax_eucos"),
             std::pair("openmax { distance: COSINE tail: 10 alpha: 2 translation: 1 }", "openmax_cosine"),
             std::pair("ash {}", "ash_s"),
             std::pair("ash { percentile: 65 }", "ash_s_65"),
             std::pair("ash { variant: P percentile: 60 }", "ash_p"),
             std::pair("ash { variant: B percentile: 65 }", "ash_b_65"),
             std::pair("mahalanobis_plus_plus {}", "mahalanobis_plus_plus"),
             std::pair("relative_mahalanobis_plus_plus {}", "relative_mahalanobis_plus_plus"),
             std::pair("combine { score { energy {} } score { knn { k: 5 } } }", "combine_ranks"),
             std::pair("combine { score { energy {} } score { knn { k: 5 } } rule: FISHER }", "combine_fisher"),
             std::pair("combine { score { energy {} } score { knn { k: 5 } } rule: STOUFFER }", "combine_stouffer"),
         }) {
      const ScoreSpec spec = Parsed<ScoreSpec>(text);
      // The code casts its thresholds, and the logits are stored, as floats, which leaves 1e-7.
      golden.Expect(MakeScore(spec).value().get(), name, 1e-6);
    }
    // svm-predict prints six digits.
    for (const auto& [text, name] : {
             std::pair("one_vs_set {}", "one_vs_set"),
             std::pair("one_vs_set { c: 0.1 near_pressure: 0.5 far_pressure: 0.25 }", "one_vs_set_pressed"),
         }) {
      golden.Expect(MakeScore(Parsed<ScoreSpec>(text)).value().get(), name, 1e-5);
    }
    // Its weights: from -0.5 to 2 in equal steps.
    ScoreSpec spec;
    const int64_t k = golden.Test().num_outputs;
    for (int64_t c = 0; c < k; ++c) {
      spec.mutable_weighted_energy()->add_weight(-0.5 + 2.5 * static_cast<double>(c) / static_cast<double>(k - 1));
    }
    golden.Expect(MakeScore(spec).value().get(), "weighted_energy", 1e-6);
  }
}

// The logits are stored as floats, which leaves 1e-7.
constexpr double kTolerance = 1e-6;

TEST(ReleasedCode, ComputesTheSameScoresOfRealFeatures) {
  const PostHocGolden golden("openood_scores.json");
  for (const auto& [text, name] : {
           std::pair("nci {}", "nci"),
           std::pair("fdbd {}", "fdbd"),
           std::pair("fdbd { normaliser: NORM }", "fdbd_norm"),
           std::pair("scale {}", "scale"),
           std::pair("adascale { min_percentile: 60 max_percentile: 95 k1: 5 k2: 5 }", "adascale_a"),
           std::pair("adascale { variant: L min_percentile: 60 max_percentile: 95 k1: 5 k2: 5 }", "adascale_l"),
           std::pair("nnguide { share: 1 }", "nnguide"),
           std::pair("relation {}", "relation"),
           std::pair("relation { power: 4 }", "relation_4"),
           std::pair("residual { principal_dim: 20 }", "residual"),
           std::pair("gradnorm {}", "gradnorm"),
           std::pair("klm {}", "klm"),
           std::pair("vim { principal_dim: 20 }", "vim"),
           std::pair("ash { variant: B percentile: 90 }", "ash_b"),
           std::pair("react {}", "react"),
           std::pair("dice {}", "dice"),
           std::pair("gen {}", "gen"),
       }) {
    golden.Expect(MakeScore(Parsed<ScoreSpec>(text)).value().get(), name, kTolerance);
  }
}

TEST(ReleasedCode, ComputesTheSameWeiperKldForTheSameNoise) {
  const PostHocGolden golden("openood_scores.json");
  WeiperKldSpec options;
  options.set_repeats(3);
  WeiperKld weiper(options);
  auto noise = golden.weiper_noise().begin();
  ASSERT_TRUE(weiper.FitWithNoise(golden.Train(), [&noise] { return *noise++; }).ok());
  golden.ExpectScores(weiper.Compute(golden.Test()).value(), "weiper_kld", kTolerance);
}

TEST(PostHocScores, GiveGoldenValues) {
  const PostHocGolden golden;
  for (const auto& [text, name] : {
           std::pair("react {}", "react_90"),
           std::pair("react { clip: 1 }", "react_clip_1"),
           std::pair("openmax {}", "openmax"),
           std::pair("openmax { alpha: 2 }", "openmax_alpha_2"),
           std::pair("openmax { distance: EUCLIDEAN alpha: 4 rank_weight: 1 translation: 1 cdf_of: LOGIT }",
                     "openmax_of_logit"),
           std::pair("vim {}", "vim"),
           std::pair("vim { principal_dim: 6 }", "vim_6"),
           std::pair("gen {}", "gen"),
           std::pair("gen { gamma: 0.5 top: 2 }", "gen_2"),
           std::pair("dice {}", "dice_90"),
           std::pair("dice { percentile: 50 }", "dice_50"),
           std::pair("nci {}", "nci"),
           std::pair("nci { alpha: 0.1 }", "nci_long"),
           std::pair("fdbd {}", "fdbd"),
           std::pair("fdbd { normaliser: NORM }", "fdbd_norm"),
           std::pair("scale {}", "scale"),
           std::pair("scale { percentile: 65 }", "scale_65"),
           std::pair("adascale { min_percentile: 61.5 max_percentile: 92 k1: 50 k2: 25 }", "adascale_a"),
           std::pair("adascale { variant: L min_percentile: 77 k1: 100 k2: 50 lambda: 0.5 }", "adascale_l"),
           std::pair("nnguide { share: 1 }", "nnguide"),
           std::pair("nnguide { k: 1 share: 1 }", "nnguide_1"),
           std::pair("relation {}", "relation"),
           std::pair("relation { power: 4 threshold: 0.3 }", "relation_4"),
           std::pair("residual {}", "residual"),
           std::pair("residual { principal_dim: 6 }", "residual_6"),
           std::pair("gradnorm {}", "gradnorm"),
           std::pair("klm {}", "klm"),
       }) {
    const ScoreSpec spec = Parsed<ScoreSpec>(text);
    // OpenMax's distributions have shapes around 10000, which the solvers find to 1e-9 or so.
    golden.Expect(MakeScore(spec).value().get(), name, spec.has_openmax() ? 1e-7 : 1e-11);
  }
}

// Scores against tools/peers/make_distance_score_golden.py, on random and on real features.

std::unique_ptr<Score> ScoreOf(const std::string& text) { return MakeScore(Parsed<ScoreSpec>(text)).value(); }

TEST(DistanceScores, GiveGoldenValues) {
  for (const char* features : {"random", "digits"}) {
    SCOPED_TRACE(features);
    const PostHocGolden golden("distance_scores.json", features);
    golden.Expect(ScoreOf("postmax {}").get(), "postmax", 1e-9);
  }
}

// The predictions of K + 1 revised outputs, by the unified benchmark's code and by the paper in NumPy. With half the
// weight of one rank a class may lose to another one, never to the unknown.
TEST(DistanceScores, OpenMaxPredictsTheLargestRevisedOutput) {
  for (const char* features : {"random", "digits"}) {
    SCOPED_TRACE(features);
    const PostHocGolden golden("distance_scores.json", features);
    const PostHocGolden released("released_scores.json", features);
    const ScoreInput test = golden.Test();
    for (const auto& [of, text, name] : {
             std::tuple(&released, "openmax { tail: 2 alpha: 1 rank_weight: 0.5 translation: 1 prediction: REVISED }",
                        "openmax_unified_benchmark"),
             std::tuple(&golden, "openmax { prediction: REVISED }", "openmax"),
         }) {
      SCOPED_TRACE(name);
      const std::unique_ptr<Score> score = ScoreOf(text);
      of->Expect(score.get(), name, 1e-7);
      const std::vector<int32_t> said = *score->Predictions(test, test.num_outputs).value();
      EXPECT_EQ(std::vector<double>(said.begin(), said.end()), of->expected(absl::StrCat(name, "_prediction")));
    }
    EXPECT_EQ(
        *std::max_element(golden.expected("openmax_prediction").begin(), golden.expected("openmax_prediction").end()),
        test.num_outputs);
    const std::unique_ptr<Score> closed_set = ScoreOf("openmax {}");
    golden.Expect(closed_set.get(), "openmax", 1e-7);
    EXPECT_FALSE(closed_set->Predictions(test, test.num_outputs).value().has_value());
  }
}

}  // namespace
}  // namespace openset
