#include "experiments/study/study.h"

#include <filesystem>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/proto/record_file.h"
#include "core/testing/failing_disk.h"
#include "core/testing/status_matchers.h"
#include "eval/scores/score.pb.h"
#include "experiments/testing/execute_plan_scene.h"
#include "experiments/testing/spec_sandbox.h"
#include "experiments/testing/study_scene.h"

namespace openset {
namespace {

class KeptSpecTest : public ::testing::Test {
 protected:
  KeptSpecTest() : store_(sandbox_.folder() + "/store") { EXPECT_THAT(store_.Make(), IsOk()); }

  void Write(const std::string& report_name, const std::string& text) const {
    ASSERT_THAT(MakeFolders(store_.ReportFolder(report_name)), IsOk());
    ASSERT_THAT(WriteFileAtomically(store_.ReportFolder(report_name) + "/spec.textproto", text), IsOk());
  }

  const SpecSandbox sandbox_;
  const Store store_;
};

TEST_F(KeptSpecTest, IsTheFileAsWritten) {
  const std::string text = absl::StrCat("# Mine.\n", kMinimalSpec);
  ASSERT_OK_AND_ASSIGN(const Experiment experiment, sandbox_.Load(text));
  ASSERT_THAT(KeepSpec(experiment, store_, experiment.spec.name()), IsOk());
  const KeptSpec kept = *LoadKeptSpec(store_, experiment.spec.name());
  EXPECT_EQ(kept.text, text);
  EXPECT_EQ(kept.spec.method(0), experiment.spec.method(0));
}

TEST_F(KeptSpecTest, HasTheChangesByTheCommandLine) {
  sandbox_.Write("experiments/specs/spec.textproto", kMinimalSpec);
  SpecChanges changes;
  changes.set = {"training.epochs=7"};
  ASSERT_OK_AND_ASSIGN(const Experiment experiment, LoadExperiment("spec", sandbox_.folders(), changes));
  ASSERT_THAT(KeepSpec(experiment, store_, "spec+01234567"), IsOk());
  const KeptSpec kept = *LoadKeptSpec(store_, "spec");
  EXPECT_THAT(kept.text, HasSubstr("epochs: 7"));
  EXPECT_EQ(kept.spec.override().training().epochs(), 7);
}

TEST_F(KeptSpecTest, TheUnchangedOneComesFirstThenTheNewest) {
  EXPECT_EQ(LoadKeptSpec(store_, "spec")->text, "");
  Write("spec+aaaaaaaa", "name: 'a' method: 'mcp'");
  Write("spec+bbbbbbbb", "name: 'b' method: 'mcp'");
  Write("other", "name: 'other' method: 'mcp'");
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(store_.ReportFolder("spec+bbbbbbbb") + "/spec.textproto",
                                   now - std::chrono::hours(1));
  std::filesystem::last_write_time(store_.ReportFolder("spec+aaaaaaaa") + "/spec.textproto", now);
  EXPECT_EQ(LoadKeptSpec(store_, "spec")->spec.name(), "a");
  Write("spec", "name: 'plain' method: 'mcp'");
  EXPECT_EQ(LoadKeptSpec(store_, "spec")->spec.name(), "plain");
}

TEST_F(KeptSpecTest, ShowsOnlySpecsInTheStore) {
  Write("spec", "name: 'spec' nonsense");
  EXPECT_EQ(LoadKeptSpec(store_, "spec")->text, "");
  Write("../outside", "name: 'outside' method: 'mcp'");
  EXPECT_EQ(LoadKeptSpec(store_, "../outside")->text, "");
  for (const std::string& text : {std::string("# Only a comment."), "method: 'mcp' #" + std::string(1 << 20, '#')}) {
    Write("spec", text);
    EXPECT_EQ(LoadKeptSpec(store_, "spec")->text, "");
  }
  ASSERT_THAT(WriteFileAtomically(sandbox_.folder() + "/private", "-----BEGIN PRIVATE KEY-----"), IsOk());
  const std::string path = store_.ReportFolder("spec") + "/spec.textproto";
  std::filesystem::remove(path);
  std::filesystem::create_symlink(sandbox_.folder() + "/private", path);
  EXPECT_THAT(LoadKeptSpec(store_, "spec").status(),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr(path + ": is a link")));
}

class RecordFilterTest : public ::testing::Test {
 protected:
  RecordFilterTest() : store_(sandbox_.folder() + "/store") {}

