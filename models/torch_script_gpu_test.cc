// Scripts on a GPU made of memory (core/tensor/testing/memory_gpu.h).
#include <string>

#include "absl/strings/str_cat.h"
#include "core/tensor/testing/memory_gpu.h"
#include "core/tensor/torch_script.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "models/checkpoint.h"
#include "models/make_model.h"
#include "models/testing/test_inputs.h"

namespace openset {
namespace {

const at::Device kGpu(at::kCUDA, 1);

absl::StatusOr<std::shared_ptr<Model>> Make(const std::string& file, const std::string& fields,
                                            const ModelUse& use = {kGpu}) {
  RandomStream unused(1, "torch_script_gpu_test");
  return MakeModel(ModelSpecOf(absl::StrCat("torch_script { file: '", file, "' ", fields, " }")),
                   InputSpecOf("size: 8 channels: 1"), 5, &unused, use);
}

// A script with five outputs for an image x [B, 1, 8, 8].
std::string Save(const std::string& name, const std::string& outputs) {
  std::string file = absl::StrCat(testing::TempDir(), "/", name, ".pt");
  torch::jit::Module script("__torch__." + name);
  script.register_parameter("weight", at::linspace(-1, 2, 5).requires_grad_(), /*is_buffer=*/false);
  script.define(absl::StrCat("def forward(self, x):\n  return ", outputs, "\n"));
  script.save(file);
  return file;
}

// Weights of a frozen script are constants of its code, which Module::to() doesn't move.
TEST(TorchScriptOnAGpu, HasTheOutputsOfTheCpu) {
  ASSERT_OK_AND_ASSIGN(const auto golden, LoadTensors("models/testdata/script_outputs.safetensors"));
  for (const auto& [name, fields] :
       {std::pair{"frozen", ""}, {"logits", ""}, {"traced", "head: 'fc'"}, {"features", "features: true"}}) {
    SCOPED_TRACE(name);
    ASSERT_OK_AND_ASSIGN(const auto model, Make(absl::StrCat("models/testdata/script_", name, ".pt"), fields));
    model->to(kGpu);
    model->eval();
    const at::NoGradGuard no_grad;
    const at::Tensor logits = model->Forward(golden.at("image").to(kGpu)).logits;
    EXPECT_EQ(logits.device(), kGpu);
    EXPECT_THAT(logits.cpu(), TensorNear(golden.at("logits"), 1e-5));
  }
}

TEST(TorchScriptOnAGpu, OneWithADeviceInItsCodeIsRefused) {
  const std::string file = Save("Fixed", "x.flatten(1)[:, :5] * self.weight + torch.arange(5, device='cpu')");
  EXPECT_THAT(Make(file, "", {}), IsOk());
  EXPECT_THAT(Make(file, ""), StatusIs(absl::StatusCode::kInvalidArgument,
                                       AllOf(HasSubstr(file), HasSubstr("fails on images of [2, 1, 8, 8] on cuda:1"),
                                             HasSubstr("its code names a device, so it runs only there"))));
}

TEST(TorchScriptOnAGpu, RefusesToTrainScriptsWithUnrepeatableGradients) {
  const std::string file =
      Save("Padded", "(torch.reflection_pad2d(x, [1, 1, 1, 1]) * self.weight[0]).flatten(1)[:, :5] * self.weight");
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  EXPECT_THAT(Make(file, ""), IsOk());
  EXPECT_THAT(Make(file, "", {at::kCPU, /*is_training=*/true}), IsOk());
  EXPECT_THAT(Make(file, "", {kGpu, /*is_training=*/true}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("can't be trained on cuda:1, as its gradients fail: "),
                             HasSubstr("does not have a deterministic implementation"))));
  at::globalContext().setDeterministicAlgorithms(false, /*warn_only=*/false);
}

// The GPU failed, not the file: the error is passed on, so that the action can be retried.
TEST(TorchScriptOnAGpu, LackOfMemoryIsThrownOn) {
  FailGpuOperation(1, GpuFailure::kOutOfMemory);
  EXPECT_ANY_THROW(Make("models/testdata/script_logits.pt", "").status().IgnoreError());
  EXPECT_THAT(Make("models/testdata/script_logits.pt", ""), IsOk());
}

}  // namespace
}  // namespace openset
