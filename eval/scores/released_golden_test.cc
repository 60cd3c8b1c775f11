// Scores against the released code of others, on random and on real features (tools/peers/make_released_golden.py).
#include <utility>

#include "core/testing/parsed.h"
#include "eval/scores/make_score.h"
#include "eval/testing/post_hoc_golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(ReleasedCode, ComputesTheSameScores) {
  for (const char* features : {"random", "digits"}) {
    SCOPED_TRACE(features);
    const testing::PostHocGolden golden("released_scores.json", features);
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
             std::pair("mcm {}", "mcm"),
             std::pair("mcm { temperature: 0.1 }", "mcm_01"),
             std::pair("gradient_uncertainty {}", "gradient_uncertainty"),
             std::pair("combine { score { energy {} } score { knn { k: 5 } } }", "combine_ranks"),
             std::pair("combine { score { energy {} } score { knn { k: 5 } } rule: FISHER }", "combine_fisher"),
             std::pair("combine { score { energy {} } score { knn { k: 5 } } rule: STOUFFER }", "combine_stouffer"),
         }) {
      const ScoreSpec spec = Parsed<ScoreSpec>(text);
      // The code casts its thresholds, and the logits are stored, as floats, which leaves 1e-7.
      golden.Expect(MakeScore(spec).value().get(), name, 1e-6);
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

}  // namespace
}  // namespace openset
