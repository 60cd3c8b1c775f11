#include "experiments/spec/method/method_threshold.h"

#include "core/testing/parsed.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

// The metric after SetMethodThreshold(), for a method with this decision and 3 known classes.
absl::StatusOr<std::string> Resolved(const std::string& decision, const std::string& metric) {
  const MethodSpec method = Parsed<MethodSpec>("name: 'm' " + decision);
  MetricSpec spec = Parsed<MetricSpec>(metric);
  const std::string before = spec.ShortDebugString();
  const absl::StatusOr<bool> set = SetMethodThreshold(method, 3, &spec);
  if (!set.ok()) return set.status();
  EXPECT_EQ(*set, spec.ShortDebugString() != before);
  return spec.ShortDebugString();
}

TEST(SetMethodThreshold, UsesTheThresholdForTheNumberOfClasses) {
  const std::string table =
      "decision { threshold: -0.5 by_known_classes { known_classes: 2 threshold: -0.8 } "
      "by_known_classes { known_classes: 3 threshold: -0.6 } }";
  EXPECT_EQ(*Resolved(table, "halfpoint { of_method {} denominator: ALL }"),
            "halfpoint { threshold: -0.6 denominator: ALL }");
  EXPECT_EQ(*Resolved("decision { threshold: -0.5 }", "outer { of_method {} }"), "outer { threshold: -0.5 }");
}

TEST(SetMethodThreshold, LeavesOtherMetricsAlone) {
  EXPECT_EQ(*Resolved("", "auroc {}"), "auroc { }");
  EXPECT_EQ(*Resolved("", "overall { known_accepted: 0.9 }"), "overall { known_accepted: 0.9 }");
}

TEST(TakeThreshold, LeavesTheMethodsOwnInItsPlace) {
  MetricSpec metric = Parsed<MetricSpec>("outer { threshold: -0.5 denominator: ALL }");
  EXPECT_EQ(TakeThreshold(&metric), -0.5);
  EXPECT_EQ(metric.ShortDebugString(), "outer { denominator: ALL of_method { } }");
  EXPECT_EQ(TakeThreshold(&metric), std::nullopt);
  metric.mutable_auroc();
  EXPECT_EQ(TakeThreshold(&metric), std::nullopt);
}

TEST(SetMethodThreshold, NamesTheMethodWithoutOne) {
  EXPECT_EQ(Resolved("", "overall { of_method {} }").status(),
            absl::InvalidArgumentError("method m has no threshold for 3 known classes: set `decision`, or "
                                       "known_accepted here"));
}

}  // namespace
}  // namespace openset
