#include "tools/cli/run/study_cost.h"

#include <cstdlib>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/task.pb.h"
#include "experiments/spec/method.pb.h"
#include "models/model.pb.h"

namespace openset {
namespace {

// See experiments/testing/fake_worker.cc: it reports 100 images per second at once, except for these seeds.
constexpr int kErrorSeed = 103;
constexpr int kHangSeed = 104;
constexpr int kCrashSeed = 101;
constexpr int kCpusSeed = 121;

class ProbeRateTest : public ::testing::Test {
 protected:
  ProbeRateTest() : folder_(absl::StrCat(testing::TempDir(), "/probe")) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    setenv("TMPDIR", folder_.c_str(), 1);
    options_.trainer = {*RunfilesFolder() + "/openset/experiments/testing/fake_worker"};
    options_.capacity.cpu_threads = 2;
  }

  absl::StatusOr<double> Rate(int seed, int at_once, absl::Duration limit = absl::Minutes(1), int gpu = -1) {
    TrainAction action;
    action.set_seed(seed);
    return ProbeRate(action, at_once, gpu, options_, limit);
  }

  std::string folder_;
  LocalEngineOptions options_;
};

TEST_F(ProbeRateTest, IsTheSmallestRateOfTheWorkers) {
  EXPECT_THAT(Rate(0, 1), IsOkAndHolds(100));
  EXPECT_THAT(Rate(0, 2), IsOkAndHolds(100));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

// A worker that is pinned to the CPUs of its threads would have one, which its launches and its batches would share.
TEST_F(ProbeRateTest, OnAGpuItHasAllCpus) {
  EXPECT_THAT(Rate(kCpusSeed, 1, absl::Minutes(1), /*gpu=*/-1), IsOkAndHolds(1001));
  EXPECT_THAT(Rate(kCpusSeed, 1, absl::Minutes(1), /*gpu=*/0), IsOkAndHolds(1000));
}

// Predictable names would let others plant links to files elsewhere.
TEST_F(ProbeRateTest, DoesNotWriteThroughLinksOfOthers) {
  const std::string target = absl::StrCat(testing::TempDir(), "/target");
  std::filesystem::create_directories(target);
  const std::string guess = TemporaryName(JoinPath(folder_, "openset-probe"));
  const size_t dot = guess.rfind('.');
  for (int n = 0; n < 50; ++n) {
    std::filesystem::create_directory_symlink(target, absl::StrCat(guess.substr(0, dot + 1), n));
  }
  EXPECT_THAT(Rate(0, 1), IsOkAndHolds(100));
  EXPECT_TRUE(std::filesystem::is_empty(target));
}

TEST_F(ProbeRateTest, FailsAsItsWorkerDoes) {
  EXPECT_THAT(Rate(kErrorSeed, 2), StatusIs(absl::StatusCode::kAborted, HasSubstr("diverged")));
  EXPECT_THAT(Rate(kCrashSeed, 1), IsUnavailable("its worker"));
  EXPECT_THAT(Rate(kHangSeed, 1, absl::Milliseconds(300)),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("no answer within 300ms")));
  options_.trainer = {"/nowhere/worker"};
  EXPECT_THAT(Rate(0, 1), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

// A speed that was measured before an upgrade of openset or PyTorch is not used after it.
TEST(BuildOf, ChangesWithTheWorkerAndItsLibTorch) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/build"), worker = folder + "/worker",
                    library = folder + "/torch/lib/libtorch_cpu.so";
  std::filesystem::create_directories(folder + "/torch/lib");
  const auto write = [](const std::string& path, const std::string& content) {
    ASSERT_THAT(WriteFileAtomically(path, content), IsOk());
  };
  write(worker, "1");
  write(library, "1");
  const std::vector<std::string> command = {"/usr/bin/env", "LD_LIBRARY_PATH=" + folder + "/torch/lib:/other", worker};
  const std::string before = BuildOf(command);
  EXPECT_EQ(BuildOf(command), before);
  write(library, "22");
  const std::string other_torch = BuildOf(command);
  EXPECT_NE(other_torch, before);
  write(worker, "22");
  EXPECT_NE(BuildOf(command), other_torch);
  EXPECT_NE(BuildOf({worker}), BuildOf({library}));
  EXPECT_EQ(BuildOf({}), "");
}

using Basis = Throughputs::Rate::Basis;

TrialSpec TrialOf(const std::string& model, int batch_size = 128) {
  return Parsed<TrialSpec>(absl::StrCat("method { model { ", model, " } input { size: 32 } training { epochs: 1 ",
                                        "batch_size: ", batch_size, " } } data { test_known { class_id: [0, 1] } } ",
                                        "execution { threads: 1 }"));
}

Plan PlanOf(const std::vector<TrialSpec>& trials) {
  Plan plan;
  for (const TrialSpec& trial : trials) {
    Action action;
    action.kind = ActionKind::kTrain;
    action.trials = {static_cast<int>(plan.trials.size())};
    action.work = 10000 + static_cast<int64_t>(plan.trials.size());
    action.state = ActionState::kNeeded;
    plan.Add(action);
    plan.trials.emplace_back(trial);
  }
  return plan;
}

class AddProbesTest : public ::testing::Test {
 protected:
  AddProbesTest() {
    options_.device = {false, "a CPU", 1};
    options_.build = "1";
    options_.folder = absl::StrCat(testing::TempDir(), "/probes");
    std::filesystem::remove_all(options_.folder);
    options_.probe = [this](const TrainAction& action, int /*at_once*/) -> absl::StatusOr<double> {
      batches_.push_back(action.training().batch_size());
      return 50;
    };
  }

  ProbeOptions options_;
  std::vector<int64_t> batches_;  // of the probes
};

TEST_F(AddProbesTest, ProbesEachNetworkOnce) {
  const Plan plan = PlanOf({TrialOf("vgg32 {}"), TrialOf("vgg32 {}")});
  Throughputs first;
  EXPECT_THAT(AddProbes(plan, options_, &first), IsEmpty());
  EXPECT_THAT(batches_, SizeIs(1));
  EXPECT_EQ(first.Of(plan.trials[0], options_.device).basis, Basis::kProbed);
  EXPECT_DOUBLE_EQ(first.Of(plan.trials[0], options_.device).passes_per_second, 3 * 50);

  // Also if no probe may be made.
  options_.probe = nullptr;
  Throughputs second;
  AddProbes(plan, options_, &second);
  EXPECT_DOUBLE_EQ(second.Of(plan.trials[0], options_.device).passes_per_second, 3 * 50);
  // Not for another build, number at once or batch size.
  const auto is_known = [this](const Plan& of, const ProbeOptions& options) {
    Throughputs throughputs;
    AddProbes(of, options, &throughputs);
    return throughputs.Of(of.trials[0], options_.device).basis == Basis::kProbed;
  };
  EXPECT_TRUE(is_known(plan, options_));
  ProbeOptions other = options_;
  other.build = "2";
  EXPECT_FALSE(is_known(plan, other));
  other = options_;
  other.at_once = 2;
  EXPECT_FALSE(is_known(plan, other));
  EXPECT_FALSE(is_known(PlanOf({TrialOf("vgg32 {}", 64)}), options_));
}

TEST_F(AddProbesTest, ProbesOnlyUnmeasuredMissingTrainings) {
  Plan plan = PlanOf({TrialOf("vgg32 {}"), TrialOf("osrci_cnn {}"), TrialOf("resnet_cifar {}")});
  TrialRecord record =
      Parsed<TrialRecord>("provenance { stage { stage: TRAIN images_per_second: 10 cpu: 'a CPU' threads: 1 } }");
  *record.mutable_trial() = TrialOf("vgg32 {}");
  Throughputs throughputs;
  throughputs.Add(record);
  plan.actions[1].state = ActionState::kStored;
  plan.actions[2].role = ActionRole::kImport;
  AddProbes(plan, options_, &throughputs);
  EXPECT_THAT(batches_, IsEmpty());
}

// At the assumed 3e10 multiply-adds per second, 2 s are enough for few images of a large network, so the probe uses a
// smaller batch.
TEST_F(AddProbesTest, LargeNetworksHaveSmallerBatches) {
  TrialSpec large = TrialOf("resnet_imagenet { variant: RESNET152 }", 256);
  large.mutable_method()->mutable_input()->set_size(224);
  Throughputs throughputs;
  const Plan plan = PlanOf({large});
  const double images = 2 * throughputs.Of(plan.trials[0], options_.device).passes_per_second / 3;
  AddProbes(plan, options_, &throughputs);
  EXPECT_THAT(batches_, ElementsAre(std::max<int64_t>(4, static_cast<int64_t>(images))));
  EXPECT_LT(batches_[0], 16);
}

TEST_F(AddProbesTest, ProbesTheNetworksWithMostWork) {
  std::vector<TrialSpec> trials;
  for (const int width : {8, 16, 32, 64}) trials.push_back(TrialOf(absl::StrCat("vgg32 { width: ", width, " }")));
  const Plan plan = PlanOf(trials);
  Throughputs throughputs;
  AddProbes(plan, options_, &throughputs);
  EXPECT_THAT(batches_, SizeIs(kMostProbes));
  EXPECT_EQ(throughputs.Of(plan.trials[0], options_.device).basis, Basis::kScaled);
  for (const int t : {1, 2, 3}) EXPECT_EQ(throughputs.Of(plan.trials[t], options_.device).basis, Basis::kProbed);
}

TEST_F(AddProbesTest, SaysWhereBf16DoesNotPay) {
  TrialSpec trial = TrialOf("vgg32 {}");
  trial.mutable_execution()->set_precision(ExecutionSpec::BF16);
  const Plan plan = PlanOf({trial});
  double fp32 = 60;
  options_.folder.clear();
  options_.probe = [&](const TrainAction& action, int /*at_once*/) {
    return action.execution().precision() == ExecutionSpec::BF16 ? 50 : fp32;
  };
  Throughputs throughputs;
  EXPECT_THAT(AddProbes(plan, options_, &throughputs),
              ElementsAre(HasSubstr(
                  "BF16 doesn't pay on this CPU for vgg32 { } on 32 x 32 x 3: 50 images a second, 60 in FP32")));
  EXPECT_DOUBLE_EQ(throughputs.Of(plan.trials[0], options_.device).passes_per_second, 3 * 50);
  fp32 = 40;
  EXPECT_THAT(AddProbes(plan, options_, &throughputs), IsEmpty());
}

// On 4 slots, trainings of 1 thread have 10 images a second each. 4 of them have 40 together, 5 need two rounds: 25.
TEST_F(AddProbesTest, SaysWhichNumberOfThreadsFinishesFirst) {
  struct Case {
    int trainings, own;
    double all_threads;  // images a second of a training with 4 threads
    std::string line;
  };
  const std::string hint = "--set=execution.threads=", first = "trainings finish first with ";
  for (const Case& one : std::vector<Case>{
           {4, 1, 39,
            first + "1 thread each (vgg32 { } on 32 x 32 x 3: 40 images a second together, 39 with 4 threads)"},
           {4, 1, 41,
            "4 threads each (vgg32 { } on 32 x 32 x 3: 41 images a second together, 40 with 1 thread); " + hint + "4"},
           {5, 1, 26,
            "4 threads each (vgg32 { } on 32 x 32 x 3: 26 images a second together, 25 with 1 thread); " + hint + "4"},
           {1, 1, 11,
            "4 threads each (vgg32 { } on 32 x 32 x 3: 11 images a second together, 10 with 1 thread); " + hint + "4"},
           {4, 4, 39,
            "1 thread each (vgg32 { } on 32 x 32 x 3: 40 images a second together, 39 with 4 threads); " + hint + "1"},
           {4, 4, 41,
            first + "4 threads each (vgg32 { } on 32 x 32 x 3: 41 images a second together, 40 with 1 thread)"}}) {
    options_.folder.clear();
    options_.slots = 4;
    options_.device.threads = one.own;
    std::set<std::pair<int, int>> probed;  // threads, at once
    options_.probe = [&](const TrainAction& action, int at_once) {
      probed.emplace(action.execution().threads(), at_once);
      return action.execution().threads() == 1 ? 10 : one.all_threads;
    };
    TrialSpec trial = TrialOf("vgg32 {}");
    trial.mutable_execution()->set_threads(one.own);
    Throughputs throughputs;
    EXPECT_THAT(AddProbes(PlanOf(std::vector<TrialSpec>(one.trainings, trial)), options_, &throughputs),
                ElementsAre(HasSubstr(one.line)));
    EXPECT_THAT(probed, Contains(std::make_pair(1, std::min(4, one.trainings))));
    EXPECT_THAT(probed, Contains(std::make_pair(4, 1)));
  }
}

// The probe with all threads takes some seconds; the one with one thread is remembered.
TEST_F(AddProbesTest, ShortTrainingsAreNotProbedForThreads) {
  options_.slots = 4;
  const Plan plan = PlanOf({TrialOf("vgg32 {}")});
  const double images = static_cast<double>(plan.actions[0].work) / 3;
  for (const auto& [seconds, probes] : {std::pair(59, 1), std::pair(61, 2)}) {
    std::filesystem::remove_all(options_.folder);
    int made = 0;
    options_.probe = [&, seconds = seconds](const TrainAction&, int /*at_once*/) {
      ++made;
      return images / seconds;
    };
    Throughputs throughputs;
    AddProbes(plan, options_, &throughputs);
    EXPECT_EQ(made, probes) << seconds;
  }
}

// A speed on a busy machine is used with a hint, once, and measured again next time.
TEST_F(AddProbesTest, ABusyMachineIsNamed) {
  const Plan plan = PlanOf({TrialOf("osrci_cnn {}"), TrialOf("vgg32 {}")});
  options_.load = 7.25;
  for (int n = 0; n < 2; ++n) {
    Throughputs throughputs;
    EXPECT_THAT(AddProbes(plan, options_, &throughputs),
                ElementsAre(HasSubstr("this machine was busy (7.2 processes for each CPU)")));
    EXPECT_EQ(throughputs.Of(plan.trials[0], options_.device).basis, Basis::kProbed);
  }
  EXPECT_THAT(batches_, SizeIs(2));  // remembered, with the load
  std::filesystem::remove_all(options_.folder);
  options_.load = 0.25;
  Throughputs throughputs;
  EXPECT_THAT(AddProbes(plan, options_, &throughputs), IsEmpty());
  EXPECT_THAT(AddProbes(plan, options_, &throughputs), IsEmpty());
  EXPECT_THAT(batches_, SizeIs(4));
}

// Of the same network, in BF16 and in FP32, and with other numbers of threads.
TEST_F(AddProbesTest, AFailedProbeIsNotRepeated) {
  int probes = 0;
  options_.slots = 2;
  options_.probe = [&](const TrainAction&, int /*at_once*/) -> absl::StatusOr<double> {
    ++probes;
    return absl::DeadlineExceededError("no answer within 1m");
  };
  std::vector<TrialSpec> trials(50, TrialOf("vgg32 {}"));
  trials[1].mutable_execution()->set_precision(ExecutionSpec::BF16);
  Plan plan = PlanOf(trials);
  for (Action& action : plan.actions) action.work *= 100000;
  Throughputs throughputs;
  EXPECT_THAT(AddProbes(plan, options_, &throughputs), ElementsAre(HasSubstr("no answer within 1m")));
  EXPECT_EQ(probes, 1);
}

TEST_F(AddProbesTest, FailuresAreReportedAndNotStored) {
  options_.probe = [](const TrainAction&, int /*at_once*/) {
    return absl::UnavailableError("its worker exited with 3");
  };
  const Plan plan = PlanOf({TrialOf("vgg32 {}")});
  Throughputs throughputs;
  EXPECT_THAT(AddProbes(plan, options_, &throughputs), ElementsAre(HasSubstr("failed: its worker exited with 3")));
  EXPECT_EQ(throughputs.Of(plan.trials[0], options_.device).basis, Basis::kAssumed);
  EXPECT_FALSE(std::filesystem::exists(options_.folder));
}

}  // namespace
}  // namespace openset
