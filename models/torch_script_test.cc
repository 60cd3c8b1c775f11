#include "models/torch_script.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/tensor/convolution_guard.h"
#include "core/tensor/torch_generator.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "models/checkpoint.h"
#include "models/make_model.h"
#include "models/testing/test_inputs.h"

namespace openset {
namespace {

// A script with a weight, a buffer and a number.
torch::jit::Module Script(const std::string& code) {
  torch::jit::Module script("__torch__.Script");
  script.register_parameter("weight", at::ones({3}), /*is_buffer=*/false);
  script.register_buffer("seen", at::zeros({1}));
  script.register_attribute("count", c10::IntType::get(), 0);
  script.define(code);
  return script;
}

bool PassChanges(torch::jit::Module script) {
  const at::NoGradGuard no_grad;
  const ScriptState before(script);
  script.forward({at::ones({2, 3})});
  return !before.IsUnchanged(script);
}

TEST(ScriptState, PassesOfAPureScriptChangeNothing) {
  EXPECT_FALSE(PassChanges(Script("def forward(self, x):\n  return x * self.weight + self.seen\n")));
}

TEST(ScriptState, SeesAChangeOfATensorOfAnAttributeAndOfTheGenerator) {
  EXPECT_TRUE(PassChanges(Script("def forward(self, x):\n  self.seen.add_(1)\n  return x\n")));
  EXPECT_TRUE(PassChanges(Script("def forward(self, x):\n  self.seen = self.seen + 1\n  return x\n")));
  EXPECT_TRUE(PassChanges(Script("def forward(self, x):\n  self.count += 1\n  return x\n")));
  EXPECT_TRUE(PassChanges(Script("def forward(self, x):\n  return x + torch.rand_like(x)\n")));
}

TEST(ScriptState, ListsOfNumbersAreComparedOthersMayChangeUnseen) {
  const auto of_code = [](const std::string& code) {
    torch::jit::Module script("__torch__.Lists");
    script.register_attribute("sizes", c10::ListType::ofInts(), c10::List<int64_t>({1, 2}));
    script.define("def forward(self, x):\n" + code + "  return x\n");
    return script;
  };
  EXPECT_FALSE(PassChanges(of_code("  y = self.sizes[0]\n")));
  EXPECT_TRUE(PassChanges(of_code("  self.sizes[0] = 3\n")));
  EXPECT_TRUE(PassChanges(of_code("  self.sizes.append(1)\n")));
  torch::jit::Module script = Script("def forward(self, x):\n  return x\n");
  script.register_attribute("names", c10::ListType::ofStrings(), c10::List<std::string>({"a"}));
  EXPECT_TRUE(PassChanges(script));
}

TEST(ScriptState, SeesAChangeInASubmodule) {
  torch::jit::Module script("__torch__.Whole");
  script.register_module("part", Script("def forward(self, x):\n  self.seen.add_(1)\n  return x\n"));
  script.define("def forward(self, x):\n  return self.part.forward(x)\n");
  EXPECT_TRUE(PassChanges(script));
}

// The archives of tools/peers/make_torchscript.py: images of [1, 8, 8], 5 logits of 3 features.
std::string FileOf(const std::string& name) { return absl::StrCat("models/testdata/script_", name, ".pt"); }

absl::StatusOr<std::shared_ptr<Model>> Make(const std::string& name, const std::string& fields = "", int classes = 5,
                                            const std::string& input = "size: 8 channels: 1") {
  RandomStream unused(1, "torch_script_test");
  return MakeModel(ModelSpecOf(absl::StrCat("torch_script { file: '", FileOf(name), "' ", fields, " }")),
                   InputSpecOf(input), classes, &unused);
}

class TorchScriptTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto outputs = LoadTensors("models/testdata/script_outputs.safetensors");
    ASSERT_THAT(outputs, IsOk());
    golden_ = *std::move(outputs);
  }

