// What the whole flow reaches on real Fashion-MNIST images, over seeds.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

// 1,800 training images of split 0, four epochs.
constexpr char kSpec[] = R"(
name: "study"
task: "fashion_mnist_6_4"
method: "softmax"
split: 0
seed: [0, 1, 2, 3]
override {
  model { osrci_cnn {} head { linear { bias: true } } }
  input { size: 28 channels: 1 mean: 0.286 std: 0.353 }
  training {
    epochs: 4
    batch_size: 50
    optimizer { learning_rate: 0.02 sgd { momentum: 0.9 } }
    schedule { cosine_restarts { cycle_epochs: 4 } }
  }
}
train_limit_per_class: 300
test_limit_per_class: 100
metric { accuracy {} }
metric { auroc {} }
metric { openauc {} }
)";

double Mean(const nlohmann::json& report, const std::string& metric) {
  for (const nlohmann::json& cell : report.at("cells")) {
    if (cell.at("metric") == metric) {
      EXPECT_EQ(cell.at("n"), 4);
      return cell.at("mean");
    }
  }
  ADD_FAILURE() << "no " << metric;
  return -1;
}

// Trivial baselines: always one class has accuracy 1/6; a score that knows nothing has AUROC 1/2 and, with that
// accuracy, OpenAUC 1/12. Centres and margins are the mean and six standard errors (std / 2) of 12 other seeds' values,
// so that another kind of CPU, which gives other bits, fails with a chance below 1e-6.
TEST(Accuracy, SoftmaxOnFashionMnist) {
  const OpensetProgram program;
  program.Write("study.textproto", kSpec);
  const ProgramResult result = program.Run({"run", "study.textproto"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json report = nlohmann::json::parse(program.Read("openset-store/reports/study/report.json"));
  EXPECT_NEAR(Mean(report, "accuracy"), 0.8, 0.05);
  EXPECT_NEAR(Mean(report, "auroc"), 0.7, 0.1);
  EXPECT_NEAR(Mean(report, "openauc"), 0.6, 0.1);
}

}  // namespace
}  // namespace openset
