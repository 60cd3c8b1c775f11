#include <utility>

#include "core/testing/parsed.h"
#include "eval/scores/head/weiper_kld.h"
#include "eval/scores/make_score.h"
#include "eval/testing/post_hoc_golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

// The logits are stored as floats, which leaves 1e-7.
constexpr double kTolerance = 1e-6;

TEST(ReleasedCode, ComputesTheSameScoresOfRealFeatures) {
  const testing::PostHocGolden golden("openood_scores.json");
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
  const testing::PostHocGolden golden("openood_scores.json");
  WeiperKld::Options options;
  options.repeats = 3;
  WeiperKld weiper(options);
  auto noise = golden.weiper_noise().begin();
  ASSERT_TRUE(weiper.FitWithNoise(golden.Train(), [&noise] { return *noise++; }).ok());
  golden.ExpectScores(weiper.Compute(golden.Test()).value(), "weiper_kld", kTolerance);
}

}  // namespace
}  // namespace openset
