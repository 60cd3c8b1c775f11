#include "eval/testing/post_hoc_golden.h"

#include <utility>

#include "core/testing/parsed.h"
#include "eval/scores/make_score.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(PostHocScores, GiveGoldenValues) {
  const testing::PostHocGolden golden;
  for (const auto& [text, name] : {
           std::pair("react {}", "react_90"),
           std::pair("react { clip: 1 }", "react_clip_1"),
           std::pair("openmax {}", "openmax"),
           std::pair("openmax { alpha: 2 }", "openmax_alpha_2"),
           std::pair("openmax { tail: 2 alpha: 1 rank_weight: 0.5 }", "openmax_benchmark"),
           std::pair("openmax { distance: COSINE tail: 10 alpha: 4 translation: 1 }", "openmax_cosine"),
           std::pair("openmax { distance: EUCLIDEAN alpha: 4 rank_weight: 1 translation: 1 cdf_of: LOGIT }",
                     "openmax_of_logit"),
           std::pair("mahalanobis {}", "mahalanobis"),
           std::pair("relative_mahalanobis {}", "relative_mahalanobis"),
           std::pair("knn {}", "knn_50"),
           std::pair("knn { k: 1 }", "knn_1"),
           std::pair("vim {}", "vim"),
           std::pair("vim { principal_dim: 6 }", "vim_6"),
           std::pair("gen {}", "gen"),
           std::pair("gen { gamma: 0.5 top: 2 }", "gen_2"),
           std::pair("ash {}", "ash_s"),
           std::pair("ash { variant: P percentile: 60 }", "ash_p"),
           std::pair("ash { variant: B percentile: 65 }", "ash_b"),
           std::pair("dice {}", "dice_90"),
           std::pair("dice { percentile: 50 }", "dice_50"),
           std::pair("she {}", "she"),
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
           std::pair("mahalanobis_ensemble {}", "mahalanobis_ensemble"),
           std::pair("mahalanobis_ensemble { weight: [0.25, 3] }", "mahalanobis_ensemble_weighted"),
           std::pair("nac_stages { stage { full: 20 thresholds: 20 steepness: 0.5 } samples: 0 }", "nac_last_stage"),
           std::pair("nac_stages { stage { full: 20 thresholds: 20 steepness: 0.5 } "
                     "stage { full: 5 thresholds: 51 steepness: 2 } samples: 0 }",
                     "nac_stages"),
           std::pair("gram {}", "gram"),
       }) {
    const ScoreSpec spec = Parsed<ScoreSpec>(text);
    // OpenMax's distributions have shapes around 10000, which the solvers find to 1e-9 or so.
    golden.Expect(MakeScore(spec).value().get(), name, spec.has_openmax() ? 1e-7 : 1e-11);
  }
}

}  // namespace
}  // namespace openset