  // The study of the spec and `more`, with the filter `only`.
  std::unique_ptr<Study> Load(const std::string& more, const std::string& only) {
    sandbox_.Write("experiments/specs/spec.textproto", absl::StrCat(kMinimalSpec, more));
    StudyOptions options;
    options.only = only;
    absl::StatusOr<std::unique_ptr<Study>> study = Study::Load("spec", sandbox_.folders(), store_, options);
    EXPECT_THAT(study, IsOk());
    return *std::move(study);
  }

  // The needed actions and their trials: "infer 0 evaluate 0".
  static std::string Needed(const Study& study) {
    std::string needed;
    for (const Action& action : study.plan().actions) {
      if (action.is_needed()) absl::StrAppend(&needed, KindName(action.kind), " ", action.trials[0], " ");
    }
    return needed;
  }

  void Fail(const std::string& key) {
    FailureRecord failure;
    failure.set_key(key);
    ASSERT_THAT(store_.WriteFailure(failure), IsOk());
  }

  const SpecSandbox sandbox_;
  const Store store_;
};

TEST_F(RecordFilterTest, FailedAreThoseOfAFailedActionAndMissingTheOthers) {
  const std::string two = "method: 'pairs'";
  EXPECT_EQ(Needed(*Load(two, "missing")), Needed(*Load(two, "")));
  EXPECT_EQ(Needed(*Load(two, "failed")), "");
  const Plan plan = Load(two, "")->plan();
  ASSERT_EQ(plan.actions.size(), 6);
  Fail(plan.actions[3].key);
  EXPECT_EQ(Needed(*Load(two, "failed")), "train 1 infer 1 evaluate 1 ");
  EXPECT_EQ(Needed(*Load(two, "missing")), "train 0 infer 0 evaluate 0 ");
  EXPECT_EQ(Needed(*Load(two, "changed")), "");

  // The failed action has succeeded since.
  TrialRecord record;
  record.set_schema_version(kSchemaVersion);
  record.set_trial_id(plan.trial_id(1));
  *record.mutable_trial() = plan.trials[1].Spec();
  record.add_metric()->set_name("accuracy");
  ASSERT_THAT(store_.CommitRecord(record), IsOk());
  EXPECT_EQ(Needed(*Load(two, "failed")), "");
  EXPECT_EQ(Needed(*Load(two, "missing")), "train 0 infer 0 evaluate 0 ");
  EXPECT_EQ(Load(two, "failed")->plan().CountLeft(), 1);
}

// A choice waits for all of its candidates.
TEST_F(RecordFilterTest, AChoiceNeedsAllItsCandidates) {
  sandbox_.Write("data/tasks/task.textproto",
                 "name: 'task' data_set: 'digits' external { data_set: 'digits' class_id: 4 } "
                 "split { known: [0, 1, 2] unknown: 3 }");
  const std::string searched =
      "validation_per_class: 5 override { score { temperature_scaled_softmax {} } } search { method: 'plain' "
      "axis { path: 'score.temperature_scaled_softmax.temperature' value: ['1', '2', '10'] } criterion { aurc {} } }";
  const auto count = [&](const std::string& only, ActionKind kind) {
    return Load(searched, only)->plan().CountNeeded(kind);
  };
  EXPECT_EQ(count("missing", ActionKind::kEvaluate), 1 + 3);
  EXPECT_EQ(count("missing", ActionKind::kChoose), 1);
  Fail(Load(searched, "")->plan().trial_id(1));  // the first candidate
  EXPECT_EQ(count("missing", ActionKind::kEvaluate), 1 + 2);
  EXPECT_EQ(count("missing", ActionKind::kChoose), 0);
  EXPECT_EQ(count("failed", ActionKind::kEvaluate), 1);
  EXPECT_EQ(count("failed", ActionKind::kChoose), 0);
}

TEST_F(RecordFilterTest, ChangedAreThoseThatAreMadeAgain) {
  Plan plan;
  plan.Add({});
  plan.redone.insert(plan.Add({}).id);
  const RecordFilter changed = *MakeRecordFilter("changed", store_);
  EXPECT_FALSE(changed(plan, plan.actions[0]));
  EXPECT_TRUE(changed(plan, plan.actions[1]));
  EXPECT_EQ(*MakeRecordFilter("", store_), nullptr);
  StudyOptions options;
  options.only = "changed";
  options.redo = "all";
  sandbox_.Write("experiments/specs/spec.textproto", kMinimalSpec);
  EXPECT_THAT(Study::Load("spec", sandbox_.folders(), store_, options).status(),
              IsInvalidArgument("--only=changed already implies --redo=changed"));
}

TEST_F(RecordFilterTest, OtherWordsAreRefused) {
  EXPECT_THAT(MakeRecordFilter("faild", store_).status(),
              IsInvalidArgument("--only: unknown word 'faild'; did you mean 'failed'?"));
}

class StudyTest : public StudyScene {
 protected:
  std::vector<std::string> Reported(const Study& study) {
    std::vector<std::string> trials;
    for (const int t : study.ReportedTrials()) trials.push_back(Describe(study.plan().trials[t]));
    return trials;
  }
};

// All candidates were measured, and none has a value to choose by: everything else stays readable.
TEST_F(StudyTest, AFailedChoiceHidesNothingElse) {
  for (const bool halving : {false, true}) {
    std::string spec = kSearched;
    if (halving) {
      spec = R"(
        method: "pairs" validation_per_class: 5 override { training { epochs: 3 } }
        search {
          method: "plain" axis { path: "training.optimizer.learning_rate" value: ["0.1", "0.2", "0.3", "0.4"] }
          criterion { aurc {} } halving { rungs: [1, 3] }
        })";
    }
    const std::unique_ptr<Study> first = *Load(spec);
    Record(*first, 1, 0.5);  // of method pairs
    for (int t = 2; t < 6; ++t) Record(*first, t, std::nullopt);
    EXPECT_THAT(first->Choose(ChoiceOf(*first)), IsFailedPrecondition("aurc is undefined for all candidates"));

    for (const char* redo : {"", "failed"}) {
      const absl::StatusOr<std::unique_ptr<Study>> again = Load(spec, redo);
      ASSERT_TRUE(again.ok()) << again.status();
      EXPECT_EQ((*again)->waiting(), 1);
      if (*redo != '\0') continue;
      EXPECT_THAT((*again)->UndecidedLines(),
                  ElementsAre(AllOf(HasSubstr("the search for plain on task: aurc is undefined"),
                                    HasSubstr("no known samples"))));
      const Report report = (*again)->MakeReport(*(*again)->LoadResults());
      EXPECT_EQ(report.trials, 2);
      EXPECT_EQ(report.missing, 1);
      EXPECT_EQ(report.data_lines.back(), (*again)->UndecidedLines()[0]);
      // A run makes the choice again, and fails again.
      EXPECT_TRUE((*again)->plan()[ChoiceOf(**again)].is_needed());
    }
  }
}