  const at::Tensor& Image() const { return golden_.at("image"); }
  // What the model gives in evaluation mode.
  ModelOutput OutputOf(const std::shared_ptr<Model>& model) const {
    const at::NoGradGuard no_grad;
    model->eval();
    return model->Forward(Image().contiguous(at::MemoryFormat::ChannelsLast));
  }

  TensorMap golden_;
};

TEST_F(TorchScriptTest, LogitsAlone) {
  for (const char* name : {"logits", "traced", "frozen", "features"}) {
    ASSERT_OK_AND_ASSIGN(const auto model, Make(name));
    EXPECT_TRUE(model->is_training());
    const ModelOutput output = OutputOf(model);
    EXPECT_THAT(output.logits, TensorNear(golden_.at("logits"), 1e-5));
    EXPECT_FALSE(output.feature.defined());
  }
}

TEST_F(TorchScriptTest, PassesAreIndependentUnlessTheyChangeSomething) {
  ASSERT_OK_AND_ASSIGN(const auto pure, Make("logits"));
  EXPECT_TRUE(pure->HasIndependentPasses());
  const std::string file = absl::StrCat(testing::TempDir(), "/counts.pt");
  torch::jit::Module script("__torch__.Counts");
  script.register_parameter("weight", at::linspace(-1, 2, 5).view({5, 1}), /*is_buffer=*/false);
  script.register_buffer("passes", at::zeros({1}));
  script.define("def forward(self, x):\n  self.passes.add_(1)\n  return torch.linear(x.mean([2, 3]), self.weight)\n");
  script.save(file);
  RandomStream unused(1, "torch_script_test");
  ASSERT_OK_AND_ASSIGN(const auto counts, MakeModel(ModelSpecOf(absl::StrCat("torch_script { file: '", file, "' }")),
                                                    InputSpecOf("size: 8 channels: 1"), 5, &unused));
  EXPECT_FALSE(counts->HasIndependentPasses());
}

// A convolution that LibTorch computes wrongly on some CPUs (core/tensor/convolution_guard.h).
TEST_F(TorchScriptTest, NarrowStridedConvolutionsAreComputedInTheContiguousLayoutWithALine) {
  const std::string file = absl::StrCat(testing::TempDir(), "/narrow.pt");
  const at::Tensor weight = at::linspace(-1, 2, 15).view({5, 3, 1, 1});
  for (const char* layout : {"2", "0"}) {  // channels-last, contiguous
    torch::jit::Module script("__torch__.Narrow");
    script.register_parameter("weight", weight.clone().requires_grad_(), /*is_buffer=*/false);
    script.define(absl::StrCat("def forward(self, x):\n  return torch.conv2d(x.contiguous(memory_format=", layout,
                               "), self.weight, None, [2, 2]).mean([2, 3])\n"));
    script.save(file);
    RandomStream unused(1, "torch_script_test");
    testing::internal::CaptureStderr();
    const auto model = MakeModel(ModelSpecOf(absl::StrCat("torch_script { file: '", file, "' }")),
                                 InputSpecOf("size: 8 channels: 3"), 5, &unused);
    const std::string log = testing::internal::GetCapturedStderr();
    ASSERT_THAT(model, IsOk());
    EXPECT_EQ(absl::StrContains(log, "narrow.pt: has 1x1 convolutions with a stride"),
              *layout == '2' && ConvolutionsAreGuarded())
        << log;
    const at::Tensor image = at::linspace(-3, 4, 2 * 3 * 8 * 8).view({2, 3, 8, 8}).sin();
    const at::Tensor parameter = (*model)->parameters()[0];
    const at::Tensor logits = (*model)->Forward(image).logits;
    logits.select(1, 1).sum().backward();
    const at::Tensor pixels = image.slice(2, 0, 8, 2).slice(3, 0, 8, 2).mean({2, 3});
    EXPECT_THAT(logits.detach(), TensorNear(at::matmul(pixels, weight.view({5, 3}).t()), 1e-5));
    EXPECT_THAT(parameter.grad().reshape({5, 3}).select(0, 1), TensorNear(pixels.sum(0), 1e-5));
    EXPECT_THAT(parameter.grad().reshape({5, 3}).select(0, 0), TensorNear(at::zeros({3}), 1e-6));
  }
}

