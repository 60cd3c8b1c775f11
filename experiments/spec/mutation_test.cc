// Untrusted specs, methods and tasks are read or give an error with the file's name. They never cause a crash, a hang
// or allocations of declared sizes. Tests --rounds changed files of each kind (core/testing/mutation.h).
#include "core/testing/mutation.h"

#include <iostream>
#include <string>
#include <vector>

#include "experiments/spec/resolve/expand.h"
#include "experiments/testing/spec_sandbox.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

std::vector<std::string> Tokens() {
  return {"999999999", "-1",           "{",        "}",          "'",           "..",        "../../../etc/passwd",
          "nan",       "1e999",        "axis { ",  "value: ",    "[",           "]",         "seed: [0, 1]",
          "\xff",      "loss.term[9]", "#",        "override {", "training { ", "search { ", "split: ",
          "name: ",    "method: ",     "/dev/zero"};
}

constexpr char kSpec[] = R"(
name: "spec"
task: "task"
method: ["plain", "pairs"]
split: 0
seed: [0, 1]
unknown_classes: [1, 2]
override { training { epochs: 1 } }
axis { path: "training.optimizer.learning_rate" value: ["0.1", "0.2"] }
validation_per_class: 2
metric { accuracy {} }
metric { auroc {} }
)";

// Loads and expands the sandbox's spec, at most a thousand trials of it.
void Load(const SpecSandbox& sandbox, int* read, int* refused) {
  const absl::StatusOr<Experiment> experiment = LoadExperiment("spec", sandbox.folders());
  absl::Status status = experiment.status();
  if (experiment.ok()) {
    ExpandOptions options;
    options.max_trials = 1000;
    const absl::StatusOr<std::vector<Trial>> trials = Expand(*experiment, options);
    status = trials.status();
    EXPECT_LE(trials.ok() ? trials->size() : 0, 1000);
  }
  ++(status.ok() ? *read : *refused);
  if (status.ok()) return;
  EXPECT_NE(status.message(), "");
  EXPECT_FALSE(absl::IsInternal(status)) << status;
}

class MutationTest : public ::testing::Test {
 protected:
  void Run(const std::string& path, const std::string& valid) {
    sandbox_.Write("experiments/specs/spec.textproto", kSpec);
    int read = 0, refused = 0;
    Load(sandbox_, &read, &refused);
    ASSERT_EQ(read, 1) << path;
    ForEachMutation(path, valid, Tokens(), [&](const std::string& bytes) {
      sandbox_.Write(path, bytes);
      Load(sandbox_, &read, &refused);
    });
    std::cout << path << ": " << read - 1 << " read, " << refused << " refused\n";
  }

  const SpecSandbox sandbox_;
};

TEST_F(MutationTest, Specs) { Run("experiments/specs/spec.textproto", kSpec); }

TEST_F(MutationTest, Methods) {
  Run("experiments/methods/plain.textproto",
      "name: 'plain' model { osrci_cnn {} head { linear {} } } input { size: 20 channels: 1 } "
      "loss { term { cross_entropy {} } } training { epochs: 2 batch_size: 10 "
      "optimizer { learning_rate: 0.1 sgd {} } schedule { constant {} } } inference { plain {} } score { max_softmax "
      "{} }");
}

TEST_F(MutationTest, Tasks) {
  Run("data/tasks/task.textproto",
      "name: 'task' data_set: 'digits' split { known: [0, 1, 2] unknown: [3, 4] } split { known: [4, 3] unknown: [0, "
      "1] }");
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) { return openset::RunMutationTests(argc, argv); }
