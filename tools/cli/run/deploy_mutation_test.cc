// Untrusted deploy files, changed field by field (core/testing/proto_mutation.h), from the flag to the engine's
// options: each is accepted or gives an error with the file's name. Tests --rounds changed files
// (core/testing/mutation.h).
#include <iostream>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "core/files/files.h"
#include "core/testing/mutation.h"
#include "core/testing/parsed.h"
#include "core/testing/proto_mutation.h"
#include "experiments/study/study.h"
#include "experiments/testing/spec_sandbox.h"
#include "gtest/gtest.h"
#include "tools/cli/flags/run_config.h"
#include "tools/cli/run/engine_options.h"

namespace openset {
namespace {

constexpr char kDeploy[] = R"(
store: "store" data_folder: ["a", "b"] engine: LOCAL jobs: 2 devices: "cpu" worker: "worker" actions_per_gpu: 2
memory_mb: 1000 memory { train_mb: 10 infer_mb: 10 evaluate_mb: 10 } memory_per_slot_mb: 5 hang_seconds: 9 retries: 1
max_failures: 3 lease_seconds: 20 private: false store_gb: 100
slurm { partition: "p" time: "04:00:00" gres: "gpu:1" option: "--x" prologue: "y" tasks: 2 }
)";

TEST(MutationTest, DeployFiles) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/specs/spec.textproto", kMinimalSpec);
  sandbox.Write("worker", "");
  const std::string path = JoinPath(sandbox.folder(), "deploy.textproto");
  const DeploySpec valid = Parsed<DeploySpec>(kDeploy);
  int taken = 0, refused = 0;
  const auto accept = [&](const absl::Status& status) {
    if (status.ok()) return true;
    EXPECT_NE(status.message(), "");
    EXPECT_FALSE(absl::IsInternal(status)) << status;
    return false;
  };
  ForEachRound("deploy files", [&](RandomStream* random) {
    const std::string text = MutatedText(valid, {}, random);
    NoteBytes(text.size());
    sandbox.Write("deploy.textproto", text);
    RunConfig config;
    config.deploy = path;
    const absl::Status deployed = Deploy(&config);
    ++(deployed.ok() ? taken : refused);
    if (!accept(deployed)) {
      EXPECT_TRUE(absl::StrContains(deployed.message(), "deploy.textproto")) << deployed;
      return;
    }
    EXPECT_GE(CpuSlots(config.deployment), 1);
    accept(OpenStore(config, StoreUse::kRead).status());
    accept(FindDevices(config).status());
    // The plan doesn't depend on the deployment, except for the store.
    const Store store(config.deployment.store());
    const absl::StatusOr<std::unique_ptr<Study>> study = Study::Load("spec", sandbox.folders(), store);
    if (!accept(study.status())) return;
    accept(EngineOptions(config, (*study)->experiment().folders.catalog).status());
    EXPECT_EQ((*study)->MakeReport(*(*study)->LoadResults()).trials, 1);
  });
  std::cout << "deploy files: " << taken << " taken, " << refused << " refused\n";
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) { return openset::RunMutationTests(argc, argv); }