TEST_F(TorchScriptTest, FeaturesThatTheScriptGives) {
  ASSERT_OK_AND_ASSIGN(const auto model, Make("features", "features: true"));
  EXPECT_THAT(OutputOf(model).logits, TensorNear(golden_.at("logits"), 1e-5));
  EXPECT_THAT(OutputOf(model).feature, TensorNear(golden_.at("feature"), 1e-5));
}

TEST_F(TorchScriptTest, TheHeadsInputIsTheFeature) {
  for (const char* name : {"logits", "traced", "features"}) {
    ASSERT_OK_AND_ASSIGN(const auto model, Make(name, "head: 'fc'"));
    const ModelOutput output = OutputOf(model);
    EXPECT_THAT(output.feature, TensorNear(golden_.at("feature"), 1e-5));
    EXPECT_THAT(output.logits, TensorNear(golden_.at("logits"), 1e-5));
    EXPECT_EQ(model->feature_dim(), 3);
    EXPECT_THAT(model->ForwardHead(golden_.at("feature")).logits, TensorNear(golden_.at("logits"), 1e-5));
  }
}

TEST_F(TorchScriptTest, StatesHaveTheScriptsNames) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : StateOf(**Make("logits", "head: 'fc'"))) names.push_back(name);
  EXPECT_THAT(names, UnorderedElementsAre("backbone.bn.bias", "backbone.bn.num_batches_tracked",
                                          "backbone.bn.running_mean", "backbone.bn.running_var", "backbone.bn.weight",
                                          "backbone.conv.bias", "backbone.conv.weight", "backbone.hidden.bias",
                                          "backbone.hidden.weight", "head.bias", "head.weight"));
}

TEST_F(TorchScriptTest, StatesSetTheScriptsParameters) {
  for (const char* fields : {"head: 'fc'", "features: true"}) {
    ASSERT_OK_AND_ASSIGN(const auto model, Make("features", fields));
    ASSERT_OK_AND_ASSIGN(const auto other, Make("features", fields));
    {
      const at::NoGradGuard no_grad;
      for (at::Tensor& parameter : other->parameters()) parameter.mul_(0.5);
    }
    const ModelOutput before = OutputOf(model), expected = OutputOf(other);
    EXPECT_THAT(expected.logits, Not(TensorNear(before.logits, 1e-3)));
    ASSERT_THAT(SetState(StateOf(*other), model.get()), IsOk());
    EXPECT_THAT(OutputOf(model).feature, TensorEq(expected.feature));
    EXPECT_THAT(OutputOf(model).logits, TensorEq(expected.logits));
  }
}

// Memorises 3 images, with dropout and batch statistics. The loss of guessing is log 5 = 1.6.
TEST_F(TorchScriptTest, WithAHeadItLearns) {
  ASSERT_OK_AND_ASSIGN(const auto model, Make("logits", "head: 'fc'"));
  model->train();
  model->SetGenerator(MakeGenerator(at::kCPU, 1));
  const at::Tensor mean = StateOf(*model).at("backbone.bn.running_mean");
  double loss = 0;
  for (int step = 0; step < 400; ++step) {
    model->zero_grad();
    const at::Tensor value = at::cross_entropy_loss(model->Forward(Image()).logits, at::arange(3));
    value.backward();
    const at::NoGradGuard no_grad;
    for (const auto& parameter : model->named_parameters()) {
      ASSERT_TRUE(parameter.value().grad().defined()) << parameter.key();
      parameter.value().add_(parameter.value().grad(), -0.1);
    }
  }
  loss = at::cross_entropy_loss(OutputOf(model).logits, at::arange(3)).item<double>();
  EXPECT_LT(loss, 0.3);
  EXPECT_THAT(StateOf(*model).at("backbone.bn.running_mean"), Not(TensorNear(mean, 1e-3)));
}

