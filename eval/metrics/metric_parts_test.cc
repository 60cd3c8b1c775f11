#include "eval/metrics/metric_parts.h"

#include "core/testing/parsed.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

template <typename Spec>
std::string Of(const std::string& text) {
  return ThresholdText(Parsed<Spec>(text));
}

TEST(ThresholdText, OfOperatingPoints) {
  EXPECT_EQ(Of<OperatingPoint>(""), "best threshold on test");
  EXPECT_EQ(Of<OperatingPoint>("best {}"), "best threshold on test");
  EXPECT_EQ(Of<OperatingPoint>("best_on_grid { divisions: 50 }"), "best threshold of 49 on test");
  EXPECT_EQ(Of<OperatingPoint>("threshold: 0.25"), "threshold 0.25");
  EXPECT_EQ(Of<OperatingPoint>("known_accepted: 0.9"), "90 % of known accepted");
}

TEST(ThresholdText, OfBalancedScores) {
  EXPECT_EQ(Of<BalancedScoreSpec>(""), "95 % of known accepted");
  EXPECT_EQ(Of<BalancedScoreSpec>("known_accepted: 0.995"), "99.5 % of known accepted");
  EXPECT_EQ(Of<BalancedScoreSpec>("threshold: -1"), "threshold -1");
  EXPECT_EQ(Of<BalancedScoreSpec>("of_method {}"), "threshold of the method");
}

}  // namespace
}  // namespace openset
