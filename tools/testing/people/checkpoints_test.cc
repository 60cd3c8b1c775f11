// Files of weights that people gave to openset score, and what came instead of weights.
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/files/files.h"
#include "core/files/formats/safetensors.h"
#include "core/files/runfiles.h"
#include "tools/testing/people/situation.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

// The first three classes are known; the network of models/testdata/osrci_cnn_* has three outputs.
constexpr char kTask[] = R"(
name: "own" data_set: "fashion_mnist" unknown { data_set: "fashion_mnist" class_id: [3, 4] } split { known: [0, 1, 2] }
)";

constexpr char kMethod[] = R"(
model { osrci_cnn { feature_dim: 4 } head { linear {} } weights { file: "FILE" } }
input { size: 16 channels: 1 mean: 0.286 std: 0.353 }
)";

constexpr char kStudy[] = R"(
name: "study" task: "own.textproto" method: "net.textproto" split: 0 seed: 0 test_limit_per_class: 5
metric { accuracy {} }
)";

std::string Shipped(const std::string& path) { return *ReadFile(JoinPath(*RunfilesFolder(), "openset/" + path)); }
std::string TorchFile(const std::string& name) {
  return Shipped(absl::StrCat("core/files/formats/testdata/torch_", name, ".pth"));
}
std::string Network(const std::string& name) { return Shipped("models/testdata/" + name); }

// `file` with this content, and a method and a study of the network that has it.
std::function<void(const OpensetProgram&)> Given(const std::string& file, const std::function<std::string()>& content) {
  return [=](const OpensetProgram& program) {
    program.Write(file, content());
    program.Write("own.textproto", kTask);
    program.Write("net.textproto", absl::StrReplaceAll(kMethod, {{"FILE", file}}));
    program.Write("study.textproto", kStudy);
  };
}

// The network as safetensors with other names, without "module.".
std::string Renamed(const std::function<std::string(const std::string&)>& name_of,
                    const std::map<std::string, std::pair<std::vector<int64_t>, std::string>>& replaced = {}) {
  const std::string bytes = Network("osrci_cnn_parallel.safetensors");
  Safetensors content = *DecodeSafetensors(bytes), renamed;
  for (const auto& [name, array] : content.arrays) {
    const std::string plain = absl::StrReplaceAll(name, {{"module.", ""}});
    ArrayView& view = renamed.arrays[name_of(plain)] = array;
    if (const auto other = replaced.find(plain); other != replaced.end()) {
      view.shape = other->second.first;
      view.data = other->second.second;
    }
  }
  return *EncodeSafetensors(renamed);
}

std::string Prefixed(const std::string& prefix) {
  return Renamed([&](const std::string& name) { return prefix + name; });
}

std::string Floats(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), sizeof(float) * values.size());
}

// A head of ten outputs.
std::string TenClasses() {
  return Renamed([](const std::string& name) { return name; },
                 {{"head.weight", {{10, 4}, Floats(std::vector<float>(40, 0.5F))}},
                  {"head.bias", {{10}, Floats(std::vector<float>(10, 0))}}});
}

std::string NotANumber() {
  return Renamed([](const std::string& name) { return name; }, {{"head.bias", {{3}, Floats({0, std::nanf(""), 0})}}});
}

std::vector<std::string> Score(const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"score",         "--model=net.textproto", "--task=own.textproto",
                                    "--methods=mcp", "--test_limit=5",        "--jobs=1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<std::string> ScoreNetwork(const std::string& file) {
  return {"score", "--model=" + file, "--network=resnet18_cifar", "--task=own.textproto", "--methods=mcp", "--jobs=1"};
}