TEST_F(TorchScriptTest, ModesReachTheScript) {
  ASSERT_OK_AND_ASSIGN(const auto model, Make("logits"));
  model->train();
  const at::Tensor first = model->Forward(Image()).logits;
  EXPECT_THAT(model->Forward(Image()).logits, Not(TensorEq(first)));  // dropout
  EXPECT_THAT(OutputOf(model).logits, TensorEq(OutputOf(model).logits));
}

TEST_F(TorchScriptTest, DropoutDrawsFromTheModelsGeneratorAlone) {
  ASSERT_OK_AND_ASSIGN(const auto model, Make("logits"));
  ASSERT_OK_AND_ASSIGN(const auto other, Make("logits"));
  model->train();
  other->train();
  const auto passes = [&](bool interleave) {
    std::vector<at::Tensor> logits;
    model->SetGenerator(MakeGenerator(at::kCPU, 1));
    other->SetGenerator(MakeGenerator(at::kCPU, 2));
    for (int pass = 0; pass < 2; ++pass) {
      // Batch statistics of the pass: they do not depend on those before it.
      logits.push_back(model->Forward(Image()).logits.detach());
      if (interleave) other->Forward(Image());
    }
    return at::stack(logits);
  };
  at::manual_seed(3);
  const at::Tensor untouched = at::rand({3});
  at::manual_seed(3);
  const at::Tensor alone = passes(false);
  EXPECT_THAT(passes(true), TensorEq(alone));
  EXPECT_THAT(alone[0], Not(TensorEq(alone[1])));
  EXPECT_THAT(at::rand({3}), TensorEq(untouched));
}

TEST_F(TorchScriptTest, GradientsReachTheImage) {
  for (const char* fields : {"", "head: 'fc'"}) {
    ASSERT_OK_AND_ASSIGN(const auto model, Make("traced", fields));
    model->eval();
    at::Tensor image = Image().clone().set_requires_grad(true);
    model->Forward(image).logits.sum().backward();
    EXPECT_GT(image.grad().abs().sum().item<double>(), 0);
  }
}

TEST_F(TorchScriptTest, TypesReachTheScript) {
  ASSERT_OK_AND_ASSIGN(const auto model, Make("logits", "head: 'fc'"));
  model->eval();
  model->to(at::kDouble);
  const ModelOutput output = model->Forward(Image().to(at::kDouble));
  EXPECT_EQ(output.logits.scalar_type(), at::kDouble);
  EXPECT_THAT(output.logits, TensorNear(golden_.at("logits"), 1e-5));
}

TEST_F(TorchScriptTest, OutputsAreChosenByPlace) {
  const at::Tensor expected = golden_.at("logits").index_select(1, at::tensor({3, 0, 4}));
  for (const char* fields : {"", "head: 'fc'", "features: true"}) {
    ASSERT_OK_AND_ASSIGN(const auto model, Make("features", absl::StrCat(fields, " output: [3, 0, 4]"), 3));
    EXPECT_THAT(OutputOf(model).logits, TensorNear(expected, 1e-5));
  }
}

void ExpectRefused(const absl::StatusOr<std::shared_ptr<Model>>& model, const std::string& name,
                   const std::string& what) {
  EXPECT_THAT(model, StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr(FileOf(name)), HasSubstr(what))));
}

TEST_F(TorchScriptTest, OutputsThatDontFitTheClasses) {
  ExpectRefused(Make("logits", "", 3), "logits",
                "gives 5 outputs for 3 known classes: list each known class's output position");
  ExpectRefused(Make("logits", "output: [0, 1]", 3), "logits", "lists 2 places for 3 known classes");
  ExpectRefused(Make("logits", "output: [0, 5, 1]", 3), "logits", "lists 5, but the script's outputs are 0 to 4");
  ExpectRefused(Make("logits", "output: [0, 1, 1]", 3), "logits", "lists 1 twice");
}

