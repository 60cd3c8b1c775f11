#include "experiments/infer/inference.h"

#include <filesystem>
#include <limits>

#include "core/files/files.h"
#include "core/machine/machine.h"
#include "core/proto/proto_digest.h"
#include "core/proto/proto_rules.h"
#include "core/random.h"
#include "core/tensor/torch_script.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "data/testing/damage.h"
#include "experiments/spec/method.proto.h"
#include "experiments/train/checkpoint.h"
#include "models/make_model.h"

namespace openset {
namespace {

PassesAtOnce Measured(int64_t free, int64_t used, int64_t peak) {
  PassesAtOnce passes({[=] { return free; }, [=] { return used; }, [=] { return peak; }});
  EXPECT_EQ(passes.Count(8), 1);
  passes.Begin();
  passes.End();
  return passes;
}

TEST(PassesAtOnce, TakeHalfOfTheFreeMemory) {
  // A pass takes 300; two more fit into 600.
  EXPECT_EQ(Measured(/*free=*/1200, /*used=*/100, /*peak=*/400).Count(8), 3);
  EXPECT_EQ(Measured(1199, 100, 400).Count(8), 2);
  EXPECT_EQ(Measured(1200, 100, 400).Count(2), 2);
  EXPECT_EQ(Measured(599, 100, 400).Count(8), 1);
  EXPECT_EQ(Measured(0, 100, 400).Count(8), 1);
}

TEST(PassesAtOnce, UseAllCpusWhereMemoryIsUnknown) {
  EXPECT_EQ(Measured(int64_t{1} << 62, 100, 100).Count(64), 64);
  EXPECT_EQ(Measured(int64_t{1} << 62, 100, 50).Count(0), 1);
}

TEST(PassesAtOnce, OnlyTheFirstPassIsMeasured) {
  int64_t peak = 200;
  PassesAtOnce passes({[] { return 1000; }, [] { return 100; }, [&] { return peak; }});
  for (; peak < 1000; peak += 400) {
    passes.Begin();
    passes.End();
    EXPECT_EQ(passes.Count(8), 6);  // 100 each
  }
}

TEST(PassesAtOnce, MeasuresThisProcess) {
  PassesAtOnce passes;
  passes.Begin();
  constexpr int64_t kBytes = 64 << 20;
  const std::vector<char> memory(kBytes, 1);
  passes.End();
  EXPECT_EQ(memory.back(), 1);
  // Kernels count memory in batches.
  EXPECT_LE(passes.Count(std::numeric_limits<int>::max()), 1 + (MachineMemoryMb() << 20) / 2 / (kBytes * 9 / 10));
}

constexpr int kSize = 16;

// Six 16x16 images of three classes (a b c a b c). Image i has the value 40 i, except for the corner, which is 255.
std::string ImageFile() {
  std::string content;
  for (int i = 0; i < 6; ++i) {
    content.push_back(static_cast<char>(i % 3));
    content.append(kSize * kSize, static_cast<char>(40 * i));
    content[content.size() - kSize * kSize] = static_cast<char>(255);
  }
  return content;
}

// The same as the network sees it: (x / 255 - 0.5) / 0.25.
at::Tensor Images(const std::vector<int>& which) {
  std::vector<at::Tensor> images;
  for (const int i : which) {
    at::Tensor image = at::full({1, kSize, kSize}, 40.0 * i);
    image[0][0][0] = 255;
    images.push_back((image / 255 - 0.5) / 0.25);
  }
  return at::stack(images);
}

class InferenceTest : public ::testing::Test {
 protected:
  InferenceTest() : images_(ToyCatalog(), {::testing::TempDir()}) {
    WriteTestFile("toy.bin", ImageFile());
    // Classes c and a are known, in this order; b is unknown.
    train_ = ParsedWithDefaults<TrainAction>(R"(
        model { osrci_cnn { feature_dim: 4 } head { linear {} } }
        input { size: 16 channels: 1 mean: 0.5 std: 0.25 }
        data { data_set: "toy" part: "train" class_id: [2, 0] }
        seed: 3)");
    action_ = ParsedWithDefaults<InferAction>(R"(
        inference { plain {} }
        known { data_set: "toy" part: "train" class_id: [2, 0] }
        unknown { name: "odd" selection { data_set: "toy" part: "train" class_id: 1 } })");
    std::filesystem::remove_all(store_.folder());
  }