TEST_F(StudyTest, ASearchByAnUndefinedCriterionIsRefusedBeforeItRuns) {
  sandbox_.Write("data/tasks/task.textproto", "name: 'task' data_set: 'digits' split { known: [0, 1, 2] unknown: 3 }");
  const std::string search =
      "validation_per_class: 5 search { method: 'plain' axis { path: 'training.epochs' value: ['1', '2'] } criterion "
      "{ ";
  EXPECT_THAT(Load(search + "auroc {} } }").status(),
              IsInvalidArgument("search[0].criterion: auroc needs unknown samples, and the validation data of task"));
  EXPECT_TRUE(Load(search + "aurc {} } }").ok());
}

TEST_F(StudyTest, GrowsByChoicesOfSearches) {
  const absl::StatusOr<std::unique_ptr<Study>> loaded = Load(kSearched);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  Study& study = **loaded;
  EXPECT_THAT(Reported(study), ElementsAre("plain on task, split 0, seed 0", "pairs on task, split 0, seed 0"));
  EXPECT_EQ(study.waiting(), 1);
  ASSERT_EQ(study.plan().trials.size(), 2 + 4);
  EXPECT_EQ(study.plan().Count(ActionKind::kChoose), 1);
  EXPECT_EQ(study.plan().CountNeeded(ActionKind::kEvaluate), 6);

  // If a candidate is missing, nothing is chosen.
  const ActionId choice = ChoiceOf(study);
  for (const int t : {0, 1, 2, 3, 4}) Record(study, t, t == 4 ? 0.1 : 0.3);
  EXPECT_THAT(study.Choose(choice), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(study.waiting(), 1);

  // The third candidate of the grid wins: temperature 10, one epoch. The tuned trial is new.
  Record(study, 5, 0.2);
  ASSERT_OK_AND_ASSIGN(const std::vector<ActionId> added, study.Choose(choice));
  EXPECT_EQ(study.plan()[added.back()].key, study.plan().trial_id(6));
  EXPECT_EQ(study.waiting(), 0);
  EXPECT_THAT(Reported(study), ElementsAre("plain on task, split 0, seed 0", "plain (tuned) on task, split 0, seed 0",
                                           "pairs on task, split 0, seed 0"));
  EXPECT_EQ(study.plan().trials[6].method().score().temperature_scaled_softmax().temperature(), 10);
  EXPECT_EQ(study.plan().trials[6].method().training().epochs(), 1);
  const Report report = study.MakeReport(*study.LoadResults());
  EXPECT_EQ(report.trials, 3);
  EXPECT_EQ(report.missing, 1);
  EXPECT_EQ(report.waiting, 0);

  // When it is loaded again, the study has the same trials, but no candidates.
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Study> again, Load(kSearched));
  EXPECT_EQ(Reported(*again), Reported(study));
  EXPECT_EQ(again->plan().trials.size(), 3);
  EXPECT_EQ(again->plan().trial_id(1), study.plan().trial_id(6));
}

