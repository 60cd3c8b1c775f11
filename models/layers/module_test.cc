#include "models/layers/module.h"

#include "core/tensor/testing/memory_gpu.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"

namespace openset {
namespace {

// Has weight, undefined bias, buffer "count", and the given modules.
struct Node : public Module {
  Node()
      : weight(register_parameter("weight", at::ones({2}))),
        bias(register_parameter("bias", at::Tensor())),
        count(register_buffer("count", at::zeros({}))) {}
  at::Tensor weight, bias, count;
};

// "" with "a" with "a.deep", and "b".
class ModuleTest : public ::testing::Test {
 protected:
  ModuleTest() : a_(top_.register_module("a", std::make_shared<Node>())) {
    deep_ = a_->register_module("deep", std::make_shared<Node>());
    b_ = top_.register_module("b", std::make_shared<Node>());
  }

  Node top_;
  std::shared_ptr<Node> a_, deep_, b_;
};

TEST_F(ModuleTest, NamesAreThePathsInTheOrderOfRegistration) {
  EXPECT_THAT(top_.named_parameters().keys(), ElementsAre("weight", "a.weight", "a.deep.weight", "b.weight"));
  EXPECT_THAT(top_.named_buffers().keys(), ElementsAre("count", "a.count", "a.deep.count", "b.count"));
  EXPECT_EQ(top_.parameters().size(), 4);
  std::vector<std::string> paths;
  for (const auto& [path, module] : top_.named_modules()) paths.push_back(path);
  EXPECT_THAT(paths, ElementsAre("a", "a.deep", "b"));
  EXPECT_EQ(top_.named_modules()[1].second, deep_.get());
  EXPECT_THROW(top_.register_parameter("weight", at::ones({1})), c10::Error);
}

TEST_F(ModuleTest, TensorsAreShared) {
  const at::NoGradGuard no_grad;
  top_.named_parameters()["a.deep.weight"].fill_(7);
  EXPECT_THAT(deep_->weight, TensorEq(at::full({2}, 7.0)));
}

TEST_F(ModuleTest, TheModeIsThatOfAllBelow) {
  EXPECT_TRUE(top_.is_training());
  top_.eval();
  for (const auto& [path, module] : top_.named_modules()) EXPECT_FALSE(module->is_training()) << path;
  a_->train();
  EXPECT_TRUE(deep_->is_training());
  EXPECT_FALSE(top_.is_training());
  EXPECT_FALSE(b_->is_training());
}

TEST_F(ModuleTest, ConvertsTheTensorsInPlace) {
  top_.to(at::kDouble);
  EXPECT_EQ(deep_->weight.scalar_type(), at::kDouble);
  EXPECT_EQ(deep_->count.scalar_type(), at::kDouble);
  EXPECT_TRUE(deep_->weight.requires_grad());
  top_.to(at::kCPU, at::kFloat);
  EXPECT_EQ(b_->weight.scalar_type(), at::kFloat);
  top_.to(at::Device(at::kCPU));
  EXPECT_THAT(deep_->weight, TensorEq(at::ones({2})));
}

TEST_F(ModuleTest, CountsStayOnTheCpu) {
  const at::Tensor batches = deep_->register_buffer("batches", at::zeros({}, at::kLong));
  const at::Tensor numbers = deep_->register_buffer("numbers", at::zeros({2}, at::kLong));
  const at::Device gpu(at::kCUDA, 1);
  for (const bool with_type : {false, true}) {
    if (with_type) {
      top_.to(gpu, at::kFloat);
    } else {
      top_.to(gpu);
    }
    EXPECT_TRUE(batches.is_cpu());
    EXPECT_EQ(numbers.device(), gpu);
    EXPECT_EQ(deep_->weight.device(), gpu);
    EXPECT_EQ(deep_->count.device(), gpu);
    top_.to(at::Device(at::kCPU));
  }
}

TEST_F(ModuleTest, GradientsAreDropped) {
  (top_.weight + deep_->weight).sum().backward();
  EXPECT_TRUE(deep_->weight.grad().defined());
  top_.zero_grad();
  EXPECT_FALSE(top_.weight.grad().defined());
  EXPECT_FALSE(deep_->weight.grad().defined());
  EXPECT_FALSE(top_.register_parameter("fixed", at::ones({1}), /*requires_grad=*/false).requires_grad());
}

}  // namespace
}  // namespace openset
