#include "experiments/spec/changed_spec.h"

#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "experiments/spec/spec_changes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ExperimentSpec Written() {
  return Parsed<ExperimentSpec>(
      "name: 's' task: 't' method: 'a' method: 'b' seed: [0, 1] "
      "override { training { epochs: 5 batch_size: 128 } }");
}

// The texts of the lines that are marked, or of the others.
std::vector<std::string> Texts(const std::vector<SpecLine>& lines, bool changed) {
  std::vector<std::string> texts;
  for (const SpecLine& line : lines) {
    if (line.changed == changed) texts.push_back(line.text);
  }
  return texts;
}

TEST(ChangedSpecLines, MarksChangesByTheCommandLine) {
  SpecChanges changes;
  changes.set = {"training.epochs=2", "train_limit_per_class=300"};
  changes.seeds = "0,7";
  ExperimentSpec changed = Written();
  ASSERT_THAT(ChangeSpec(changes, &changed), IsOk());
  const std::vector<SpecLine> lines = ChangedSpecLines(Written(), changed, changes.Texts());
  EXPECT_THAT(Texts(lines, true), ElementsAre("    epochs: 2", "seed: 7", "train_limit_per_class: 300"));
  EXPECT_THAT(Texts(lines, false),
              ElementsAre("name: \"s\"", "task: \"t\"", "method: \"a\"", "method: \"b\"", "override {", "  training {",
                          "    batch_size: 128", "  }", "}", "seed: 0"));
}

TEST(ChangedSpecLines, NothingIsMarkedWithoutChanges) {
  EXPECT_THAT(Texts(ChangedSpecLines(Written(), Written(), {}), true), IsEmpty());
}

// The override has no loss term, because only the methods' files say which terms they have.
TEST(ChangedSpecLines, AFlagWithoutAFieldHasItsOwnLine) {
  const std::vector<SpecLine> lines = ChangedSpecLines(Written(), Written(), {"--set=loss.open_auc.lambda=0.2"});
  EXPECT_THAT(Texts(lines, true), ElementsAre("# --set=loss.open_auc.lambda=0.2"));
  EXPECT_EQ(lines.back().text, "# --set=loss.open_auc.lambda=0.2");
}

}  // namespace
}  // namespace openset
