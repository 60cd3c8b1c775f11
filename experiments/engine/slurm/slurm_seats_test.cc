// Launchers and pilots on different seats, working on one plan.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "experiments/engine/slurm/slurm_pilots.h"
#include "experiments/testing/fake_slurm_scene.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Jobs stay pending: a process of the test acts as the pilot.
class SlurmSeatsTest : public FakeSlurm {
 protected:
  SlurmSeatsTest() {
    Set("hold", 1);
    execute_.look = absl::Milliseconds(1);
    engine_.capacity_of.gpus = {0};
    engine_.on_end = [this](const std::string& key) { Make(key); };
  }

  Plan GpuPlan(const std::string& more) {
    plan_ = PlanInSandbox(sandbox_, store_, "execution { device: CUDA device_kind: 'x' } " + more);
    return plan_;
  }

  // The result that the engine's worker stores.
  void Make(const std::string& key) const {
    const auto action = std::find_if(plan_.actions.begin(), plan_.actions.end(),
                                     [&key](const Action& candidate) { return candidate.key == key; });
    ASSERT_NE(action, plan_.actions.end());
    const std::string path = StageOf(*action).ResultPath(store_, key);
    if (action->kind == ActionKind::kEvaluate) {
      ASSERT_TRUE(MakeFolders(path.substr(0, path.rfind('/'))).ok());
      std::ofstream(path) << "";
    } else {
      ASSERT_TRUE(MakeFolders(path).ok());
    }
  }

  // Runs a pilot on a seat of this kind, for the launch in its array's file.
  absl::Status Fly(const Plan& plan, bool gpu) {
    const std::vector<SubmittedArray> arrays = ArraysInStore(store_, "spec");
    EXPECT_FALSE(arrays.empty());
    const absl::StatusOr<PilotOptions> options = OptionsOfPilot(store_, arrays[0].array, options_);
    EXPECT_TRUE(options.ok()) << options.status();
    ExecuteOptions execute = execute_;
    BePilot(plan, SeatFor(plan, gpu, {}, {}), *options, absl::Milliseconds(50), &execute);
    SlurmClient client;
    SlurmPilots pilots(plan, store_, client, *options, /*observer=*/nullptr);
    execute.helpers = &pilots;
    const auto leases = Leases::Begin(store_);
    execute.leases = leases->get();
    return ExecutePlan(plan, NoChoice, store_, execute, &engine_, &observer_);
  }

  std::vector<std::string> Kinds() const {
    std::vector<std::string> kinds;
    for (const WorkRequest& request : engine_.started) {
      kinds.push_back(request.has_train() ? "train" : request.has_infer() ? "infer" : "evaluate");
    }
    return kinds;
  }

  void Launch() {
    Detach();
    ASSERT_TRUE(Run(GpuPlan("seed: [0, 1]")).ok());
    Watch();
    ASSERT_THAT(Submitted(), SizeIs(1));
  }

  Plan plan_;
};

TEST_F(SlurmSeatsTest, SubmitsOnlyPilotsForOpenWork) {
  Launch();  // the evaluations wait for the trainings
  EXPECT_THAT(Submitted()[0], HasSubstr("--gres=gpu:1"));
  EXPECT_THAT(Submitted()[0], HasSubstr("--cpus-per-task=4"));
  EXPECT_THAT(Submitted()[0], HasSubstr("--array=0-1 "));
  EXPECT_EQ(ArraysInStore(store_, "spec")[0].array.description(), "pilots, 1 GPU, 4 CPUs");
}

TEST_F(SlurmSeatsTest, AGpuPilotDoesUnclaimedCpuActionsBeforeItEnds) {
  Launch();
  EXPECT_TRUE(Fly(plan_, /*gpu=*/true).ok());
  EXPECT_THAT(Kinds(), ElementsAre("train", "infer", "train", "infer", "evaluate", "evaluate"));
  EXPECT_THAT(Submitted(), SizeIs(1));
}

TEST_F(SlurmSeatsTest, ACpuPilotSubmitsGpuPilotsAndEnds) {
  Launch();
  std::filesystem::remove_all(fake_ + "/queue");  // these pilots have ended
  std::filesystem::create_directories(fake_ + "/queue");
  EXPECT_TRUE(Fly(plan_, /*gpu=*/false).ok());
  EXPECT_THAT(Kinds(), IsEmpty());
  ASSERT_THAT(Submitted(), SizeIs(2));
  EXPECT_THAT(Submitted()[1], HasSubstr("--gres=gpu:1"));
  EXPECT_TRUE(Fly(plan_, /*gpu=*/false).ok());  // the next pilot finds them in the queue
  EXPECT_THAT(Submitted(), SizeIs(2));
}

TEST_F(SlurmSeatsTest, ACpuPilotDoesRemainingCpuActions) {
  Launch();
  for (const Action& action : plan_.actions) {
    if (action.kind != ActionKind::kEvaluate) Make(action.key);
  }
  EXPECT_TRUE(Fly(GpuPlan("seed: [0, 1]"), /*gpu=*/false).ok());
  EXPECT_THAT(Kinds(), ElementsAre("evaluate", "evaluate"));
  EXPECT_THAT(Submitted(), SizeIs(1));
}

TEST_F(SlurmSeatsTest, FailuresSinceTheLaunchAreNotRetried) {
  Launch();
  FailureRecord failure;
  failure.set_schema_version(kSchemaVersion);
  failure.set_key(plan_.actions[0].key);
  failure.set_code(static_cast<int>(absl::StatusCode::kAborted));
  failure.set_message("it diverged");
  ASSERT_TRUE(store_.WriteFailure(failure).ok());
  EXPECT_EQ(Fly(plan_, /*gpu=*/true), absl::AbortedError("1 action failed"));
  EXPECT_THAT(Kinds(), ElementsAre("train", "infer", "evaluate"));
  EXPECT_EQ(*store_.CountFailures(plan_.actions[0].key), 1);
}

TEST_F(SlurmSeatsTest, FailuresBeforeTheLaunchAreRetried) {
  FailureRecord failure;
  failure.set_schema_version(kSchemaVersion);
  failure.set_key(GpuPlan("seed: [0, 1]").actions[0].key);
  failure.set_message("it diverged");
  ASSERT_TRUE(store_.WriteFailure(failure).ok());
  Launch();
  EXPECT_TRUE(Fly(plan_, /*gpu=*/true).ok());
  EXPECT_THAT(Kinds(), SizeIs(6));
}

// A pilot's command, without the arguments that TaskScript() appended, is the command of the pilots that it submits.
TEST_F(SlurmSeatsTest, PilotsSubmittedByPilotsHaveTheOriginalCommand) {
  Launch();
  const SlurmArray array = ArraysInStore(store_, "spec")[0].array;
  options_.submit.command = {"program", "run", "a spec"};
  std::vector<std::string> words = {"program", "run", "a spec"};
  const std::string script = TaskScript(options_.submit, array.seat(), "/array.rec");
  const std::vector<std::string> quoted = absl::StrSplit(script.substr(script.find("exec ")), "' '");
  ASSERT_EQ(quoted.size(), words.size() + kPilotFlags);
  words.insert(words.end(), quoted.begin() + 3, quoted.end());
  options_.submit.command = words;
  const absl::StatusOr<PilotOptions> options = OptionsOfPilot(store_, array, options_);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_THAT(options->submit.command, ElementsAre("program", "run", "a spec"));
  EXPECT_EQ(options->submit.launch, array.launch());
}

}  // namespace
}  // namespace openset
