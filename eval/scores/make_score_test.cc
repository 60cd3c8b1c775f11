#include "eval/scores/make_score.h"

#include <cmath>
#include <utility>
#include <vector>

#include "core/testing/parsed.h"
#include "eval/testing/golden_scores.h"
#include "eval/testing/score_rows.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(MakeScore, EqualsGoldenValues) {
  const GoldenScores golden;
  for (const auto& [text, name] : {
           std::pair("max_softmax {}", "max_softmax"),
           std::pair("max_logit {}", "max_logit"),
           std::pair("min_misclassification {}", "min_misclassification"),
           std::pair("energy {}", "energy_t1"),
           std::pair("energy { temperature: 10 }", "energy_t10"),
           std::pair("entropy {}", "entropy"),
           std::pair("margin {}", "margin"),
           std::pair("edl_vacuity {}", "edl_vacuity_exp"),
           std::pair("edl_vacuity { evidence: RELU }", "edl_vacuity_relu"),
           std::pair("edl_vacuity { evidence: SOFTPLUS }", "edl_vacuity_softplus"),
           std::pair("edl_probability { evidence: EXP }", "edl_probability_exp"),
           std::pair("edl_probability { evidence: RELU }", "edl_probability_relu"),
           std::pair("edl_probability { evidence: SOFTPLUS }", "edl_probability_softplus"),
           std::pair("temperature_scaled_softmax { temperature: 10 }", "max_softmax_t10"),
           std::pair("temperature_scaled_softmax { temperature: 1000 }", "max_softmax_t1000"),
       }) {
    golden.Expect(**MakeScore(Parsed<ScoreSpec>(text)), name);
  }
}

TEST(MakeScore, RefusesSpecsThatBreakTheRulesOfTheirSchema) {
  EXPECT_EQ(MakeScore(ScoreSpec()).status().code(), absl::StatusCode::kInvalidArgument);
  ScoreSpec spec;
  spec.mutable_energy()->set_temperature(0);
  EXPECT_EQ(MakeScore(spec).status().message(), "score.energy.temperature must be above 0 (is 0)");
  spec.mutable_weiper_kld()->set_repeats(2000000000);  // of 16 GB for a head of one weight
  EXPECT_EQ(MakeScore(spec).status().message(), "score.weiper_kld.repeats must be at most 10000 (is 2000000000)");
  spec.mutable_edl_vacuity()->set_evidence(EdlSpec::EVIDENCE_UNSPECIFIED);
  EXPECT_EQ(MakeScore(spec).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(MinMisclassification, TellsConfidentSamplesApart) {
  // The other class holds exp(-50) and exp(-60): far below the spacing of doubles at 1.
  const std::vector<float> logits = {50, 0, 60, 0};
  const ScoreInput input = LogitRows(logits, 2);
  ScoreSpec spec;
  spec.mutable_max_softmax();
  const std::vector<double> max_softmax = MakeScore(spec).value()->Compute(input).value();
  EXPECT_EQ(max_softmax[0], max_softmax[1]);
  spec.mutable_min_misclassification();
  const std::vector<double> misclassification = MakeScore(spec).value()->Compute(input).value();
  EXPECT_NEAR(misclassification[0] / misclassification[1], std::exp(10), 1e-9 * std::exp(10));
}

}  // namespace
}  // namespace openset
