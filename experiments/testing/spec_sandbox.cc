#include "experiments/testing/spec_sandbox.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/files/files.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

constexpr char kDataSet[] = R"(
name: "digits"
class_name: ["zero", "one", "two", "three", "four"]
channels: 1
height: 8
width: 8
layout {
  part {
    name: "train"
    samples: 100
    samples_per_class: 20
    idx { images { path: "digits/train-images" } labels { path: "digits/train-labels" } }
  }
  part {
    name: "test"
    samples: 50
    samples_per_class: 10
    idx { images { path: "digits/test-images" } labels { path: "digits/test-labels" } }
  }
}
)";

constexpr char kTask[] = R"(
name: "task"
data_set: "digits"
split { known: [0, 1, 2] unknown: [3, 4] }
split { known: [4, 3] unknown: [0, 1, 2] }
)";

constexpr char kPlain[] = R"(
name: "plain"
model { osrci_cnn {} head { linear {} } }
input { size: 20 channels: 1 }
loss { term { cross_entropy {} } }
training {
  epochs: 2
  batch_size: 10
  optimizer { learning_rate: 0.1 sgd {} }
  schedule { constant {} }
}
inference { plain {} }
score { max_softmax {} }
)";

constexpr char kPairs[] = R"(
name: "pairs"
model { osrci_cnn {} head { linear {} } }
input { size: 20 channels: 1 }
open_set { feature_mixup {} }
loss {
  term { open_auc {} }
  term { cross_entropy {} }
}
training {
  epochs: 2
  batch_size: 10
  optimizer { learning_rate: 0.1 sgd {} }
  schedule { constant {} }
}
inference { plain {} }
score { max_logit {} }
)";

}  // namespace

SpecSandbox::SpecSandbox() {
  const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
  folder_ = JoinPath(testing::TempDir(), std::string(info->test_suite_name()) + "." + info->name());
  std::filesystem::remove_all(folder_);
  Write("data/catalog/digits.textproto", kDataSet);
  Write("data/tasks/task.textproto", kTask);
  Write("experiments/methods/plain.textproto", kPlain);
  Write("experiments/methods/pairs.textproto", kPairs);
}

void SpecSandbox::Write(const std::string& path, const std::string& content) const {
  const std::string file = JoinPath(folder_, path);
  std::filesystem::create_directories(std::filesystem::path(file).parent_path());
  // Renamed at the end, because several processes of a test may write the same file.
  const std::string temporary = file + "." + std::to_string(getpid());
  std::ofstream(temporary, std::ios::binary) << content;
  std::filesystem::rename(temporary, file);
}

absl::StatusOr<Experiment> SpecSandbox::Load(const std::string& spec) const {
  Write("experiments/specs/spec.textproto", spec);
  return LoadExperiment("spec", folders());
}

}  // namespace openset