TEST_F(StudyTest, ChangedDataWithoutChecksumsIsMeasuredAgain) {
  const auto id = [this] {
    sandbox_.Write("experiments/specs/spec.textproto", kMinimalSpec);
    StudyOptions options;
    options.data_folders = {sandbox_.folder()};
    const absl::StatusOr<std::unique_ptr<Study>> study = Study::Load("spec", sandbox_.folders(), store_, options);
    EXPECT_TRUE(study.ok()) << study.status();
    return (*study)->plan().trial_id(0);
  };
  const std::string untold = id();
  for (const char* file : {"train-images", "train-labels", "test-images", "test-labels"}) {
    sandbox_.Write(absl::StrCat("digits/", file), file);
  }
  const std::string told = id();
  EXPECT_NE(told, untold);
  EXPECT_EQ(id(), told);
  sandbox_.Write("digits/test-images", "other-image");  // of the same size
  EXPECT_NE(id(), told);
  sandbox_.Write("digits/test-images", "test-images");
  EXPECT_EQ(id(), told);

  // If the files are missing, assumes that they are the last run's.
  StudyOptions options;
  options.data_folders = {sandbox_.folder()};
  ASSERT_TRUE((*Study::Load("spec", sandbox_.folders(), store_, options))->RecordContents().ok());
  std::filesystem::remove_all(sandbox_.folder() + "/digits");
  EXPECT_EQ(id(), told);
}

// Two trials of methods plain and pairs with all results. The record of plain was made by another version of
// max_softmax.
class RedoTest : public StudyTest {
 protected:
  RedoTest() {
    const absl::StatusOr<std::unique_ptr<Study>> study = LoadToRedo("");
    EXPECT_TRUE(study.ok()) << study.status();
    for (const Action& action : (*study)->plan().actions) {
      if (action.kind == ActionKind::kTrain) {
        TrainSummary summary;
        summary.mutable_action();
        summary.mutable_provenance()->set_stage(StageProvenance::TRAIN);
        summary.mutable_provenance()->set_key(action.key);
        summary.set_checkpoint_sha256(Sha256Hex("whole"));
        Leave(store_.CheckpointFolder(action.key), kCheckpointFile, summary);
      }
      if (action.kind == ActionKind::kInfer) {
        InferSummary summary;
        summary.mutable_action();
        summary.mutable_provenance()->set_stage(StageProvenance::INFER);
        summary.mutable_provenance()->set_key(action.key);
        summary.set_outputs_sha256(Sha256Hex("whole"));
        Leave(store_.OutputsFolder(action.key), kOutputsFile, summary);
      }
      if (action.kind != ActionKind::kEvaluate) continue;
      TrialRecord record;
      record.set_schema_version(kSchemaVersion);
      record.set_trial_id(action.key);
      record.mutable_trial();
      record.add_metric()->set_name("accuracy");
      StageProvenance* stage = record.mutable_provenance()->add_stage();
      stage->set_stage(StageProvenance::EVALUATE);
      stage->set_key(action.key);
      ComponentProvenance* score = stage->add_component();
      score->set_family("ScoreSpec");
      score->set_name("max_softmax");
      score->set_fingerprint("old");
      if (action.trials[0] == 1) stage->clear_component();
      EXPECT_TRUE(store_.CommitRecord(record).ok());
    }
  }

