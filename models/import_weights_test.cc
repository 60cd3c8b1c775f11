#include "models/import_weights.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "gmock/gmock.h"
#include "models/make_model.h"
#include "models/testing/golden_outputs.h"
#include "models/testing/test_inputs.h"

namespace openset {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSmall[] = "osrci_cnn { feature_dim: 4 } head { linear {} }";

std::shared_ptr<Model> ModelOf(const std::string& spec, const std::string& input, int outputs, uint64_t seed = 1) {
  RandomStream random(seed, "import_weights_test");
  return *MakeModel(ModelSpecOf(spec), InputSpecOf(input), outputs, &random);
}

std::shared_ptr<Model> SmallModel(int outputs = 3, uint64_t seed = 1) {
  return ModelOf(kSmall, "size: 16 channels: 1", outputs, seed);
}

WeightsSpec SpecOf(const std::string& file) {
  WeightsSpec spec;
  spec.set_file(file);
  return spec;
}

WeightsSpec Skip() {
  WeightsSpec spec;
  spec.set_head(WeightsSpec::SKIP);
  return spec;
}

void ExpectState(const Model& model, const TensorMap& expected) {
  const TensorMap state = StateOf(model);
  ASSERT_EQ(state.size(), expected.size());
  for (const auto& [name, tensor] : expected) EXPECT_THAT(state.at(name), TensorEq(tensor)) << name;
}

// A ResNet-50 with torchvision's names and shapes, and values that both sides compute, on one image of 224x224.
TEST(ImportWeightsTest, AStateDictOfTorchvisionHasPyTorchsOutputs) {
  const auto table = ReadFile("models/testdata/torchvision_resnets.txt");
  ASSERT_THAT(table, IsOk());
  TensorMap given;
  for (const absl::string_view line : absl::StrSplit(*table, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words[0] != "resnet50") continue;
    std::vector<int64_t> shape;
    for (const absl::string_view extent : absl::StrSplit(words[2], 'x')) {
      if (extent != "scalar") shape.push_back(std::stoll(std::string(extent)));
    }
    given[words[1]] = at::empty(shape, shape.empty() ? at::kLong : at::kDouble);
  }
  ASSERT_EQ(given.size(), 320);
  FillWithSines(&given);

  const auto model = ModelOf("resnet_imagenet {} head { linear {} }", "size: 224", 1000);
  model->to(at::kDouble);
  ASSERT_THAT(ImportTensors(given, WeightsSpec(), model.get()), IsOk());
  model->eval();
  const at::NoGradGuard no_grad;
  const ModelOutput output = model->Forward(Sines({1, 3, 224, 224}, 0).contiguous(at::MemoryFormat::ChannelsLast));
  const auto golden = LoadTensors("models/testdata/resnet50_imported.safetensors");
  ASSERT_THAT(golden, IsOk());
  EXPECT_THAT(output.feature, TensorNear(golden->at("feature"), 1e-7));
  EXPECT_THAT(output.logits, TensorNear(golden->at("logits"), 1e-7));
}

// The names in openood/networks/resnet18_32x32.py.
TEST(ImportWeightsTest, AShortcutIsADownsample) {
  const std::string spec = "resnet_cifar { variant: RESNET18 } head { linear {} }";
  const auto trained = ModelOf(spec, "size: 32", 10, /*seed=*/2);
  TensorMap given;
  for (const auto& [name, tensor] : StateOf(*trained)) {
    given[absl::StrReplaceAll(name, {{"backbone.", ""}, {"head.", "fc."}, {".downsample.", ".shortcut."}})] = tensor;
  }
  ASSERT_TRUE(given.count("layer2.0.shortcut.0.weight"));
  const auto model = ModelOf(spec, "size: 32", 10);
  ASSERT_THAT(ImportTensors(given, WeightsSpec(), model.get()), IsOk());
  ExpectState(*model, StateOf(*trained));
}

// Files of the same network: our names in a TorchScript archive, names with "module." in safetensors and in a state
// dict of torch.save(), and a file that we write.
TEST(ImportWeightsTest, EveryFormatGivesTheSameModel) {
  const auto parallel = LoadTensors("models/testdata/osrci_cnn_parallel.safetensors");
  ASSERT_THAT(parallel, IsOk());
  TensorMap expected;
  for (const auto& [name, tensor] : *parallel) expected[absl::StrReplaceAll(name, {{"module.", ""}})] = tensor;
  const std::string ours = JoinPath(::testing::TempDir(), "ours.safetensors");
  ASSERT_THAT(SaveTensors(expected, {}, ours), IsOk());
  for (const std::string& file :
       {std::string("models/testdata/osrci_cnn_parallel.safetensors"),
        std::string("models/testdata/osrci_cnn_script.pt"), std::string("models/testdata/osrci_cnn_state.pth"), ours}) {
    const auto model = SmallModel();
    ASSERT_THAT(ImportWeights(SpecOf(file), model.get()), IsOk());
    ExpectState(*model, expected);
  }
}

TEST(ImportWeightsTest, OtherFloatingPointTypesAreConverted) {
  const TensorMap state = StateOf(*SmallModel(3, 2));
  for (const at::ScalarType type : {at::kHalf, at::kBFloat16, at::kDouble}) {
    TensorMap given, expected;
    for (const auto& [name, tensor] : state) expected[name] = (given[name] = tensor.to(type)).to(at::kFloat);
    const auto model = SmallModel();
    ASSERT_THAT(ImportTensors(given, WeightsSpec(), model.get()), IsOk());
    ExpectState(*model, expected);
  }
}

TEST(ImportWeightsTest, CountsOfBatchesMayBeMissing) {
  const auto other = ModelOf("vgg32 { width: 2 feature_dim: 2 } head { linear {} }", "size: 16", 3, 2);
  TensorMap given = StateOf(*other);
  for (auto entry = given.begin(); entry != given.end();) {
    entry = entry->first.find("num_batches") != std::string::npos ? given.erase(entry) : std::next(entry);
  }
  const auto model = ModelOf("vgg32 { width: 2 feature_dim: 2 } head { linear {} }", "size: 16", 3, 1);
  ASSERT_THAT(ImportTensors(given, WeightsSpec(), model.get()), IsOk());
  ExpectState(*model, StateOf(*other));  // the counts of both are 0
}

TEST(ImportWeightsTest, SkipLeavesTheHeadAlone) {
  TensorMap given = StateOf(*SmallModel(1000, 2));
  const auto model = SmallModel(3, 1);
  TensorMap expected = given;
  for (const char* name : {"head.weight", "head.bias"}) expected[name] = StateOf(*model).at(name);
  ASSERT_THAT(ImportTensors(given, Skip(), model.get()), IsOk());
  ExpectState(*model, expected);
  given.erase("head.weight");
  given.erase("head.bias");
  EXPECT_THAT(ImportTensors(given, Skip(), model.get()), IsOk());
}

TEST(ImportWeightsTest, ErrorsNameMismatchesAndAdvice) {
  const auto model = SmallModel(3, 1);
  const TensorMap before = StateOf(*model);
  EXPECT_THAT(ImportTensors(StateOf(*SmallModel(5)), WeightsSpec(), model.get()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the weights don't fit the model: 2 tensors are of another shape: 'head.bias' (Float [5], not "
                       "[3]), 'head.weight' (Float [5, 4], not [3, 4]). Set weights.head to SKIP to start with a new "
                       "head"));
  TensorMap given = StateOf(*SmallModel(3));
  given["fc.weight"] = given.at("head.weight");
  given.erase("backbone.conv1.bias");
  EXPECT_THAT(
      ImportTensors(given, WeightsSpec(), model.get()),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "the weights don't fit the model: 1 tensor is missing: 'backbone.conv1.bias'; 1 tensor is not of "
               "this model: 'fc.weight'. Is the backbone's configuration (variant, width, channels) that of the "
               "file?"));
  given = StateOf(*SmallModel(3));
  given["head.weight"] = given.at("head.weight").to(at::kInt);
  EXPECT_THAT(ImportTensors(given, WeightsSpec(), model.get()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'head.weight' (Int [3, 4], not [3, 4])")));
  EXPECT_THAT(ImportTensors(StateOf(*ModelOf("resnet_cifar {} head { linear {} }", "", 3)), WeightsSpec(), model.get()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(", ...; ")));
  ExpectState(*model, before);
}

// With foreign names, several mean the same tensor.
TEST(ImportWeightsTest, RefusesTwoNamesOfOneTensor) {
  const std::string network = "resnet_cifar { variant: RESNET18 } head { linear {} }";
  const auto model = ModelOf(network, "size: 32", 3, /*seed=*/1), trained = ModelOf(network, "size: 32", 3, /*seed=*/2);
  TensorMap given;
  for (const auto& [name, tensor] : StateOf(*trained)) {
    given[absl::StrReplaceAll(name, {{"backbone.", ""}, {"head.", "fc."}})] = tensor;
  }
  const auto import = [&](const std::string& second) {
    const TensorMap before = StateOf(*model);
    TensorMap with = given;
    with[second] = at::zeros({1});
    const absl::Status status = ImportTensors(with, WeightsSpec(), model.get());
    ExpectState(*model, before);
    return status;
  };
  EXPECT_THAT(import("classifier.weight"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "'classifier.weight' and 'fc.weight' both mean 'head.weight': ignore one of them "
                       "(weights.ignore)"));
  EXPECT_THAT(import("head.bias"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'fc.bias' and 'head.bias'")));
  EXPECT_THAT(import("layer2.0.shortcut.0.weight"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'layer2.0.downsample.0.weight' and 'layer2.0.shortcut.0.weight' both mean "
                                 "'backbone.layer2.0.downsample.0.weight'")));
  WeightsSpec spec;
  spec.add_ignore("classifier.*");
  given["classifier.weight"] = at::zeros({1});
  EXPECT_THAT(ImportTensors(given, spec, model.get()), IsOk());
  ExpectState(*model, StateOf(*trained));
}

TEST(ImportWeightsTest, LeavesOutAndRenames) {
  const auto model = SmallModel(3, 1), other = SmallModel(3, 2);
  TensorMap given;
  for (const auto& [name, tensor] : StateOf(*other)) {
    given[absl::StrCat("module.", absl::StrReplaceAll(name, {{"backbone.", "net.body."}, {"head.", "net.fc."}}))] =
        tensor;
  }
  given["module.bn10.weight"] = given["module.bn10.bias"] = at::ones({2});
  WeightsSpec spec;
  spec.add_ignore("bn10.*");
  RenameSpec* body = spec.add_rename();
  body->set_from("net.body.");
  body->set_to("backbone.");
  RenameSpec* head = spec.add_rename();
  head->set_from("net.fc.");
  head->set_to("head.");
  std::vector<std::string> ignored;
  ASSERT_THAT(ImportTensors(given, spec, model.get(), &ignored), IsOk());
  ExpectState(*model, StateOf(*other));
  EXPECT_THAT(ignored, testing::ElementsAre("bn10.bias", "bn10.weight"));

  spec.set_ignore(0, "bn11.*");
  EXPECT_THAT(ImportTensors(given, spec, model.get()),
              StatusIs(absl::StatusCode::kInvalidArgument, "ignore[0]: no tensor is called 'bn11.*'"));
  spec.set_ignore(0, "bn10.*");
  body->set_from("body.");
  EXPECT_THAT(ImportTensors(given, spec, model.get()),
              StatusIs(absl::StatusCode::kInvalidArgument, "rename[0]: the name of no tensor begins with 'body.'"));
  body->set_from("net.body.conv1.");
  body->set_to("net.body.conv2.");
  EXPECT_THAT(ImportTensors(given, spec, model.get()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("are both called 'net.body.conv2.")));
}

TEST(ImportWeightsTest, NamesTheFile) {
  const auto model = SmallModel();
  const std::string file = JoinPath(::testing::TempDir(), "weights");
  EXPECT_THAT(ImportWeights(SpecOf(file), model.get()), StatusIs(absl::StatusCode::kNotFound, HasSubstr(file)));
  for (const std::string& content : {std::string("no weights at all"), std::string(), std::string("PK\x03\x04")}) {
    ASSERT_THAT(WriteFileAtomically(file, content), IsOk());
    const absl::Status status = ImportWeights(SpecOf(file), model.get());
    EXPECT_THAT(status, Not(IsOk()));
    EXPECT_THAT(std::string(status.message()), HasSubstr(file));
  }
  const std::string pth = file + ".pth", safetensors = file + ".safetensors";
  for (const std::string& empty : {pth, safetensors}) {
    ASSERT_THAT(WriteFileAtomically(empty, ""), IsOk());
    EXPECT_THAT(ImportWeights(SpecOf(empty), model.get()), StatusIs(absl::StatusCode::kDataLoss, empty + ": is empty"));
  }
  // As torch.save() began its files before PyTorch 1.6.
  const std::string pickle("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
  ASSERT_THAT(WriteFileAtomically(pth, pickle), IsOk());
  EXPECT_THAT(ImportWeights(SpecOf(pth), model.get()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("weights.pth: is neither a safetensors file nor an archive of torch.save()")));
  ASSERT_THAT(WriteFileAtomically(safetensors, "short"), IsOk());
  EXPECT_THAT(ImportWeights(SpecOf(safetensors), model.get()),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("5 bytes are too few for a safetensors file")));
  // A linear layer's.
  EXPECT_THAT(
      ImportWeights(SpecOf("models/testdata/state_dict.pth"), model.get()),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("state_dict.pth: the weights don't fit the model")));
  WeightsSpec spec = SpecOf("models/testdata/osrci_cnn_parallel.safetensors");
  spec.set_sha256(*Sha256HexOfFile(spec.file()));
  EXPECT_THAT(ImportWeights(spec, model.get()), IsOk());
  spec.set_sha256(std::string(64, '0'));
  EXPECT_THAT(ImportWeights(spec, model.get()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("has the SHA-256")));
}

}  // namespace
}  // namespace openset
