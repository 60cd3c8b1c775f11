// The program on a machine with two simulated GPUs: the driver is core/process/gpu/fake_gpu_driver.cc, and the worker
// uses the GPUs of core/tensor/testing/memory_gpu.h.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/formats/npz.h"
#include "core/files/runfiles.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kStudy[] = R"(
name: "study"
task: "fashion_mnist_6_4"
split: 0
method: "softmax"
seed: 0
override {
  input { size: 16 channels: 1 mean: 0.286 std: 0.353 }
  model { osrci_cnn { feature_dim: 8 } head { linear {} } }
  training { epochs: 2 batch_size: 32 }
}
train_limit_per_class: 20
test_limit_per_class: 10
metric { accuracy {} }
metric { auroc {} }
)";

class GpuRunTest : public ::testing::Test {
 protected:
  GpuRunTest() {
    program_.Write("study.textproto", kStudy);
    // A fake driver and a fake PyTorch; the worker needs nothing from the latter.
    std::filesystem::create_directories(program_.folder() + "/lib");
    std::filesystem::create_symlink(*RunfilesFolder() + "/openset/core/process/gpu/libfake_gpu_driver.so",
                                    program_.folder() + "/lib/libcuda.so.1");
    setenv("LD_LIBRARY_PATH", (program_.folder() + "/lib").c_str(), 1);
    program_.Write("torch/version.py", "__version__ = '2.11.0+cu130'\n");
    program_.Write("torch/lib/libtorch_cuda.so", "");
    setenv("OPENSET_TORCH", (program_.folder() + "/torch").c_str(), 1);
    setenv("FAKE_GPUS", "NVIDIA H200,NVIDIA H200", 1);
  }
  ~GpuRunTest() override {
    for (const char* name :
         {"LD_LIBRARY_PATH", "OPENSET_TORCH", "FAKE_GPUS", "FAKE_GPU_CUDA", "MEMORY_GPU_FAILS", "MEMORY_GPU_ONLY"}) {
      unsetenv(name);
    }
  }

  static std::string WorkerPath() { return *RunfilesFolder() + "/openset/tools/testing/gpu/memory_gpu_worker"; }

  ProgramResult Run(const std::string& devices, const std::string& store) const {
    return program_.Run(
        {"run", "study.textproto", "--devices=" + devices, "--store=" + store, "--worker=" + WorkerPath()});
  }

  ProgramResult Check(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"devices", "--check", "--worker=" + WorkerPath()};
    words.insert(words.end(), more.begin(), more.end());
    return program_.Run(words);
  }

  // The report's numbers by metric.
  std::map<std::string, double> Numbers(const std::string& store) const {
    std::map<std::string, double> numbers;
    const nlohmann::json report =
        nlohmann::json::parse(program_.Read(store + "/reports/study/report.json"), nullptr, /*allow_exceptions=*/false);
    EXPECT_FALSE(report.is_discarded());
    if (report.is_discarded()) return numbers;
    for (const nlohmann::json& cell : report.at("cells")) numbers[cell.at("metric")] = cell.at("mean");
    return numbers;
  }

  const OpensetProgram program_;
};

// Two trainings by a program at once, on a GPU each. Each waits for the other.
TEST_F(GpuRunTest, AProgramThatTrainsSeesItsGpuAlone) {
  std::vector<float> features;
  std::vector<int64_t> label;
  std::vector<std::string> part;
  for (int i = 0; i < 18; ++i) {
    features.push_back(static_cast<float>(i));
    label.push_back(i % 3);
    part.emplace_back(i < 9 ? "train" : "test");
  }
  const NpzArrays cloud = {
      {"features", MakeNpy(features, {18, 1})}, {"label", MakeNpy(label, {18})}, {"part", MakeNpy(part)}};
  ASSERT_TRUE(WriteNpz(program_.folder() + "/cloud.npz", cloud).ok());
  const NpzArrays made = {{"logits", MakeNpy(std::vector<float>(9 * 2, -1), {9, 2})}};
  ASSERT_TRUE(WriteNpz(program_.folder() + "/made.npz", made).ok());
  program_.Write("cloud.textproto", "name: 'cloud' data_set: 'features:cloud.npz' split { known: [0, 1] unknown: 2 }");
  program_.Write("mine.textproto", absl::StrReplaceAll(R"(
name: "mine" title: "Mine" reference: "own" model { outputs {} } input {} inference { plain {} } score { max_softmax {} }
training { command {
  run: "cp made.npz outputs.npz; echo $CUDA_VISIBLE_DEVICES $(grep -c '^ *.device.: *.cuda' trial.json) >> SEEN; "
       "while [ $(wc -l < SEEN) -lt 2 ]; do sleep 0.1; done"
  source: "made.npz"
} })",
                                                       {{"SEEN", program_.folder() + "/seen"}}));
  program_.Write("study.textproto",
                 "name: 'study' question: '?' task: 'cloud.textproto' method: 'mine.textproto' seed: [0, 1] "
                 "metric { auroc {} }");
  const ProgramResult result = program_.Run(
      {"run", "study.textproto", "--devices=cuda:0,1", "--allow_commands", "--retries=0", "--worker=" + WorkerPath()});
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  std::vector<std::string> lines = absl::StrSplit(program_.Read("seen"), '\n', absl::SkipEmpty());
  std::sort(lines.begin(), lines.end());
  EXPECT_THAT(lines, ElementsAre("0 1", "1 1"));
}