  template <typename Summary>
  void Leave(const std::string& folder, const char* file, Summary summary) {
    summary.set_schema_version(kSchemaVersion);
    EXPECT_TRUE(MakeFolders(folder).ok());
    EXPECT_TRUE(WriteFileAtomically(JoinPath(folder, file), "whole").ok());
    EXPECT_TRUE(WriteFileAtomically(JoinPath(folder, kSummaryFile), EncodeRecord(summary)).ok());
  }

  absl::StatusOr<std::unique_ptr<Study>> LoadToRedo(const std::string& redo) { return Load("method: 'pairs'", redo); }

  // The needed actions and their trials after the results to redo were removed: "train 0 infer 0 evaluate 0".
  std::string NeededOf(const std::string& redo) {
    const absl::StatusOr<std::unique_ptr<Study>> study = LoadToRedo(redo);
    EXPECT_TRUE(study.ok()) << study.status();
    EXPECT_TRUE((*study)->RemoveRedone().ok());
    std::string needed;
    for (const Action& action : (*study)->plan().actions) {
      EXPECT_EQ(action.is_needed(), (*study)->plan().redone.count(action.id) > 0);
      EXPECT_EQ(action.is_needed(), !*store_.HasCheckpoint(action.key) && !*store_.HasOutputs(action.key) &&
                                        !*store_.HasRecord(action.key));
      if (action.is_needed()) absl::StrAppend(&needed, KindName(action.kind), " ", action.trials[0], " ");
    }
    return needed;
  }
};

TEST_F(RedoTest, NothingUnlessAsked) { EXPECT_EQ(NeededOf(""), ""); }

TEST_F(RedoTest, All) { EXPECT_EQ(NeededOf("all"), "train 0 infer 0 evaluate 0 train 1 infer 1 evaluate 1 "); }

TEST_F(RedoTest, AMethod) { EXPECT_EQ(NeededOf("pairs"), "train 1 infer 1 evaluate 1 "); }

TEST_F(RedoTest, AMethodAsPeopleCallIt) { EXPECT_EQ(NeededOf("Pairs"), "train 1 infer 1 evaluate 1 "); }

TEST_F(RedoTest, ResultsOfOtherSourcesAreMadeAgain) {
  const std::string line =
      "1 result was made by another version of eval/scores/max_softmax; --redo=changed makes it again";
  EXPECT_THAT((*LoadToRedo(""))->SourceLines(), ElementsAre(line));
  const std::unique_ptr<Study> study = *LoadToRedo("");
  EXPECT_THAT(study->MakeReport(*study->LoadResults()).note_lines, ElementsAre(line));
  EXPECT_THAT((*LoadToRedo("changed"))->SourceLines(), IsEmpty());  // it is to be made again
  EXPECT_EQ(NeededOf("changed"), "evaluate 0 ");
  EXPECT_THAT((*LoadToRedo(""))->SourceLines(), IsEmpty());
}

// --only=changed makes the record although it is corrupt, so that it doesn't say how its training was made.
TEST_F(RedoTest, ACorruptRecordOfAChangedTrainingIsMadeAgain) {
  const Plan whole = (*LoadToRedo(""))->plan();
  const std::string folder = store_.CheckpointFolder(whole.actions[0].key);
  TrainSummary summary = *store_.LoadTrainSummary(whole.actions[0].key);
  ComponentProvenance* loss = summary.mutable_provenance()->add_component();
  loss->set_family("LossTermSpec");
  loss->set_name("cross_entropy");
  loss->set_fingerprint("old");
  Leave(folder, kCheckpointFile, summary);
  ASSERT_THAT(WriteFileAtomically(store_.RecordPath(whole.trial_id(0)), "damaged"), IsOk());
  EXPECT_THAT((*LoadToRedo(""))->SourceLines(), ElementsAre(HasSubstr("another version of losses/cross_entropy;")));
  StudyOptions options;
  options.only = "changed";
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Study> study, Study::Load("spec", sandbox_.folders(), store_, options));
  EXPECT_THAT(study->Damaged(), ElementsAre(HasSubstr("not a record file")));
  for (const ActionKind kind : {ActionKind::kTrain, ActionKind::kInfer, ActionKind::kEvaluate}) {
    EXPECT_EQ(study->plan().CountNeeded(kind), 1) << KindName(kind);
  }
}

