#include "experiments/store/records/metric_groups.h"

#include "core/testing/parsed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> GroupsOf(const std::string& text) {
  std::vector<std::string> names;
  for (const MetricGroup& group : MetricGroupsOf(Parsed<TaskData>(text))) names.push_back(GroupText(group));
  return names;
}

TEST(MetricGroups, OneSetIsThePool) {
  EXPECT_THAT(GroupsOf(""), ElementsAre("pool"));
  EXPECT_THAT(GroupsOf("test_unknown { name: 'unknown' distance: NEAR }"), ElementsAre("pool"));
}

TEST(MetricGroups, SeveralSetsAreGroups) {
  EXPECT_THAT(GroupsOf("test_unknown { name: 'a' } test_unknown { name: 'b' }"), ElementsAre("pool", "a", "b"));
}

TEST(MetricGroups, MeansIfSetsHaveADistance) {
  EXPECT_THAT(GroupsOf("test_unknown { name: 'a' distance: FAR } test_unknown { name: 'b' }"),
              ElementsAre("pool", "a", "b", "mean of far"));
  EXPECT_THAT(GroupsOf("test_unknown { name: 'a' distance: FAR } test_unknown { name: 'b' distance: NEAR }"),
              ElementsAre("pool", "a", "b", "mean of near", "mean of far"));
}

}  // namespace
}  // namespace openset