TEST_F(GpuRunTest, TheDevicesAreListed) {
  const ProgramResult result = program_.Run({"devices"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(ContainsRegex("cuda:0 +NVIDIA H200 +16.0 GB +9.0 +yes"),
                                ContainsRegex("cuda:1 +NVIDIA H200 +16.0 GB +9.0 +yes"),
                                HasSubstr("--devices=auto, the default, is each NVIDIA H200.")));
}

// Each kind of action, in each precision, gives the same bytes twice, on the CPU and on the GPU.
TEST_F(GpuRunTest, TheDevicesAreChecked) {
  setenv("FAKE_GPUS", "NVIDIA H200", 1);
  const ProgramResult all = Check({});
  EXPECT_EQ(all.exit_code, 0) << all.out << all.err;
  for (const char* device : {"cpu", "cuda:0"}) {
    EXPECT_THAT(all.out, AllOf(ContainsRegex(absl::StrCat(device, " +FP32 +train +6 of 6\n")),
                               ContainsRegex(absl::StrCat(device, " +FP32 +infer +10 of 10\n")),
                               ContainsRegex(absl::StrCat(device, " +FP32 +evaluate +10 of 10\n")),
                               ContainsRegex(absl::StrCat(device, " +FP32 +choose +1 of 1\n"))));
  }
  for (const char* precision : {"TF32", "BF16"}) {  // three methods
    EXPECT_THAT(all.out, AllOf(ContainsRegex(absl::StrCat("cuda:0 +", precision, " +train +4 of 4\n")),
                               ContainsRegex(absl::StrCat("cuda:0 +", precision, " +infer +6 of 6\n")),
                               ContainsRegex(absl::StrCat("cuda:0 +", precision, " +evaluate +6 of 6\n")),
                               ContainsRegex(absl::StrCat("cuda:0 +", precision, " +choose +1 of 1\n"))));
  }
}

TEST_F(GpuRunTest, ACheckSaysWhatFails) {
  const ProgramResult missing = Check({"--devices=cuda:2"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("there is no GPU 2"));
  const ProgramResult without = program_.Run({"devices", "--devices=cuda:0"});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.err, HasSubstr("--devices: only with --check"));

  setenv("MEMORY_GPU_FAILS", ("device 100 " + program_.folder() + "/failed").c_str(), 1);
  const ProgramResult failed = Check({"--devices=cuda:1"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.out, AllOf(ContainsRegex("cuda:1 +FP32 +train +5 of 6\n"),
                                ContainsRegex("cuda:1, FP32: train .*an illegal memory access was encountered"),
                                ContainsRegex("cuda:1, FP32: infer .*: not tried, because it needs what failed"),
                                Not(ContainsRegex("cuda:0 +FP32")), Not(ContainsRegex("cpu +FP32"))));
  EXPECT_THAT(failed.err, ContainsRegex("[0-9]+ of [0-9]+ actions failed, or gave other bytes the second time"));
}

// The first worker uses other instructions, which sum in another order.
TEST_F(GpuRunTest, ACheckSaysWhatDiffers) {
  program_.Write("worker.sh", absl::StrCat("#!/bin/sh\nmkdir ", program_.folder(),
                                           "/once 2>/dev/null && export ATEN_CPU_CAPABILITY=default\nexec ",
                                           WorkerPath(), " \"$@\"\n"));
  std::filesystem::permissions(program_.folder() + "/worker.sh", std::filesystem::perms::owner_all);
  const ProgramResult differs = program_.Run({"devices", "--check", "--devices=cpu", "--worker=worker.sh"});
  EXPECT_EQ(differs.exit_code, 1) << differs.out << differs.err;
  EXPECT_THAT(differs.out, ContainsRegex("cpu, FP32: train .*: gave other bytes the second time"));
}

TEST_F(GpuRunTest, ATrialOnTheSecondGpuHasTheNumbersOfTheCpu) {
  const ProgramResult gpu = Run("cuda:1", "gpu"), cpu = Run("cpu", "cpu");
  ASSERT_EQ(gpu.exit_code, 0) << gpu.out << gpu.err;
  ASSERT_EQ(cpu.exit_code, 0) << cpu.out << cpu.err;
  EXPECT_EQ(Numbers("gpu"), Numbers("cpu"));
  EXPECT_EQ(Numbers("gpu").size(), 2);
  constexpr char kHint[] = "hint: FP32 on a GPU: in TF32, PyTorch's default for convolutions, an H200 trained";
  EXPECT_THAT(gpu.err, HasSubstr(kHint));
  EXPECT_THAT(cpu.err, Not(HasSubstr(kHint)));
  EXPECT_THAT(program_.Run({"plan", "study.textproto", "--devices=cuda:0", "--store=none", "--noprobe"}).err,
              HasSubstr(kHint));
  EXPECT_THAT(Run("cuda:1", "gpu").err, Not(HasSubstr(kHint)));  // nothing is left to train
}

// Pinned memory makes a context on the thread's current GPU, which is the first one at its start.
TEST_F(GpuRunTest, AWorkerOfTheSecondGpuLeavesTheFirstAlone) {
  setenv("MEMORY_GPU_ONLY", "1", 1);
  const ProgramResult second = Run("cuda:1", "second");
  EXPECT_EQ(second.exit_code, 0) << second.out << second.err;
  const ProgramResult first = Run("cuda:0", "first");
  EXPECT_EQ(first.exit_code, 1) << first.out << first.err;
  EXPECT_THAT(first.out, HasSubstr("a context on GPU 0"));
}

// The worker ends, another one replaces it, and the training has the numbers of an undisturbed one.
TEST_F(GpuRunTest, DeviceAndMemoryErrorsAreRetriedInANewProcess) {
  const ProgramResult undisturbed = Run("cuda:0", "undisturbed");
  ASSERT_EQ(undisturbed.exit_code, 0) << undisturbed.out << undisturbed.err;
  for (const auto& [kind, message] :
       {std::pair<std::string, std::string>{"device", "an illegal memory access was encountered"},
        {"memory", "CUDA out of memory"}}) {
    SCOPED_TRACE(kind);
    setenv("MEMORY_GPU_FAILS", (kind + " 100 " + program_.folder() + "/" + kind + "_failed").c_str(), 1);
    const ProgramResult run = Run("auto", kind);
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    EXPECT_THAT(run.out, HasSubstr(message));
    EXPECT_EQ(Numbers(kind), Numbers("undisturbed"));
  }
}

TEST_F(GpuRunTest, ADriverThatIsTooOldIsRefusedBeforeAnythingStarts) {
  setenv("FAKE_GPU_CUDA", "12040", 1);
  for (const char* devices : {"auto", "cuda:0"}) {
    const ProgramResult result = Run(devices, "old");
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("--devices: the GPU's driver can run CUDA 12.4, and openset needs CUDA 13.0: "
                                      "install driver 580 or later, or compute on the CPU with --devices=cpu"));
    EXPECT_FALSE(FileExists(program_.folder() + "/old"));
  }
  EXPECT_EQ(Run("cpu", "cpu").exit_code, 0);
}

// A program without LibTorch's CUDA library, on a machine that has no such PyTorch either.
TEST_F(GpuRunTest, WithoutTheCudaLibraryUsesTheCpuOrFails) {
  program_.Write("torch/version.py", "__version__ = '2.10.0+cu128'\n");
  const ProgramResult named = Run("cuda:0", "named");
  EXPECT_EQ(named.exit_code, 2);
  EXPECT_THAT(named.err,
              AllOf(HasSubstr("--devices: OPENSET_TORCH: "), HasSubstr("is PyTorch 2.10.0+cu128, and openset "
                                                                       "needs 2.11.0 for CUDA 13")));
  const ProgramResult free = Run("auto", "free");
  EXPECT_EQ(free.exit_code, 0) << free.out << free.err;
  EXPECT_THAT(program_.Run({"devices"}).out, AllOf(ContainsRegex("cuda:0 +NVIDIA H200 +16.0 GB +9.0 +no"),
                                                   HasSubstr("--devices=auto, the default, is the CPU.")));
}

}  // namespace
}  // namespace openset