  static Catalog ToyCatalog() {
    return Catalog({ParsedWithDefaults<DataSetInfo>(R"(
        name: "toy" class_name: ["a", "b", "c"] channels: 1 height: 16 width: 16
        layout { part { name: "train" samples: 6 samples_per_class: 2 cifar_binary { file { path: "toy.bin" } } } })")});
  }

  ActionContext ContextOf(const std::string& key) {
    return {key, {}, store_, at::kCPU, &images_, [this](const WorkProgress& p) { progress_.push_back(p.fraction()); }};
  }

  ActionSpec Training() const {
    ActionSpec spec;
    *spec.mutable_train() = train_;
    return spec;
  }

  // Of the network of Training().
  ActionSpec SpecOf(const InferAction& action) const {
    ActionSpec spec;
    ActionInput* model = spec.add_input();
    model->set_role(ActionInput::MODEL);
    model->set_key(MessageDigest(Training()));
    *spec.mutable_infer() = action;
    return spec;
  }
  std::string KeyOf(const InferAction& action) const { return MessageDigest(SpecOf(action)); }

  // Stores a random network as the checkpoint of the training.
  std::shared_ptr<Model> CommitNetwork() {
    RandomStream random(train_.seed(), "inference_test");
    std::shared_ptr<Model> model = MakeModel(train_.model(), train_.input(), 2, &random).value();
    TrainSummary summary;
    *summary.mutable_action() = Training();
    summary.mutable_provenance()->set_key(MessageDigest(Training()));
    summary.mutable_provenance()->set_stage(StageProvenance::TRAIN);
    EXPECT_THAT(CommitCheckpoint(*model, summary, ContextOf(MessageDigest(Training()))), IsOk());
    model->eval();
    return model;
  }

  Outputs OutputsOf(const InferAction& action) {
    const absl::StatusOr<Outputs> outputs = ReadOutputs(JoinPath(store_.OutputsFolder(KeyOf(action)), kOutputsFile));
    EXPECT_THAT(outputs, IsOk());
    return outputs.value_or(Outputs());
  }

  absl::Status RunInference(const std::vector<InferAction>& actions) {
    std::vector<InferRequest> requests;
    for (const InferAction& action : actions) requests.push_back({KeyOf(action), SpecOf(action)});
    return Infer(requests, ContextOf(requests[0].key));
  }

  static at::Tensor Table(const std::vector<float>& values, int64_t columns) {
    return at::tensor(values).view({-1, columns});
  }

  TrainAction train_;
  InferAction action_;
  const Store store_{JoinPath(::testing::TempDir(), "inference_store")};
  ImageCache images_;
  std::vector<double> progress_;
};

// Shifted images of class a are known samples after the others, with the given label.
TEST_F(InferenceTest, ShiftedSamplesAreKnown) {
  const std::shared_ptr<Model> model = CommitNetwork();
  *action_.add_shifted() =
      ParsedWithDefaults<ShiftedGroup>("name: 'art' selection { data_set: 'toy' part: 'train' class_id: 0 label: 1 }");
  ASSERT_THAT(RunInference({action_}), IsOk());
  const Outputs outputs = OutputsOf(action_);
  EXPECT_THAT(outputs.label, ElementsAre(1, 0, 1, 0, -1, -1, 1, 1));
  EXPECT_THAT(outputs.class_id, ElementsAre(0, 2, 0, 2, 1, 1, 0, 0));
  EXPECT_THAT(outputs.group, ElementsAre(-1, -1, -1, -1, 0, 0, -1, -1));
  const c10::InferenceMode inference;
  EXPECT_THAT(Table(outputs.logits, 2), TensorNear(model->Forward(Images({0, 2, 3, 5, 1, 4, 0, 3})).logits, 1e-5));
  EXPECT_EQ(progress_.back(), 1);
}

// Their corner is cropped off otherwise.
TEST_F(InferenceTest, ImagesAsStoredAreNotCropped) {
  train_.mutable_input()->set_test_shorter_side(24);
  const std::shared_ptr<Model> model = CommitNetwork();
  *action_.add_shifted() = ParsedWithDefaults<ShiftedGroup>(
      "name: 'art' selection { data_set: 'toy' part: 'train' class_id: 0 label: 1 as_stored: true }");
  ASSERT_THAT(RunInference({action_}), IsOk());
  const c10::InferenceMode inference;
  const at::Tensor logits = Table(OutputsOf(action_).logits, 2), stored = model->Forward(Images({0, 3})).logits;
  EXPECT_THAT(logits.slice(0, 6), TensorNear(stored, 1e-5));
  EXPECT_THAT(logits[0], Not(TensorNear(stored[0], 1e-4)));
}

TEST_F(InferenceTest, StoresValuesOfStagesOnRequest) {
  const std::shared_ptr<Model> model = CommitNetwork();
  ASSERT_THAT(RunInference({action_}), IsOk());
  EXPECT_TRUE(OutputsOf(action_).stage_values.empty());
  action_.mutable_inference()->mutable_stage_values();
  FillDefaults(&action_);
  ASSERT_THAT(RunInference({action_}), IsOk());
  const Outputs outputs = OutputsOf(action_);
  EXPECT_THAT(outputs.stage_widths, ElementsAre(10, 20));
  const c10::InferenceMode inference;
  std::vector<at::Tensor> maps;
  model->ForwardFrom(0, Images({0, 2, 3, 5, 1, 4}), &maps);
  EXPECT_THAT(Table(outputs.stage_values, 30),
              TensorNear(at::cat({maps[0].mean({2, 3}), maps[1].mean({2, 3})}, 1), 1e-5));
}

// Classes in the selection's order, samples in the file's: known are images 0 2 3 5 of classes a c a c.
TEST_F(InferenceTest, OutputsAreThoseOfTheModelForEachImage) {
  const std::shared_ptr<Model> model = CommitNetwork();
  ASSERT_THAT(RunInference({action_}), IsOk());
  const Outputs outputs = OutputsOf(action_);
  EXPECT_THAT(outputs.label, ElementsAre(1, 0, 1, 0, -1, -1));
  EXPECT_THAT(outputs.class_id, ElementsAre(0, 2, 0, 2, 1, 1));
  EXPECT_THAT(outputs.group, ElementsAre(-1, -1, -1, -1, 0, 0));
  EXPECT_THAT(outputs.group_names, ElementsAre("odd"));
  EXPECT_TRUE(outputs.prediction.empty());

  const c10::InferenceMode inference;
  const ModelOutput expected = model->Forward(Images({0, 2, 3, 5, 1, 4}));
  EXPECT_THAT(Table(outputs.logits, 2), TensorNear(expected.logits, 1e-5));
  EXPECT_THAT(Table(outputs.features, 4), TensorNear(expected.feature, 1e-5));
  // The outputs differ between images.
  EXPECT_THAT(Table(outputs.logits, 2)[0], Not(TensorNear(Table(outputs.logits, 2)[1], 1e-4)));
  // The weights that scores need from a linear head.
  EXPECT_THAT(at::matmul(Table(outputs.features, 4), Table(outputs.head_weight, 4).t()) + at::tensor(outputs.head_bias),
              TensorNear(expected.logits, 1e-5));
  EXPECT_EQ(progress_.back(), 1);
}

// A TorchScript network of 16x16 images, with two logits.
std::shared_ptr<Model> ScriptNetwork(ModelSpec* spec) {
  torch::jit::Module script("__torch__.Network");
  script.register_parameter("kernel", at::linspace(-1, 2, 4 * 9).view({4, 1, 3, 3}), /*is_buffer=*/false);
  script.register_parameter("weight", at::linspace(2, -1, 8).view({2, 4}), /*is_buffer=*/false);
  script.define(
      "def forward(self, x):\n"
      "  x = torch.conv2d(x, self.kernel).sigmoid().mul(1.7).tanh()\n"
      "  return torch.mm(x.mean([2, 3]), self.weight.t())\n");
  spec->Clear();
  spec->mutable_torch_script()->set_file(JoinPath(::testing::TempDir(), "network.pt"));
  script.save(spec->torch_script().file());
  RandomStream unused(1, "inference_test");
  InputSpec input;
  input.set_size(kSize);
  input.set_channels(1);
  absl::StatusOr<std::shared_ptr<Model>> model = MakeModel(*spec, input, 2, &unused);
  EXPECT_THAT(model, IsOk());
  return *std::move(model);
}

TEST_F(InferenceTest, SeveralBatchesAtOnceGiveTheBitsOfOneAfterTheOther) {
  // 2,097 images, of which 1,398 are known: six batches. The first one passes alone.
  std::string content;
  for (int i = 0; i < 2097; ++i) {
    content.push_back(static_cast<char>(i % 3));
    for (int p = 0; p < kSize * kSize; ++p) content.push_back(static_cast<char>(i * 31 + p * 7));
  }
  WriteTestFile("many.bin", content);
  const Catalog catalog({ParsedWithDefaults<DataSetInfo>(R"(
      name: "many" class_name: ["a", "b", "c"] channels: 1 height: 16 width: 16
      layout { part { name: "train" samples: 2097 samples_per_class: 699 cifar_binary { file { path: "many.bin" } } } })")});
  ImageCache images(catalog, {::testing::TempDir()});
  action_.mutable_known()->set_data_set("many");
  action_.clear_unknown();
  ActionContext context = ContextOf("many");
  context.images = &images;
  for (const bool is_script : {false, true}) {
    const std::vector<std::shared_ptr<Model>> models = {is_script ? ScriptNetwork(train_.mutable_model())
                                                                  : CommitNetwork()};
    context.cpu_slots = [] { return 1; };
    ASSERT_OK_AND_ASSIGN(const Outputs alone, CollectOutputs(action_, train_, models, context));
    ASSERT_EQ(alone.label.size(), 1398);
    int asked = 0;
    const std::vector<std::function<int()>> cpus = {[] { return 2; }, [] { return 8; }, [&asked] { return ++asked; }};
    for (const std::function<int()>& slots : cpus) {
      context.cpu_slots = slots;
      ASSERT_OK_AND_ASSIGN(const Outputs parallel, CollectOutputs(action_, train_, models, context));
      EXPECT_EQ(parallel.logits, alone.logits) << is_script;
      EXPECT_EQ(parallel.features, alone.features) << is_script;
      EXPECT_EQ(parallel.label, alone.label) << is_script;
    }
  }
}

TEST_F(InferenceTest, JointRequestsEqualSeparateOnes) {
  CommitNetwork();
  std::vector<InferAction> actions(2, action_);
  for (int i = 0; i < 2; ++i) {
    InputPerturbationSpec* perturbation = actions[i].mutable_inference()->mutable_input_perturbation();
    perturbation->set_epsilon(0.01 * i);
    perturbation->set_temperature(10);
    FillDefaults(&actions[i]);
  }
  ASSERT_THAT(RunInference(actions), IsOk());
  const Outputs first = OutputsOf(actions[0]), second = OutputsOf(actions[1]);
  EXPECT_NE(first.logits, second.logits);
  std::filesystem::remove_all(store_.folder());
  CommitNetwork();
  for (int i = 0; i < 2; ++i) {
    ASSERT_THAT(RunInference({actions[i]}), IsOk());
    EXPECT_EQ(OutputsOf(actions[i]).logits, (i == 0 ? first : second).logits);
  }
}

TEST_F(InferenceTest, TheSummaryDescribesTheInference) {
  CommitNetwork();
  ASSERT_THAT(RunInference({action_}), IsOk());
  ASSERT_OK_AND_ASSIGN(const InferSummary summary, store_.LoadInferSummary(KeyOf(action_)));
  EXPECT_EQ(MessageDigest(summary.action()), KeyOf(action_));
  EXPECT_EQ(summary.outputs_sha256().size(), 64);
}

// The unified benchmark's OpenMax is fitted to the logits of a pass in training mode, and tested on logits of
// evaluation mode with the statistics that this pass has changed. All four training images are in one batch here, so
// that their order doesn't matter.
TEST_F(InferenceTest, APassInTrainingModeMovesTheStatistics) {
  *train_.mutable_model() = ParsedWithDefaults<ModelSpec>("resnet_cifar { width: 2 } head { linear {} }");
  const std::shared_ptr<Model> model = CommitNetwork();
  InferAction passed = action_, fit = action_;
  passed.mutable_inference()->mutable_train_mode_pass();
  FillDefaults(&passed);
  fit = passed;
  fit.clear_unknown();
  passed.mutable_known()->clear_class_id();  // other images than the training's
  passed.mutable_known()->add_class_id(0);
  ASSERT_THAT(RunInference({action_}), IsOk());
  ASSERT_THAT(RunInference({fit}), IsOk());
  ASSERT_THAT(RunInference({passed}), IsOk());
  const Outputs plain = OutputsOf(action_), of_fit = OutputsOf(fit), of_test = OutputsOf(passed);

  const c10::NoGradGuard no_grad;
  model->train(true);
  const at::Tensor in_training_mode = model->Forward(Images({0, 2, 3, 5})).logits;
  model->train(false);
  const at::Tensor after_it = model->Forward(Images({0, 3, 1, 4})).logits;
  EXPECT_THAT(Table(of_fit.logits, 2), TensorNear(in_training_mode, 1e-4));
  EXPECT_THAT(of_fit.label, ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(of_fit.class_id, ElementsAre(0, 2, 0, 2));
  EXPECT_TRUE(of_fit.features.empty());
  EXPECT_THAT(Table(of_test.logits, 2), TensorNear(after_it, 1e-4));
  EXPECT_THAT(of_test.label, ElementsAre(0, 0, -1, -1));
  // Both differ from the outputs of the trained network.
  EXPECT_THAT(Table(plain.logits, 2).slice(0, 0, 4), Not(TensorNear(in_training_mode, 1e-2)));
  EXPECT_THAT(Table(plain.logits, 2).slice(0, 4, 6), Not(TensorNear(after_it.slice(0, 2, 4), 1e-2)));
  // A repetition gives the same.
  std::filesystem::remove_all(store_.OutputsFolder(KeyOf(fit)));
  ASSERT_THAT(RunInference({fit}), IsOk());
  EXPECT_EQ(OutputsOf(fit).logits, of_fit.logits);
}

TEST_F(InferenceTest, NamesWhatIsMissing) {
  EXPECT_THAT(RunInference({action_}), StatusIs(absl::StatusCode::kNotFound));
  CommitNetwork();
  InferAction other = action_;
  other.mutable_known()->set_data_set("other");
  EXPECT_THAT(RunInference({other}), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_FALSE(*store_.HasOutputs(KeyOf(other)));
}

}  // namespace
}  // namespace openset