TEST_F(TorchScriptTest, RefusesInvalidHeads) {
  ExpectRefused(Make("logits", "head: 'fx'"), "logits", "did you mean 'fc'? (known: fc, hidden)");
  ExpectRefused(Make("logits", "head: 'hidden'"), "logits", "not the outputs of its module 'hidden', [3, 72]");
  ExpectRefused(Make("features", "head: 'hidden'"), "features", "not the outputs of its module 'hidden', [3, 72]");
  ExpectRefused(Make("log_probabilities", "head: 'fc'"), "log_probabilities",
                "it ends in a log_softmax, so save the network without it");
  ExpectRefused(Make("frozen", "head: 'fc'"), "frozen", "a frozen script has none");
}

TEST_F(TorchScriptTest, OutputsOfAnotherShape) {
  ExpectRefused(Make("dict"), "dict", "it must return logits [B, K] or (features [B, D], logits)");
  ExpectRefused(Make("logits", "features: true"), "logits", "gives logits, not (features, logits)");
}

// softmax(logits): reported before any other problem.
TEST_F(TorchScriptTest, ProbabilitiesAreNoLogits) {
  const std::string what = "ends in a softmax: its outputs for an image are never negative and sum to 1";
  ExpectRefused(Make("probabilities"), "probabilities", what);
  ExpectRefused(Make("probabilities", "head: 'fc'"), "probabilities", "save the network without its softmax");
  ExpectRefused(Make("probabilities", "output: [0, 1]", 3), "probabilities", what);
  EXPECT_THAT(Make("log_probabilities"), IsOk());  // their softmax is the network's
}

TEST_F(TorchScriptTest, FindsErrorsBeforeARun) {
  ExpectRefused(Make("two_images"), "two_images", "fails on images of [3, 1, 8, 8]");
  ExpectRefused(Make("two_images"), "two_images", "it accepts two images: its code has a fixed batch size");
  ExpectRefused(Make("nan"), "nan", "gives NaN for images of values from -1 to 1");
}

TEST_F(TorchScriptTest, RefusesImagesThatItCannotUse) {
  ExpectRefused(Make("logits", "", 5, "size: 9 channels: 1"), "logits",
                "fails on images of [2, 1, 9, 9] (the method's input, channels and size): RuntimeError: mat1 and mat2 "
                "shapes cannot be multiplied");
  ExpectRefused(Make("logits", "", 5, "size: 8 channels: 3"), "logits", "fails on images of [2, 3, 8, 8]");
}

TEST_F(TorchScriptTest, RefusesInvalidFiles) {
  RandomStream unused(1, "torch_script_test");
  const auto make = [&unused](const std::string& file, const std::string& sha256 = "") {
    ModelSpec spec;
    spec.mutable_torch_script()->set_file(file);
    if (!sha256.empty()) spec.mutable_torch_script()->set_sha256(sha256);
    return MakeModel(spec, InputSpecOf("size: 8 channels: 1"), 5, &unused).status();
  };
  EXPECT_THAT(make("/nowhere/model.pt"), IsNotFound("/nowhere/model.pt"));
  EXPECT_THAT(make("models/testdata/state_dict.pth"), IsInvalidArgument("holds Python objects without code"));
  EXPECT_THAT(make(FileOf("logits"), *Sha256HexOfFile(FileOf("logits"))), IsOk());
  EXPECT_THAT(make(FileOf("logits"), std::string(64, '0')), IsFailedPrecondition("has the SHA-256"));

  const std::string file = JoinPath(::testing::TempDir(), "broken.pt");
  const std::string content = *ReadFile(FileOf("logits"));
  ASSERT_THAT(WriteFileAtomically(file, "no archive"), IsOk());
  EXPECT_THAT(make(file), StatusIs(absl::StatusCode::kInvalidArgument, EndsWith("torch.jit.script(model).save(FILE)")));
  for (size_t size = 0; size < content.size(); size += content.size() / 20) {
    ASSERT_THAT(WriteFileAtomically(file, content.substr(0, size)), IsOk());
    EXPECT_THAT(make(file), IsInvalidArgument(file));
  }
}

}  // namespace
}  // namespace openset