TEST_F(RedoTest, FailedTrainingsStartOver) {
  const std::string key = (*LoadToRedo(""))->plan().actions[0].key;
  ASSERT_TRUE(store_.Remove(store_.CheckpointFolder(key)).ok());
  ASSERT_TRUE(store_.Remove(store_.RecordPath((*LoadToRedo(""))->plan().trial_id(0))).ok());
  ASSERT_TRUE(store_.Remove(store_.OutputsFolder((*LoadToRedo(""))->plan().actions[1].key)).ok());
  ASSERT_TRUE(MakeFolders(JoinPath(store_.folder(), "partial")).ok());
  ASSERT_TRUE(WriteFileAtomically(store_.PartialPath(key), "an epoch").ok());
  ASSERT_TRUE((*LoadToRedo("failed"))->RemoveRedone().ok());
  EXPECT_TRUE(FileExists(store_.PartialPath(key)));  // it did not fail
  FailureRecord failure;
  failure.set_key(key);
  ASSERT_TRUE(store_.WriteFailure(failure).ok());
  ASSERT_TRUE((*LoadToRedo("failed"))->RemoveRedone().ok());
  EXPECT_FALSE(FileExists(store_.PartialPath(key)));
}

TEST_F(RedoTest, OtherWordsAreMethodsOfTheStudy) {
  EXPECT_THAT(LoadToRedo("pears"), IsInvalidArgument("--redo: unknown method 'pears'; did you mean 'pairs'?"));
}

using DamageTest = RedoTest;

TEST_F(DamageTest, NeededResultsAreCheckedAndQuarantined) {
  absl::StatusOr<std::unique_ptr<Study>> study = LoadToRedo("");
  ASSERT_TRUE(study.ok());
  EXPECT_THAT((*study)->Damaged(), IsEmpty());
  // Action 0 trains plain, 1 infers, 2 evaluates. Nothing needs its checkpoint and its outputs while its record is
  // intact.
  const Plan whole = (*study)->plan();
  const auto damage = [](const std::string& path) { EXPECT_TRUE(WriteFileAtomically(path, "damaged").ok()); };
  damage(JoinPath(store_.CheckpointFolder(whole.actions[0].key), kCheckpointFile));
  damage(JoinPath(store_.OutputsFolder(whole.actions[1].key), kOutputsFile));
  EXPECT_THAT((*LoadToRedo(""))->Damaged(), IsEmpty());

  damage(store_.RecordPath(whole.actions[2].key));
  study = LoadToRedo("");
  ASSERT_TRUE(study.ok()) << study.status();
  EXPECT_THAT((*study)->Damaged(),
              ElementsAre(HasSubstr("checkpoint.safetensors: does not match its checksum"),
                          HasSubstr("outputs.npz: does not match its checksum"), HasSubstr("not a record file")));
  EXPECT_EQ((*study)->plan().CountNeeded(ActionKind::kTrain), 1);
  EXPECT_EQ((*study)->plan().CountNeeded(ActionKind::kEvaluate), 1);
  // The report uses the other record.
  const std::unique_ptr<StudyResults> results = (*study)->LoadResults();
  EXPECT_EQ(absl::c_count_if(results->results, [](const TrialResult& result) { return result.record != nullptr; }), 1);
  EXPECT_THAT(results->unread.damaged, ElementsAre(HasSubstr("not a record file")));
  EXPECT_THAT((*study)->MakeReport(*results).note_lines, Contains(HasSubstr("1 record is corrupt and left out")));

  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> aside, (*study)->QuarantineDamaged());
  EXPECT_EQ(aside.size(), 3);
  EXPECT_THAT((*study)->Damaged(), IsEmpty());
  EXPECT_EQ(store_.Quarantined()->size(), 3);
  EXPECT_FALSE(*store_.HasRecord(whole.actions[2].key));
  EXPECT_FALSE(*store_.HasCheckpoint(whole.actions[0].key));
}

