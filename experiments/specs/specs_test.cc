// Every experiment that comes with the program is valid and makes the trials it says.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/proto/proto_digest.h"
#include "data/selection.h"
#include "experiments/plan/planner.h"
#include "experiments/plan/search.h"
#include "experiments/spec/actions.h"
#include "experiments/spec/describe.h"
#include "experiments/spec/expand.h"
#include "experiments/spec/experiment_file.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

std::string Root() { return JoinPath(RunfilesFolder().value(), "openset"); }

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(JoinPath(Root(), folder))) {
    if (entry.path().extension() == ".textproto") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class SpecTest : public ::testing::TestWithParam<std::string> {};

TEST_P(SpecTest, ExpandsToItsNumberOfTrials) {
  const absl::StatusOr<Experiment> experiment = LoadExperiment(GetParam(), SpecFoldersBelow(Root()));
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  EXPECT_EQ(experiment->spec.name(), GetParam());
  EXPECT_FALSE(experiment->spec.question().empty());
  ASSERT_TRUE(experiment->spec.has_expected_trials());
  const absl::StatusOr<std::vector<Trial>> trials = Expand(*experiment);
  ASSERT_TRUE(trials.ok()) << trials.status();
  const absl::StatusOr<std::vector<TrialSearch>> searches = ExpandSearches(*experiment, *trials);
  ASSERT_TRUE(searches.ok()) << searches.status();
  EXPECT_EQ(static_cast<int>(trials->size() + searches->size()), experiment->spec.expected_trials());
}

TEST_P(SpecTest, ItsPlanHasWorkForEachTrial) {
  const absl::StatusOr<Experiment> experiment = LoadExperiment(GetParam(), SpecFoldersBelow(Root()));
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  const absl::StatusOr<std::vector<Trial>> trials = Expand(*experiment);
  ASSERT_TRUE(trials.ok()) << trials.status();
  const Store empty(JoinPath(::testing::TempDir(), "no-store"));
  const Plan plan = MakePlan(*trials, empty, [&](const Selection& selection) {
    const absl::StatusOr<int64_t> count = CountSamples(selection, experiment->catalog);
    EXPECT_TRUE(count.ok()) << count.status();
    return count.value_or(0);
  });
  EXPECT_EQ(plan.CountNeeded(ActionKind::kEvaluate), trials->size());
  EXPECT_GT(plan.CountNeeded(ActionKind::kTrain), 0);
  for (const PlanNode& node : plan.nodes) {
    if (node.kind == ActionKind::kEvaluate) continue;
    EXPECT_GT(node.work, 0) << Describe(plan.TrialOf(node));
  }
}

// 16 scores of 2 splits and 2 seeds: one training each, one pass over the test images and one over the training images.
TEST(PosthocSweep, TrainsOnceForAllScores) {
  const absl::StatusOr<Experiment> experiment = LoadExperiment("posthoc_sweep", SpecFoldersBelow(Root()));
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  const absl::StatusOr<std::vector<Trial>> trials = Expand(*experiment);
  ASSERT_TRUE(trials.ok()) << trials.status();
  const Plan plan =
      MakePlan(*trials, Store(JoinPath(::testing::TempDir(), "no-store")), [](const Selection&) { return int64_t{1}; });
  EXPECT_EQ(plan.Count(ActionKind::kTrain), 4);
  EXPECT_EQ(plan.Count(ActionKind::kInfer), 8);
  EXPECT_EQ(plan.Count(ActionKind::kEvaluate), 64);
}

// For each of 2 splits: one training; of 44 candidates of ODIN one pass over the validation images, which they share;
// of the 36 of OpenMax and the 10 of ReAct another one, and one over the training images.
TEST(PosthocSearch, FitsAndScoresFromStoredArrays) {
  const absl::StatusOr<Experiment> experiment = LoadExperiment("posthoc_search", SpecFoldersBelow(Root()));
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  const absl::StatusOr<std::vector<Trial>> trials = Expand(*experiment);
  ASSERT_TRUE(trials.ok()) << trials.status();
  const absl::StatusOr<std::vector<TrialSearch>> searches = ExpandSearches(*experiment, *trials);
  ASSERT_TRUE(searches.ok()) << searches.status();
  std::vector<Trial> candidates;
  for (const TrialSearch& search : *searches) {
    candidates.insert(candidates.end(), search.candidates.begin(), search.candidates.end());
  }
  ASSERT_EQ(candidates.size(), 2 * (44 + 36 + 10));
  const Plan plan = MakePlan(candidates, Store(JoinPath(::testing::TempDir(), "no-store")),
                             [](const Selection&) { return int64_t{1}; });
  EXPECT_EQ(plan.Count(ActionKind::kTrain), 2);
  int passes = 0;
  for (const PlanNode& node : plan.nodes) passes += node.kind == ActionKind::kInfer && !node.is_passenger;
  EXPECT_EQ(passes, 2 * 3);
}

INSTANTIATE_TEST_SUITE_P(Specs, SpecTest, ::testing::ValuesIn(NamesIn("experiments/specs")),
                         [](const auto& info) { return info.param; });

// A method is used by its file's name and says where it comes from.
class MethodTest : public ::testing::TestWithParam<std::string> {};

TEST_P(MethodTest, IsValidAndSaysItsSource) {
  const std::string path = JoinPath(::testing::TempDir(), GetParam() + "_spec.textproto");
  ASSERT_TRUE(WriteFileAtomically(path, "name: '" + GetParam() + "_spec' task: 'fashion_mnist_6_4' method: '" +
                                            GetParam() + "' split: 0 seed: 0 metric { auroc {} }")
                  .ok());
  const absl::StatusOr<Experiment> experiment = LoadExperiment(path, SpecFoldersBelow(Root()));
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  const MethodSpec& method = experiment->methods[0].spec;
  EXPECT_EQ(method.name(), GetParam());
  EXPECT_FALSE(method.title().empty());
  EXPECT_FALSE(method.reference().empty());
  const absl::StatusOr<std::vector<Trial>> trials = Expand(*experiment);
  ASSERT_TRUE(trials.ok()) << trials.status();
  // The key that is put together from shared parts is that of the action as a whole.
  EXPECT_EQ(TrialId((*trials)[0]), MessageDigest(MakeEvaluateAction((*trials)[0])));
}

INSTANTIATE_TEST_SUITE_P(Methods, MethodTest, ::testing::ValuesIn(NamesIn("experiments/methods")),
                         [](const auto& info) { return info.param; });

class PresetTest : public ::testing::TestWithParam<std::string> {};

TEST_P(PresetTest, FitsAMethod) {
  const std::string path = JoinPath(::testing::TempDir(), GetParam() + "_preset.textproto");
  const std::string method = GetParam() == "faithful" ? "thresholded_softmax" : "softmax";
  ASSERT_TRUE(WriteFileAtomically(path, "name: '" + GetParam() + "' task: 'cifar10' method: '" + method + "+" +
                                            GetParam() + "' split: 0 seed: 0 metric { auroc {} }")
                  .ok());
  const absl::StatusOr<Experiment> experiment = LoadExperiment(path, SpecFoldersBelow(Root()));
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  const absl::StatusOr<std::vector<Trial>> trials = Expand(*experiment);
  ASSERT_TRUE(trials.ok()) << trials.status();
  EXPECT_EQ((*trials)[0].method().name(), method + "+" + GetParam());
}

INSTANTIATE_TEST_SUITE_P(Presets, PresetTest, ::testing::ValuesIn(NamesIn("experiments/presets")),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace openset
