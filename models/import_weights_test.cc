#include "models/import_weights.h"

#include <cmath>
#include <filesystem>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/formats/torch_file.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "models/make_model.h"
#include "models/testing/golden_outputs.h"
#include "models/testing/test_inputs.h"
#include "models/torch_script.h"

namespace openset {
namespace {

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
  ASSERT_OK_AND_ASSIGN(const auto table, ReadFile("models/testdata/torchvision_resnets.txt"));
  TensorMap given;
  for (const absl::string_view line : absl::StrSplit(table, '\n')) {
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
  ASSERT_OK_AND_ASSIGN(const auto golden, LoadTensors("models/testdata/resnet50_imported.safetensors"));
  EXPECT_THAT(output.feature, TensorNear(golden.at("feature"), 1e-7));
  EXPECT_THAT(output.logits, TensorNear(golden.at("logits"), 1e-7));
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

// Files of the same network: our names in a TorchScript archive, names with "module." in safetensors and in state
// dicts of torch.save(), now and before PyTorch 1.6, and a file that we write.
TEST(ImportWeightsTest, EveryFormatGivesTheSameModel) {
  ASSERT_OK_AND_ASSIGN(const auto parallel, LoadTensors("models/testdata/osrci_cnn_parallel.safetensors"));
  TensorMap expected;
  for (const auto& [name, tensor] : parallel) expected[absl::StrReplaceAll(name, {{"module.", ""}})] = tensor;
  const std::string ours = JoinPath(::testing::TempDir(), "ours.safetensors");
  ASSERT_THAT(SaveTensors(expected, {}, ours), IsOk());
  for (const std::string& file :
       {std::string("models/testdata/osrci_cnn_parallel.safetensors"),
        std::string("models/testdata/osrci_cnn_script.pt"), std::string("models/testdata/osrci_cnn_state.pth"),
        std::string("models/testdata/osrci_cnn_old.pth"), ours}) {
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
                       "[3]), 'head.weight' (Float [5, 4], not [3, 4]). The file's head has 5 outputs, the split has 3 "
                       "known classes. List the position of each known class among the file's outputs in "
                       "weights.output (openset score: --outputs), or, for a training, set weights.head to SKIP to "
                       "start with a new head"));
  TensorMap given = StateOf(*SmallModel(3));
  given["fc.weight"] = given.at("head.weight");
  given.erase("backbone.conv1.bias");
  EXPECT_THAT(
      ImportTensors(given, WeightsSpec(), model.get()),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "the weights don't fit the model: 1 tensor is missing: 'backbone.conv1.bias'; 1 tensor is not of "
               "this model: 'fc.weight'. Does the backbone's configuration (variant, width, channels) match "
               "the file?"));
  given = StateOf(*SmallModel(3));
  given["head.weight"] = given.at("head.weight").to(at::kInt);
  EXPECT_THAT(ImportTensors(given, WeightsSpec(), model.get()),
              IsInvalidArgument("'head.weight' (Int [3, 4], not [3, 4])"));
  EXPECT_THAT(ImportTensors(StateOf(*ModelOf("resnet_cifar {} head { linear {} }", "", 3)), WeightsSpec(), model.get()),
              IsInvalidArgument(", ...; "));
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
  EXPECT_THAT(import("head.bias"), IsInvalidArgument("'fc.bias' and 'head.bias'"));
  EXPECT_THAT(import("layer2.0.shortcut.0.weight"),
              IsInvalidArgument("'layer2.0.downsample.0.weight' and 'layer2.0.shortcut.0.weight' both mean "
                                "'backbone.layer2.0.downsample.0.weight'"));
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
  ImportNotes notes;
  ASSERT_THAT(ImportTensors(given, spec, model.get(), &notes), IsOk());
  ExpectState(*model, StateOf(*other));
  EXPECT_THAT(notes.ignored, testing::ElementsAre("bn10.bias", "bn10.weight"));

