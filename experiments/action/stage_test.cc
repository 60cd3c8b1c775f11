#include "experiments/action/stage.h"

#include <filesystem>
#include <iterator>

#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "experiments/spec/open_set.pb.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

// An ensemble of two members, each fine-tuned, with a fitted score, on two CPU threads.
Trial TwoMembers() {
  TrialSpec trial;
  trial.mutable_method()->mutable_training()->set_epochs(1);
  trial.mutable_method()->mutable_inference()->mutable_ensemble()->set_members(2);
  trial.mutable_execution()->set_threads(2);
  return trial;
}

TEST(Stage, NeedsASeatAndMemoryByItsKind) {
  ActionMemory memory;
  memory.set_train_mb(300);
  memory.set_infer_mb(200);
  memory.set_evaluate_mb(100);
  TrialSpec on_gpu = TwoMembers().Spec();
  on_gpu.mutable_execution()->set_device(ExecutionSpec::CUDA);
  const int threads[] = {2, 2, 1, 0}, threads_with_gpu[] = {0, 0, 1, 0}, shares[] = {1, 1, 0, 0};
  const int megabytes[] = {300, 200, 100, 0};
  ASSERT_EQ(std::size(threads), std::size(kActionKinds));
  for (size_t k = 0; k < std::size(kActionKinds); ++k) {
    const Demand cpu = StageOf(kActionKinds[k]).Needs(TwoMembers(), memory),
                 gpu = StageOf(kActionKinds[k]).Needs(on_gpu, memory);
    EXPECT_EQ(cpu.cpu_threads, threads[k]);
    EXPECT_EQ(cpu.gpu_shares, 0);
    EXPECT_EQ(cpu.memory_mb, megabytes[k]);
    EXPECT_EQ(gpu.cpu_threads, threads_with_gpu[k]);
    EXPECT_EQ(gpu.gpu_shares, shares[k]);
    EXPECT_EQ(gpu.memory_mb, megabytes[k]);
  }
  // The bits of a training depend on its number of threads; so do the bits of an inference with several threads.
  EXPECT_FALSE(StageOf(ActionKind::kTrain).CanUseMoreCpus(1));
  EXPECT_TRUE(StageOf(ActionKind::kInfer).CanUseMoreCpus(1));
  EXPECT_FALSE(StageOf(ActionKind::kInfer).CanUseMoreCpus(2));
  EXPECT_TRUE(StageOf(ActionKind::kEvaluate).CanUseMoreCpus(2));
}

// The parts of data sets that an action of the trial reads.
std::set<std::string> Reads(const TrialSpec& spec, ActionKind kind, ActionRole role = ActionRole::kMain) {
  Action action;
  action.kind = kind;
  action.role = role;
  const Trial trial = spec;
  ActionReads reads;
  StageOf(kind).AddReads(action, trial, &reads);
  std::set<std::string> parts;
  for (const Selection* selection : reads.selections) parts.insert(selection->part());
  return parts;
}

TEST(Stage, WhatActionsRead) {
  TrialSpec trial = TwoMembers().Spec();
  trial.mutable_data()->mutable_train()->set_part("train");
  trial.mutable_data()->mutable_test_known()->set_part("known");
  trial.mutable_data()->add_test_unknown()->mutable_selection()->set_part("unknown");
  trial.mutable_data()->add_test_shifted()->mutable_selection()->set_part("shifted");
  trial.mutable_data()->mutable_external()->set_part("external");
  trial.mutable_data()->mutable_validation_known()->set_part("validation");
  trial.mutable_data()->add_validation_unknown()->mutable_selection()->set_part("other");
  EXPECT_THAT(Reads(trial, ActionKind::kTrain), ElementsAre("train"));
  EXPECT_THAT(Reads(trial, ActionKind::kTrain, ActionRole::kImport), IsEmpty());
  EXPECT_THAT(Reads(trial, ActionKind::kInfer), ElementsAre("known", "shifted", "unknown"));
  EXPECT_THAT(Reads(trial, ActionKind::kInfer, ActionRole::kFit), ElementsAre("train"));
  EXPECT_THAT(Reads(trial, ActionKind::kEvaluate), IsEmpty());

  trial.mutable_method()->mutable_open_set()->mutable_external_images();
  EXPECT_THAT(Reads(trial, ActionKind::kTrain), ElementsAre("external", "train"));
  EXPECT_THAT(Reads(trial, ActionKind::kTrain, ActionRole::kPretraining), ElementsAre("train"));
  trial.mutable_method()->mutable_training()->mutable_evaluate_every()->set_epochs(1);
  EXPECT_THAT(Reads(trial, ActionKind::kTrain), ElementsAre("external", "other", "train", "validation"));
  trial.mutable_method()->mutable_training()->mutable_evaluate_every()->set_samples(EvaluateEverySpec::TEST);
  EXPECT_THAT(Reads(trial, ActionKind::kTrain), ElementsAre("external", "known", "train", "unknown"));
  trial.mutable_method()->mutable_inference()->mutable_train_mode_pass();
  EXPECT_THAT(Reads(trial, ActionKind::kInfer), ElementsAre("known", "shifted", "train", "unknown"));
}