const std::vector<Situation> kCheckpoints = {
    Answers("OldFormat", "Tencent/FaceDetection-DSFD#18", Given("w.pth", [] { return Network("osrci_cnn_old.pth"); }),
            Score(), {"records: "}),
    Answers("Lightning", "ashleve/lightning-hydra-template#447",
            Given("w.safetensors", [] { return Prefixed("model."); }), Score(),
            {"weights of w.safetensors: all names begin with 'model.', which is left out"}),
    Answers("Compiled", "SeonghwanSeo/kfold#229", Given("w.safetensors", [] { return Prefixed("_orig_mod.module."); }),
            Score(), {"all names begin with '_orig_mod.module.', which is left out"}),
    Answers("Averaged", "sming256/OpenTAD#44", Given("w.pth", [] { return Network("osrci_cnn_ema.pth"); }),
            Score({"--key=state_dict_ema"}),
            {"all names begin with 'model.module.', which is left out",
             "those under 'state_dict_ema' are used; there are others under 'state_dict'"}),
    Answers("AveragedAndNot", "sming256/OpenTAD#44", Given("w.pth", [] { return Network("osrci_cnn_ema.pth"); }),
            Score(), {"those under 'state_dict' are used; there are others under 'state_dict_ema' (weights.key"}),
    Refuses("SeveralDicts", "sming256/OpenTAD#44", Given("w.pth", [] { return TorchFile("two_dicts"); }), Score(),
            {"tensors under several keys, 'student', 'teacher'", "--key"}),
    Refuses("TenOutputs", "pytorch/pytorch#3805", Given("w.safetensors", TenClasses), Score(),
            {"The file's head has 10 outputs, the split has 3 known classes", "--outputs"}),
    Answers("SomeOfTenOutputs", "pytorch/pytorch#3805", Given("w.safetensors", TenClasses), Score({"--outputs=9,0,4"}),
            {"records: "}),
    Refuses("OutputsThatTheFileLacks", "pytorch/pytorch#3805", Given("w.safetensors", TenClasses),
            Score({"--outputs=9,0,10"}), {"weights.output lists 10, but the file's outputs are 0 to 9"}),
    Refuses("Namespace", "mlcommons/mlperf-automations#465", Given("w.pth", [] { return TorchFile("namespace"); }),
            ScoreNetwork("w.pth"), {"'argparse Namespace'", "torch.save(checkpoint[\"model\"], \"weights.pth\")"}),
    Refuses("WholeModule", "bearpaw/pytorch-classification#11", Given("w.pth", [] { return TorchFile("module"); }),
            ScoreNetwork("w.pth"), {"a whole network", "torch.save(model.state_dict(), \"weights.pth\")"}),
    Refuses("OldWholeModule", "bearpaw/pytorch-classification#11",
            Given("w.pth", [] { return TorchFile("old_module"); }), ScoreNetwork("w.pth"),
            {"torch.save(model.state_dict(), \"weights.pth\")"}),
    Refuses(
        "LfsPointer", "Tencent/FaceDetection-DSFD#18",
        Given("w.pth",
              [] { return std::string("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 46830571\n"); }),
        ScoreNetwork("w.pth"), {"w.pth: is a Git LFS pointer", "download"}),
    Refuses(
        "WebPage", "Tencent/FaceDetection-DSFD#18",
        Given("w.pth", [] { return std::string("<!DOCTYPE html><title>Google Drive - Virus scan warning</title>"); }),
        ScoreNetwork("w.pth"), {"w.pth: is a web page", "download it again"}),
    Refuses("WebPageForANetwork", "Tencent/FaceDetection-DSFD#18",
            Given("w.pt", [] { return std::string("<html><title>404</title></html>"); }),
            {"score", "--model=w.pt", "--task=own.textproto", "--methods=mcp"}, {"is a web page"}),
    Refuses("NaN", "pytorch/pytorch#3805", Given("w.safetensors", NotANumber), Score(),
            {"values that are NaN or infinite, in 1 tensor: 'head.bias' (1 of 3 values)"}, {"--set"}),
    Refuses("Safetensors", "pytorch/pytorch#3805", Given("w.pth", [] { return Prefixed(""); }), Score(),
            {"is a safetensors file", "rename it to .safetensors"}),
    Refuses("ArchiveNamedSafetensors", "pytorch/pytorch#3805",
            Given("w.safetensors", [] { return Network("osrci_cnn_state.pth"); }), Score(),
            {"not a safetensors file as its name says"}),
    Answers("ArchiveNamedBin", "pytorch/pytorch#3805",
            Given("pytorch_model.bin", [] { return Network("osrci_cnn_state.pth"); }), Score(), {"records: "}),
    Answers("WeightsOfTorchScript", "pytorch/pytorch#3805",
            Given("w.pth", [] { return Network("osrci_cnn_script.pt"); }), Score(), {"records: "}),
    Refuses("WebPageInAStudy", "Tencent/FaceDetection-DSFD#18", Given("w.pth", [] { return std::string("<html>"); }),
            {"plan", "study.textproto"}, {"net.textproto:2: model.weights.file: ", "w.pth: is a web page"}),
};