  spec.set_ignore(0, "bn11.*");
  EXPECT_THAT(ImportTensors(given, spec, model.get()),
              StatusIs(absl::StatusCode::kInvalidArgument, "ignore[0]: no tensor is called 'bn11.*'"));
  spec.set_ignore(0, "bn10.*");
  body->set_from("body.");
  EXPECT_THAT(ImportTensors(given, spec, model.get()),
              StatusIs(absl::StatusCode::kInvalidArgument, "rename[0]: the name of no tensor begins with 'body.'"));
  body->set_from("net.body.conv1.");
  body->set_to("net.body.conv2.");
  EXPECT_THAT(ImportTensors(given, spec, model.get()), IsInvalidArgument("are both called 'net.body.conv2."));
}

// The names that Lightning, wrappers, torch.compile() and nested ones of these give.
TEST(ImportWeightsTest, APrefixThatAllNamesShareIsLeftOut) {
  const TensorMap state = StateOf(*SmallModel(3, 2));
  for (const std::string prefix :
       {"model.", "net.", "_orig_mod.", "model.module.", "module._orig_mod.model.", "a.b.c."}) {
    TensorMap given;
    for (const auto& [name, tensor] : state) given[prefix + name] = tensor;
    const auto model = SmallModel();
    ImportNotes notes;
    ASSERT_THAT(ImportTensors(given, WeightsSpec(), model.get(), &notes), IsOk()) << prefix;
    ExpectState(*model, state);
    const std::string left_out = absl::StartsWith(prefix, "module.") ? prefix.substr(7) : prefix;
    EXPECT_THAT(notes.lines, ElementsAre(absl::StrCat("all names begin with '", left_out, "', which is left out")));
  }
  // With the names of torchvision.
  const std::string resnet = "resnet_cifar { variant: RESNET18 } head { linear {} }";
  const TensorMap trained = StateOf(*ModelOf(resnet, "size: 32", 3, /*seed=*/2));
  TensorMap theirs;
  for (const auto& [name, tensor] : trained) {
    theirs["model." + absl::StrReplaceAll(name, {{"backbone.", ""}, {"head.", "fc."}})] = tensor;
  }
  const auto other = ModelOf(resnet, "size: 32", 3);
  ASSERT_THAT(ImportTensors(theirs, WeightsSpec(), other.get()), IsOk());
  ExpectState(*other, trained);
  // Without one, and with the prefix of DataParallel, there is nothing to say.
  for (const std::string prefix : {"", "module."}) {
    TensorMap given;
    for (const auto& [name, tensor] : state) given[prefix + name] = tensor;
    const auto model = SmallModel();
    ImportNotes notes;
    ASSERT_THAT(ImportTensors(given, WeightsSpec(), model.get(), &notes), IsOk());
    EXPECT_THAT(notes.lines, IsEmpty());
  }
}

// torch.optim.swa_utils.AveragedModel.
TEST(ImportWeightsTest, TheCounterOfAnAveragedModelIsLeftOut) {
  const TensorMap state = StateOf(*SmallModel(3, 2));
  TensorMap given;
  for (const auto& [name, tensor] : state) given["module." + name] = tensor;
  given["n_averaged"] = at::scalar_tensor(3, at::kLong);
  const auto model = SmallModel();
  ImportNotes notes;
  ASSERT_THAT(ImportTensors(given, WeightsSpec(), model.get(), &notes), IsOk());
  ExpectState(*model, state);
  EXPECT_THAT(notes.lines, ElementsAre("'n_averaged', which counts averaged networks, is left out"));
}

// Patterns and renamings may be for the complete names or for those without the prefix.
TEST(ImportWeightsTest, IgnoresAndRenamesWithAndWithoutAPrefix) {
  const TensorMap state = StateOf(*SmallModel(3, 2));
  TensorMap given;
  for (const auto& [name, tensor] : state) given["model." + absl::StrReplaceAll(name, {{"head.", "top."}})] = tensor;
  given["model.criterion.weight"] = at::ones({2});
  for (const std::string prefix : {"model.", ""}) {
    WeightsSpec spec;
    spec.add_ignore(prefix + "criterion.*");
    spec.add_rename()->set_from(prefix + "top.");
    spec.mutable_rename(0)->set_to(prefix + "head.");
    const auto model = SmallModel();
    ASSERT_THAT(ImportTensors(given, spec, model.get()), IsOk()) << prefix;
    ExpectState(*model, state);
  }
}

TEST(ImportWeightsTest, NamesTheTensorsOutsideOfAPrefix) {
  const TensorMap state = StateOf(*SmallModel(3, 2));
  TensorMap given;
  for (const auto& [name, tensor] : state) given["model." + name] = tensor;
  given["criterion.weight"] = at::ones({3});
  const auto model = SmallModel();
  EXPECT_THAT(ImportTensors(given, WeightsSpec(), model.get()),
              IsInvalidArgument("8 of the 9 names begin with 'model.', which is left out if all do: ignore the others "
                                "('criterion.weight') with weights.ignore in a method file"));
  WeightsSpec spec;
  spec.add_ignore("criterion.*");
  EXPECT_THAT(ImportTensors(given, spec, model.get()), IsOk());
  ExpectState(*model, state);
}

TEST(ImportWeightsTest, SomeOutputsOfAHead) {
  const TensorMap five = StateOf(*SmallModel(5, 2));
  const auto model = SmallModel(3);
  WeightsSpec spec;
  for (const int place : {4, 0, 2}) spec.add_output(place);
  ASSERT_THAT(ImportTensors(five, spec, model.get()), IsOk());
  TensorMap expected = five;
  for (const char* name : {"head.weight", "head.bias"}) {
    const at::Tensor& all = five.at(name);
    expected[name] = at::stack({all[4], all[0], all[2]});
  }
  ExpectState(*model, expected);
  const auto refusal = [&](const std::vector<int>& places) {
    spec.mutable_output()->Assign(places.begin(), places.end());
    return ImportTensors(five, spec, model.get());
  };
  EXPECT_THAT(refusal({0, 1}),
              StatusIs(absl::StatusCode::kInvalidArgument, "weights.output lists 2 places for 3 known classes"));
  EXPECT_THAT(refusal({0, 1, 5}), StatusIs(absl::StatusCode::kInvalidArgument,
                                           "weights.output lists 5, but the file's outputs are 0 to 4"));
  EXPECT_THAT(refusal({0, 1, 0}), StatusIs(absl::StatusCode::kInvalidArgument, "weights.output lists 0 twice"));
  TensorMap headless = five;
  headless.erase("head.weight");
  EXPECT_THAT(ImportTensors(headless, spec, model.get()), IsInvalidArgument("weights.output (--outputs) is for"));
  spec.set_head(WeightsSpec::SKIP);
  EXPECT_THAT(ImportTensors(five, spec, model.get()), IsInvalidArgument("not for weights.head SKIP"));
  ExpectState(*model, expected);
}

TEST(ImportWeightsTest, WeightsAreFinite) {
  for (const double wrong : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    TensorMap given = StateOf(*SmallModel(3, 2));
    given["backbone.conv2.bias"] = given["backbone.conv2.bias"].clone();
    given["backbone.conv2.bias"][7] = wrong;
    const auto model = SmallModel();
    const TensorMap before = StateOf(*model);
    EXPECT_THAT(ImportTensors(given, WeightsSpec(), model.get()),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "the weights contain values that are NaN or infinite, in 1 tensor: 'backbone.conv2.bias' (1 "
                         "of 20 values). The training that wrote them diverged, or the file is damaged"));
    ExpectState(*model, before);
  }
  // A value that float32 can't hold.
  TensorMap given;
  for (const auto& [name, tensor] : StateOf(*SmallModel(3, 2))) given[name] = tensor.to(at::kDouble);
  given["head.bias"][0] = 1e300;
  EXPECT_THAT(ImportTensors(given, WeightsSpec(), SmallModel().get()),
              IsInvalidArgument("'head.bias' (1 of 3 values)"));
}