// This data has no checksums and isn't there, so that records say what it was. While one can't be read, the study can't
// be loaded, and nothing is moved.
TEST_F(DamageTest, WhatCantBeReadStays) {
  const std::string path = store_.RecordPath((*LoadToRedo(""))->plan().trial_id(0));
  for (const char* error : {"EACCES", "EMFILE", "ENFILE", "ENOMEM", "EIO", "ESTALE"}) {
    for (const char* calls : {"open", "read"}) {
      SCOPED_TRACE(absl::StrCat(error, " ", calls));
      const FailingDisk failing(path, error, calls);
      EXPECT_THAT(LoadToRedo(""), IsUnavailable(path));
    }
  }
  EXPECT_FALSE(FileExists(store_.folder() + "/quarantine"));
  EXPECT_THAT((*LoadToRedo(""))->Unreadable(), IsEmpty());
  const FailingDisk failing(store_.folder() + "/attempts", "EACCES", "open");
  EXPECT_FALSE(MakeRecordFilter("failed", store_).ok());
}

TEST_F(DamageTest, ARunQuarantinesCorruptResultsAndMakesThemAgain) {
  const std::string key = (*LoadToRedo(""))->plan().trial_id(0);
  ASSERT_TRUE(WriteFileAtomically(store_.RecordPath(key), "damaged").ok());
  LeaseOptions theirs;
  theirs.run_id = "theirs.00000000.2.2";
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Leases> other, Leases::Begin(store_, theirs));
  RunState state;
  state.set_experiment("spec");
  ASSERT_THAT(other->Renew(state), IsOk());
  const std::unique_ptr<Study> study = *LoadToRedo("");
  FakeEngine engine;
  engine.on_end = [&](const std::string& made) {
    EXPECT_EQ(made, key);
    Record(*study, 0, 0.5);
  };
  Observer observer;
  ASSERT_THAT(study->Run({}, &engine, &observer), IsOk());
  EXPECT_THAT(observer.quarantined, ElementsAre(HasSubstr("not a record file")));
  EXPECT_THAT(observer.others, ElementsAre(theirs.run_id));
  ASSERT_EQ(engine.started.size(), 1);
  EXPECT_TRUE(engine.started[0].action().has_evaluate());
  EXPECT_EQ(store_.Quarantined()->size(), 1);
  EXPECT_TRUE(FileExists(JoinPath(store_.ReportFolder(study->report_name()), "spec")));
  // No action is left, and the run's own claims are gone.
  EXPECT_EQ((*LoadToRedo(""))->plan().CountNeeded(ActionKind::kEvaluate), 0);
  EXPECT_EQ(RunsOf(store_).size(), 1);
}

TEST_F(StudyTest, ARecordOfAnotherSchemaVersionIsLeftOutAndMadeAgain) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Study> before, Load("seed: 1"));
  Record(*before, 0, 0.5);
  TrialRecord newer = store_.LoadRecord(before->plan().trial_id(0)).value();
  newer.set_trial_id(before->plan().trial_id(1));
  newer.set_schema_version(kSchemaVersion + 1);
  ASSERT_TRUE(store_.CommitRecord(newer).ok());
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Study> study, Load("seed: 1"));
  EXPECT_THAT(study->Damaged(), ElementsAre(HasSubstr("is of schema version 4")));
  EXPECT_EQ(study->plan().CountNeeded(ActionKind::kEvaluate), 1);
  const std::unique_ptr<StudyResults> results = study->LoadResults();
  EXPECT_NE(results->results[0].record, nullptr);
  EXPECT_EQ(results->results[1].record, nullptr);
  EXPECT_THAT(study->MakeReport(*results).note_lines, Contains(HasSubstr("1 record is of schema version 4")));
}

TEST_F(StudyTest, NamesTheFilesThatAreMissing) {
  const absl::StatusOr<std::unique_ptr<Study>> study = Load("");
  ASSERT_TRUE(study.ok()) << study.status();
  FakeEngine engine;
  EngineObserver observer;
  EXPECT_THAT((*study)->Run({}, &engine, &observer), IsNotFound("digits/test-images"));
  EXPECT_FALSE(FileExists(store_.folder())) << "something was written";
  // A complete study needs no data files.
  Record(**study, 0, 0.5);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Study> done, Load(""));
  EXPECT_THAT(done->Run({}, &engine, &observer), IsOk());
}

TEST_F(StudyTest, ErrorsAreThoseOfTheSpec) {
  EXPECT_THAT(Load("method: 'plan'"), IsInvalidArgument("method[1]: unknown method 'plan'; did you mean 'plain'?"));
}