INSTANTIATE_TEST_SUITE_P(Checkpoints, PeopleTest, ::testing::ValuesIn(kCheckpoints), NameOfSituation);

// The same network: before PyTorch 1.6, under another key, with prefixes, and as TorchScript.
TEST(Checkpoints, OfOneNetworkGiveTheSameNumbers) {
  const std::vector<std::pair<std::string, std::function<std::string()>>> files = {
      {"state.pth", [] { return Network("osrci_cnn_state.pth"); }},
      {"old.pth", [] { return Network("osrci_cnn_old.pth"); }},
      {"ema.pth", [] { return Network("osrci_cnn_ema.pth"); }},
      {"script.pth", [] { return Network("osrci_cnn_script.pt"); }},
      {"lightning.safetensors", [] { return Prefixed("model."); }},
  };
  std::vector<double> first;
  for (const auto& [file, content] : files) {
    const OpensetProgram program(file);
    Given(file, content)(program);
    const ProgramResult result = program.Run(
        Score(file == "ema.pth" ? std::vector<std::string>{"--key=state_dict_ema"} : std::vector<std::string>()));
    ASSERT_EQ(result.exit_code, 0) << file << result.err;
    std::vector<double> values;
    const TrialRecord record = program.AnyRecord();
    for (const MetricRecord& metric : record.metric()) values.push_back(metric.value());
    if (first.empty()) first = values;
    EXPECT_EQ(values, first) << file;
  }
}

// Whether the code of models/testdata/script_setstate.pt has run in the program's folder; removes its trace.
bool HasRun(const OpensetProgram& program) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(program.folder())) {
    if (entry.path().filename() == "written_by_setstate") found.push_back(entry.path());
  }
  for (const std::filesystem::path& path : found) std::filesystem::remove(path);
  return !found.empty();
}

// Files of weights run no code, whatever they are called and whoever names them.
TEST(Checkpoints, RunNoCode) {
  const std::vector<std::string> names = {"resnet18.pth", "model.safetensors", "weights.pt", "pytorch_model.bin",
                                          "weights"};
  for (const std::string& file : names) {
    SCOPED_TRACE(file);
    const OpensetProgram program(absl::StrReplaceAll(file, {{".", "_"}}));
    Given(file, [] { return Network("script_setstate.pt"); })(program);
    const std::string what = absl::EndsWith(file, ".safetensors") ? "not a safetensors file as its name says"
                                                                  : "its code defines __setstate__";
    for (const std::vector<std::string>& words : {Score(),
                                                  ScoreNetwork(file),
                                                  Score({"--weights=" + file}),
                                                  {"run", "study.textproto"},
                                                  {"plan", "study.textproto"},
                                                  {"status", "study.textproto"}}) {
      const ProgramResult result = program.Run(words);
      EXPECT_EQ(result.exit_code, 2) << words[0] << result.out << result.err;
      EXPECT_THAT(result.err, HasSubstr(what)) << words[0];
      EXPECT_FALSE(HasRun(program)) << words[0];
    }
  }
  // A scripted network does, so that this test can fail.
  const OpensetProgram program("network");
  Given("net.pt", [] { return Network("script_setstate.pt"); })(program);
  program.Run({"score", "--model=net.pt", "--size=8", "--channels=1", "--task=own.textproto", "--methods=mcp"});
  EXPECT_TRUE(HasRun(program));
}

}  // namespace
}  // namespace openset