// The file has zeros under "state_dict", and the network of the other files under "state_dict_ema" with the prefix
// "model.module.".
TEST(ImportWeightsTest, AKeyChoosesAmongSeveralDicts) {
  ASSERT_OK_AND_ASSIGN(const auto parallel, LoadTensors("models/testdata/osrci_cnn_parallel.safetensors"));
  TensorMap expected, zeros;
  for (const auto& [name, tensor] : parallel) {
    expected[absl::StrReplaceAll(name, {{"module.", ""}})] = tensor;
    zeros[absl::StrReplaceAll(name, {{"module.", ""}})] = at::zeros_like(tensor);
  }
  WeightsSpec spec = SpecOf("models/testdata/osrci_cnn_ema.pth");
  const auto model = SmallModel();
  ImportNotes notes;
  ASSERT_THAT(ImportWeights(spec, model.get(), &notes), IsOk());
  ExpectState(*model, zeros);
  EXPECT_THAT(notes.lines, ElementsAre("those under 'state_dict' are used; there are others under 'state_dict_ema' "
                                       "(weights.key; openset score: --key)"));
  spec.set_key("state_dict_ema");
  ASSERT_THAT(ImportWeights(spec, model.get()), IsOk());
  ExpectState(*model, expected);
  spec.set_key("ema");
  EXPECT_THAT(ImportWeights(spec, model.get()), IsInvalidArgument("no dict of tensors under the key 'ema'"));
  spec.set_file("models/testdata/osrci_cnn_parallel.safetensors");
  EXPECT_THAT(ImportWeights(spec, model.get()), IsInvalidArgument("is a safetensors file, which has no keys"));
}

