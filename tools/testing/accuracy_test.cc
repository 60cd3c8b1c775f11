// The accuracy of the complete flow on real Fashion-MNIST images, over seeds.
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

// Trivial baselines: always predicting one class has accuracy 1/6; a score without information has AUROC 1/2 and, with
// this accuracy, OpenAUC 0.37. Centres are the means over 12 other seeds (10 to 21), margins are six standard errors of
// a mean of 4 (0.0081, 0.0191 and 0.0138 over 2, the standard deviations over those seeds): a kind of CPU that gives
// other bits fails with a chance below 1e-3 (Student's t, 11 degrees of freedom, the centre's own error included). A
// random score has a mean AUROC of 0.500 with a standard error of 0.009, of which 12 % lie within that margin, and an
// OpenAUC of 0.374 with 0.007, eleven of them below the other one.
TEST(Accuracy, SoftmaxOnFashionMnist) {
  const OpensetProgram program;
  program.Write("study.textproto", kSpec);
  const ProgramResult result = program.Run({"run", "study.textproto"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json report = nlohmann::json::parse(program.Read("openset-store/reports/study/report.json"));
  EXPECT_NEAR(Mean(report, "accuracy"), 0.747, 0.025);
  EXPECT_NEAR(Mean(report, "auroc"), 0.569, 0.058);
  EXPECT_NEAR(Mean(report, "openauc"), 0.495, 0.042);
}

}  // namespace
}  // namespace openset