// For each kind with a result: it is found, refused if corrupt, moved to quarantine, and removed with a saved state.
TEST(Stage, AResultIsFoundCheckedAndTakenOutAgain) {
  const Store store(JoinPath(testing::TempDir(), "stage_store"));
  std::filesystem::remove_all(store.folder());
  const std::string key(64, 'a');
  for (const ActionKind kind : kActionKinds) {
    SCOPED_TRACE(KindName(kind));
    const Stage& stage = StageOf(kind);
    if (stage.ResultPath(store, key).empty()) continue;
    EXPECT_FALSE(*stage.IsInStore(store, key));
    EXPECT_TRUE(absl::IsNotFound(stage.Check(store, key)));
    // A folder without files is not a result of any kind.
    std::filesystem::create_directories(stage.ResultPath(store, key));
    EXPECT_TRUE(*stage.IsInStore(store, key));
    EXPECT_TRUE(absl::IsDataLoss(stage.Check(store, key)));
    EXPECT_FALSE(stage.LoadProvenance(store, key).ok());
    ASSERT_OK_AND_ASSIGN(const std::string aside, stage.Quarantine(store, key, "it is empty"));
    EXPECT_EQ(ReadFile(JoinPath(aside, "reason")).value(), "it is empty\n");
    EXPECT_FALSE(*stage.IsInStore(store, key));

    std::filesystem::create_directories(stage.ResultPath(store, key));
    std::filesystem::create_directories(store.PartialPath(key));
    ASSERT_THAT(stage.Remove(store, key), IsOk());
    EXPECT_FALSE(*stage.IsInStore(store, key));
    EXPECT_EQ(FileExists(store.PartialPath(key)), !stage.SavesState());
  }
  EXPECT_EQ(store.Quarantined()->size(), 3);
}

TEST(Stage, AChoiceHasNoResult) {
  const Stage& choose = StageOf(ActionKind::kChoose);
  const Store store("/nowhere");
  EXPECT_FALSE(*choose.IsInStore(store, "ab"));
  EXPECT_THAT(choose.Remove(store, "ab"), IsOk());
}

TEST(Stage, WordsOfEqualWidth) {
  EXPECT_STREQ(StageOf(ActionKind::kTrain).Verb(ActionRole::kImport), "import");
  for (const ActionKind kind : kActionKinds) {
    EXPECT_EQ(std::string(StageOf(kind).PastTense(ActionRole::kMain)).size(), 9);
    EXPECT_EQ(std::string(StageOf(kind).PastTense(ActionRole::kImport)).size(), 9);
  }
}

TEST(MemoryLimits, OneKindIsEnoughToBeSet) {
  ActionMemory memory;
  EXPECT_FALSE(IsAnySet(memory));
  memory.set_evaluate_mb(0);
  EXPECT_FALSE(IsAnySet(memory));
  memory.set_evaluate_mb(1);
  EXPECT_TRUE(IsAnySet(memory));
}

TEST(MemoryLimits, TheOthersGetTheDefault) {
  ActionMemory memory;
  memory.set_infer_mb(7);
  FillMemory(500, &memory);
  EXPECT_EQ(memory.train_mb(), 500);
  EXPECT_EQ(memory.infer_mb(), 7);
  EXPECT_EQ(memory.evaluate_mb(), 500);
}

}  // namespace
}  // namespace openset