// Searches of a study whose results are made again (StudyOptions.redo).

// Three candidates, after 1 and 3 epochs: all three, two of them.
constexpr char kHalved[] = R"(
validation_per_class: 5
override { training { epochs: 3 } }
search {
  method: "plain"
  axis { path: "training.optimizer.learning_rate" value: ["0.1", "0.2", "0.3"] }
  criterion { aurc {} }
  halving { rungs: [1, 3] keep: 0.5 }
}
)";

class RedoSearchTest : public StudyScene {
 protected:
  // Runs a new study of kHalved up to the tuned trial, without its record.
  std::unique_ptr<Study> Halved() {
    std::unique_ptr<Study> study = *Load(kHalved);
    Record(*study, 0, 0.5);
    for (int t = 1; t < 4; ++t) Record(*study, t, 0.1 * t);
    EXPECT_THAT(study->Choose(ChoiceOf(*study)), IsOk());  // trials 4 and 5: the first two candidates, to the end
    for (int t = 4; t < 6; ++t) Record(*study, t, 0.1 * t);
    EXPECT_THAT(study->Choose(study->plan().actions.back().id), IsOk());
    EXPECT_EQ(study->waiting(), 0);
    return study;
  }
};

// The candidates of a search are made again, and so are the choice and the trial that it adds.
TEST_F(RedoSearchTest, MakesCandidatesAndChoicesAgain) {
  const std::unique_ptr<Study> first = *Load(kSearched);
  for (int t = 2; t < 6; ++t) Record(*first, t, 0.1 * t);
  ASSERT_TRUE(first->Choose(ChoiceOf(*first)).ok());
  Record(*first, 6, 0.5);  // the tuned trial

  const std::unique_ptr<Study> all = *Load(kSearched, "all");
  EXPECT_EQ(all->waiting(), 1);
  EXPECT_EQ(all->plan().CountNeeded(ActionKind::kEvaluate), 6);
  ASSERT_TRUE(all->RemoveRedone().ok());
  EXPECT_FALSE(*store_.HasRecord(first->plan().trial_id(2)));
  EXPECT_TRUE(*store_.HasRecord(first->plan().trial_id(6)));  // the tuned trial is not in the plan yet
  for (int t = 2; t < 6; ++t) Record(*all, t, 0.1 * t);
  ASSERT_OK_AND_ASSIGN(const std::vector<ActionId> added, all->Choose(ChoiceOf(*all)));
  EXPECT_EQ(all->plan()[added.back()].key, first->plan().trial_id(6));
  EXPECT_FALSE(*store_.HasRecord(first->plan().trial_id(6)));
}

// Nothing has changed: each rung's choice is made at once, and the tuned trial is part of the study.
TEST_F(RedoSearchTest, KeepsAllRungsIfNothingChanged) {
  const std::unique_ptr<Study> first = Halved();
  const int tuned = first->ReportedTrials().back();
  const std::string id = first->plan().trial_id(tuned);
  Record(*first, tuned, 0.4);
  for (const char* redo : {"changed", "failed"}) {
    const std::unique_ptr<Study> again = *Load(kHalved, redo);
    EXPECT_EQ(again->waiting(), 0) << redo;
    EXPECT_EQ(again->ReportedTrials().size(), 2) << redo;
    EXPECT_EQ(again->plan().trial_id(again->ReportedTrials().back()), id) << redo;
    EXPECT_EQ(again->plan().CountNeeded(ActionKind::kEvaluate), 0) << redo;
  }
}

// A corrupt record leaves its choice open, as it does without redo.
TEST_F(RedoSearchTest, MakesACorruptCandidateAgain) {
  const std::unique_ptr<Study> first = Halved();
  for (const int t : {2, 4}) {  // of the first rung, and of the last
    const std::string path = first->store().RecordPath(first->plan().trial_id(t));
    const std::string whole = *ReadFile(path);
    ASSERT_THAT(WriteFileAtomically(path, "cut short"), IsOk());
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Study> again, Load(kHalved, "failed"));
    EXPECT_EQ(again->waiting(), 1);
    EXPECT_THAT(again->Damaged(), ElementsAre(HasSubstr("not a record file")));
    EXPECT_EQ(again->plan().CountNeeded(ActionKind::kEvaluate), 1);
    ASSERT_THAT(WriteFileAtomically(path, whole), IsOk());
  }
}

}  // namespace
}  // namespace openset