// The archive's code writes a file when LibTorch loads it.
TEST(ImportWeightsTest, NoCodeOfAnArchiveRuns) {
  ASSERT_OK_AND_ASSIGN(const std::string archive, ReadFile("models/testdata/script_setstate.pt"));
  for (const std::string name : {"code.pth", "code.pt", "code.bin", "code", "code.safetensors"}) {
    const std::string file = JoinPath(::testing::TempDir(), name);
    ASSERT_THAT(WriteFileAtomically(file, archive), IsOk());
    EXPECT_THAT(ImportWeights(SpecOf(file), SmallModel().get()),
                IsInvalidArgument(name == "code.safetensors" ? "not a safetensors file as its name says"
                                                             : "its code defines __setstate__"));
    EXPECT_FALSE(FileExists("written_by_setstate"));
  }
  // Loading it as a network does, so that this test can fail.
  const absl::StatusOr<torch::jit::Module> script = ReadScript(archive);
  EXPECT_THAT(script, IsOk());
  EXPECT_TRUE(FileExists("written_by_setstate"));
  std::filesystem::remove("written_by_setstate");
}

// Batch norm's buffers are among the tensors of a real archive.
TEST(ImportWeightsTest, ReadsBuffersOfTorchScript) {
  ASSERT_OK_AND_ASSIGN(const std::string archive, ReadFile("models/testdata/script_logits.pt"));
  ASSERT_OK_AND_ASSIGN(const TorchTensors read, DecodeTorchFile(archive));
  ASSERT_OK_AND_ASSIGN(const torch::jit::Module script, ReadScript(archive));
  TensorMap expected;
  for (const auto& parameter : script.named_parameters()) expected[parameter.name] = parameter.value.detach();
  for (const auto& buffer : script.named_buffers()) expected[buffer.name] = buffer.value.detach();
  ASSERT_EQ(read.arrays.size(), expected.size());
  EXPECT_EQ(expected.count("bn.running_var"), 1);
  for (const auto& [name, tensor] : expected) {
    ASSERT_EQ(read.arrays.count(name), 1) << name;
    const OwnedArray& array = read.arrays.at(name);
    EXPECT_THAT(TensorOf({array.type, array.shape, array.data}), TensorEq(tensor)) << name;
  }
  EXPECT_THAT(DecodeTorchFile(*ReadFile("models/testdata/script_frozen.pt")).status(),
              IsInvalidArgument("torch.save(model.state_dict()"));
}

TEST(ImportWeightsTest, NamesTheFile) {
  const auto model = SmallModel();
  const std::string file = JoinPath(::testing::TempDir(), "weights");
  EXPECT_THAT(ImportWeights(SpecOf(file), model.get()), IsNotFound(file));
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
              IsDataLoss("weights.pth: not a valid pickle, at byte 0: it ends"));
  ASSERT_THAT(WriteFileAtomically(pth, "no weights at all"), IsOk());
  EXPECT_THAT(ImportWeights(SpecOf(pth), model.get()),
              IsInvalidArgument("weights.pth: is neither a safetensors file nor a file of torch.save()"));
  ASSERT_THAT(WriteFileAtomically(safetensors, "short"), IsOk());
  EXPECT_THAT(ImportWeights(SpecOf(safetensors), model.get()),
              IsDataLoss("5 bytes are too few for a safetensors file"));
  // A linear layer's.
  EXPECT_THAT(ImportWeights(SpecOf("models/testdata/state_dict.pth"), model.get()),
              IsInvalidArgument("state_dict.pth: the weights don't fit the model"));
  WeightsSpec spec = SpecOf("models/testdata/osrci_cnn_parallel.safetensors");
  spec.set_sha256(*Sha256HexOfFile(spec.file()));
  EXPECT_THAT(ImportWeights(spec, model.get()), IsOk());
  spec.set_sha256(std::string(64, '0'));
  EXPECT_THAT(ImportWeights(spec, model.get()), IsFailedPrecondition("has the SHA-256"));
}

}  // namespace
}  // namespace openset
