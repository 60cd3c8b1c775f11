#include "experiments/store/records/metric_groups.h"

#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "experiments/store/record.pb.h"

namespace openset {
namespace {

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

MetricRecord Parse(const char* text) { return Parsed<MetricRecord>(text); }

TEST(MeasuredName, OfOlderRecordsHasTheLevelOfTheirSpec) {
  const MetricRecord older = Parse("name: 'ccr_at_fpr' spec { ccr_at_fpr { fpr: 0.01 } }");
  EXPECT_EQ(MeasuredName(older), "ccr_at_0.01fpr");
  EXPECT_TRUE(IsMeasured(older, "ccr_at_0.01fpr"));
  EXPECT_FALSE(IsMeasured(older, "ccr_at_0.1fpr"));
}

TEST(MeasuredNameInGroup, NamesAllGroupsButThePool) {
  EXPECT_EQ(MeasuredNameInGroup(Parse("name: 'auroc'")), "auroc");
  EXPECT_EQ(MeasuredNameInGroup(Parse("name: 'auroc' group { kind: POOL }")), "auroc");
  EXPECT_EQ(MeasuredNameInGroup(Parse("name: 'auroc' group { kind: SET set: 'mnist' }")), "auroc of mnist");
  EXPECT_EQ(MeasuredNameInGroup(Parse("name: 'auroc' group { kind: NEAR_MEAN }")), "auroc of mean of near");
}

TEST(MeasuredName, IsOtherwiseTheRecordsName) {
  for (const char* text : {"name: 'ccr_at_0.01fpr' spec { ccr_at_fpr { fpr: 0.01 } }",
                           "name: 'low' spec { name: 'low' ccr_at_fpr { fpr: 0.01 } }",
                           "name: 'auroc' spec { auroc {} }", "name: 'auroc'"}) {
    const MetricRecord record = Parse(text);
    EXPECT_EQ(MeasuredName(record), record.name()) << text;
    EXPECT_TRUE(IsMeasured(record, record.name())) << text;
  }
  EXPECT_FALSE(IsMeasured(Parse("name: 'low' spec { name: 'low' ccr_at_fpr { fpr: 0.01 } }"), "ccr_at_0.01fpr"));
}

}  // namespace
}  // namespace openset
