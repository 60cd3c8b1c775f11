#include "experiments/spec/model_files.h"

#include <filesystem>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/testing/archive_bytes.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

// Not the content of a file of weights, but its beginning.
constexpr char kAbc[] = "PK\x03\x04 abc", kZero[] = "PK\x03\x04 zero", kTwo[] = "PK\x03\x04 two";

class ModelFilesTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_THAT(WriteFileAtomically(JoinPath(folder_, "weights"), kAbc), IsOk()); }

  std::vector<std::string> Resolve(ModelSpec* model) const {
    std::vector<std::string> lines;
    for (const FieldProblem& problem : ResolveModelFiles(folder_, model)) {
      lines.push_back(absl::StrCat(problem.path, ": ", problem.message));
    }
    return lines;
  }

  const std::string folder_ = ::testing::TempDir();
};

TEST_F(ModelFilesTest, PathsBecomeAbsoluteAndFilesGetTheirDigest) {
  ModelSpec model;
  model.mutable_weights()->set_file("./weights");
  model.mutable_torch_script()->set_file(JoinPath(folder_, "weights"));
  EXPECT_THAT(Resolve(&model), IsEmpty());
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(model.weights().file(), JoinPath(folder_, "weights"));
    EXPECT_EQ(model.weights().sha256(), Sha256Hex(kAbc));
    EXPECT_EQ(model.torch_script().sha256(), Sha256Hex(kAbc));
    EXPECT_THAT(Resolve(&model), IsEmpty());
  }
  EXPECT_THAT(CheckModelFiles(model, {}), IsOk());
}

TEST_F(ModelFilesTest, ModelsWithoutFilesAreUnchanged) {
  ModelSpec model;
  model.mutable_weights()->set_head(WeightsSpec::SKIP);
  model.mutable_vgg32();
  const std::string before = model.SerializeAsString();
  EXPECT_THAT(Resolve(&model), IsEmpty());
  EXPECT_EQ(model.SerializeAsString(), before);
}

TEST_F(ModelFilesTest, AnotherFileIsRefused) {
  ModelSpec model;
  model.mutable_weights()->set_file("weights");
  model.mutable_weights()->set_sha256(std::string(64, '0'));
  EXPECT_THAT(Resolve(&model),
              ElementsAre(absl::StrCat("model.weights.sha256: ", folder_, "weights has the SHA-256 ", Sha256Hex(kAbc),
                                       ": restore the original file, or correct this")));
  model.mutable_weights()->set_sha256("ABC");
  EXPECT_THAT(Resolve(&model), ElementsAre("model.weights.sha256: must be 64 digits of 0-9 and a-f"));
}

TEST_F(ModelFilesTest, LargeFilesWithoutWeightsAreNotHashed) {
  const std::string file = JoinPath(folder_, "large");
  ASSERT_THAT(WriteFileAtomically(file, "abc"), IsOk());
  std::filesystem::resize_file(file, 10'000'000'000);
  ModelSpec model;
  model.mutable_weights()->set_file("large");
  EXPECT_THAT(Resolve(&model),
              ElementsAre(absl::StrCat("model.weights.file: ", file, ": is neither a safetensors file nor a file of ",
                                       "torch.save() or TorchScript")));
}

// What the first bytes of weights tell, or a script's code.
TEST_F(ModelFilesTest, FilesThatAreNoWeightsAreRefused) {
  const std::string script =
      ZipBytes({{"net/data.pkl", "."},
                {"net/constants.pkl", "."},
                {"net/code/__torch__.py", "class Net(Module):\n  def __setstate__(self, s):\n"}});
  const std::tuple<const char*, std::string, const char*> cases[] = {
      {"w.pth", "version https://git-lfs.github.com/spec/v1\n", "w.pth: is a Git LFS pointer"},
      {"w.pth", "<html>", "w.pth: is a web page"},
      {"w.safetensors", "PK\x03\x04",
       "w.safetensors: is a file of torch.save() or TorchScript, not a safetensors file"},
      {"w.pth", script, "w.pth: its code defines __setstate__"},
      {"w", script, "w: its code defines __setstate__"},
  };
  for (const auto& [name, content, what] : cases) {
    ASSERT_THAT(WriteFileAtomically(JoinPath(folder_, name), content), IsOk());
    ModelSpec model;
    model.mutable_weights()->set_file(name);
    EXPECT_THAT(Resolve(&model), ElementsAre(HasSubstr(what))) << name;
  }
  // A network may have such code.
  ModelSpec network;
  network.mutable_torch_script()->set_file("w");
  EXPECT_THAT(Resolve(&network), IsEmpty());
}

TEST_F(ModelFilesTest, AMissingFileNeedsItsDigest) {
  ModelSpec model;
  model.mutable_torch_script()->set_file("absent.pt");
  EXPECT_THAT(Resolve(&model), ElementsAre(absl::StrCat("model.torch_script.file: cannot open ", folder_,
                                                        "absent.pt: No such file or directory")));
  model.mutable_torch_script()->set_sha256(std::string(64, '0'));
  EXPECT_THAT(Resolve(&model), IsEmpty());
  EXPECT_THAT(CheckModelFiles(model, {}), IsNotFound("absent.pt"));
}

// Weights of the splits 0 and 2.
class SplitFilesTest : public ModelFilesTest {
 protected:
  void SetUp() override {
    ASSERT_THAT(WriteFileAtomically(JoinPath(folder_, "w0.pth"), kZero), IsOk());
    ASSERT_THAT(WriteFileAtomically(JoinPath(folder_, "w2.pth"), kTwo), IsOk());
    model_.mutable_weights()->set_file("w{split}.pth");
  }

  std::vector<std::string> ResolveSplits(const std::vector<int>& splits) {
    std::vector<std::string> lines;
    for (const FieldProblem& problem : ResolveSplitFiles(splits, {0}, &model_)) {
      lines.push_back(absl::StrCat(problem.path, ": ", problem.message));
    }
    return lines;
  }

  ModelSpec model_;
};

TEST_F(SplitFilesTest, EachSplitHasItsOwn) {
  EXPECT_THAT(Resolve(&model_), IsEmpty());
  EXPECT_TRUE(IsOfSplit(model_));
  EXPECT_THAT(ResolveSplits({0, 2}), IsEmpty());
  EXPECT_THAT(model_.weights().split_sha256(), ElementsAre(Sha256Hex(kZero), "", Sha256Hex(kTwo)));
  const ModelSpec two = ModelOfSplit(model_, 2, 0);
  EXPECT_EQ(two.weights().file(), JoinPath(folder_, "w2.pth"));
  EXPECT_EQ(two.weights().sha256(), Sha256Hex(kTwo));
  EXPECT_EQ(two.weights().split_sha256_size(), 0);
  EXPECT_FALSE(IsOfSplit(two));
  // The model is the same as if it had named the file.
  ModelSpec named;
  named.mutable_weights()->set_file("w2.pth");
  EXPECT_THAT(Resolve(&named), IsEmpty());
  EXPECT_EQ(two.SerializeAsString(), named.SerializeAsString());
}

TEST_F(SplitFilesTest, ProblemsNameTheSplit) {
  EXPECT_THAT(Resolve(&model_), IsEmpty());
  EXPECT_THAT(ResolveSplits({0, 1}), ElementsAre(absl::StrCat("model.weights.file: cannot open ", folder_,
                                                              "w1.pth: No such file or directory")));
  model_.mutable_weights()->set_split_sha256(0, std::string(64, '0'));
  EXPECT_THAT(ResolveSplits({0}),
              ElementsAre(AllOf(HasSubstr("model.weights.split_sha256[0]: "), HasSubstr(" has the SHA-256 "))));
  model_.mutable_weights()->set_split_sha256(0, "0");
  EXPECT_THAT(Resolve(&model_), ElementsAre("model.weights.split_sha256[0]: must be 64 digits of 0-9 and a-f"));
  model_.mutable_weights()->clear_split_sha256();
  model_.mutable_weights()->set_sha256(std::string(64, '0'));
  EXPECT_THAT(Resolve(&model_), ElementsAre(HasSubstr("model.weights.sha256: is for one file")));
  ModelSpec one;
  one.mutable_weights()->set_file("w2.pth");
  one.mutable_weights()->add_split_sha256(std::string(64, '0'));
  EXPECT_THAT(Resolve(&one), ElementsAre("model.weights.split_sha256: is for a file with {split} in its name"));
}

TEST_F(SplitFilesTest, OutputsOfSplitsAndSeeds) {
  for (const char* name : {"net_1_0.npz", "net_1_5.npz", "fit_1.npz", "val_0.npz", "val_5.npz"}) {
    ASSERT_THAT(WriteFileAtomically(JoinPath(folder_, name), name), IsOk());
  }
  ModelSpec model;
  model.mutable_outputs()->set_file("net_{split}_{seed}.npz");
  model.mutable_outputs()->set_fit_file("fit_{split}.npz");
  model.mutable_outputs()->set_validation_file("val_{seed}.npz");
  EXPECT_THAT(Resolve(&model), IsEmpty());
  EXPECT_TRUE(UsesArraysOnly(model));
  EXPECT_TRUE(IsOfSplit(model));
  EXPECT_TRUE(IsOfSeed(model));
  EXPECT_THAT(ResolveSplitFiles({1}, {0, 5}, &model), IsEmpty());
  const ModelSpec of_trial = ModelOfSplit(model, 1, 5);
  EXPECT_EQ(of_trial.outputs().file(), JoinPath(folder_, "net_1_5.npz"));
  EXPECT_EQ(of_trial.outputs().sha256(), Sha256Hex("net_1_5.npz"));
  EXPECT_EQ(of_trial.outputs().fit_sha256(), Sha256Hex("fit_1.npz"));
  EXPECT_EQ(of_trial.outputs().of_trial_size(), 0);
  EXPECT_EQ(of_trial.outputs().validation_sha256(), Sha256Hex("val_5.npz"));
  const ModelSpec on_validation = OnValidationFile(of_trial);
  EXPECT_EQ(on_validation.outputs().file(), JoinPath(folder_, "val_5.npz"));
  EXPECT_EQ(on_validation.outputs().sha256(), Sha256Hex("val_5.npz"));
  EXPECT_EQ(on_validation.outputs().fit_sha256(), Sha256Hex("fit_1.npz"));
  EXPECT_FALSE(on_validation.outputs().has_validation_file());
  EXPECT_THAT(CheckModelFiles(of_trial, {}), IsOk());
  ModelSpec absent = of_trial;
  absent.mutable_outputs()->set_validation_file("absent.npz");
  EXPECT_THAT(CheckModelFiles(absent, {}), IsNotFound("absent.npz"));
  const std::vector<FieldProblem> problems = ResolveSplitFiles({1}, {6}, &model);
  ASSERT_EQ(problems.size(), 2);
  EXPECT_EQ(problems[0].path, "model.outputs.file");
  EXPECT_THAT(problems[0].message, HasSubstr("net_1_6.npz"));
  EXPECT_EQ(problems[1].path, "model.outputs.validation_file");
  ModelSpec one;
  one.mutable_outputs()->set_file("data:net.npz");
  EXPECT_THAT(Resolve(&one), ElementsAre("model.outputs.file: must be a path, not one of the data folders"));
  one.mutable_outputs()->set_file("fit_1.npz");
  one.mutable_outputs()->set_validation_file("val.csv");
  EXPECT_THAT(Resolve(&one), ElementsAre(HasSubstr("model.outputs.validation_file: must be an .npz")));
  one.mutable_outputs()->set_validation_file("val_0.npz");
  one.mutable_outputs()->set_validation_sha256(std::string(64, '1'));
  EXPECT_THAT(Resolve(&one),
              ElementsAre(AllOf(HasSubstr("model.outputs.validation_sha256: "), HasSubstr(" has the SHA-256 "))));
  one.mutable_outputs()->clear_validation_file();
  one.mutable_outputs()->clear_validation_sha256();
  one.mutable_outputs()->set_sha256(std::string(64, '0'));
  EXPECT_THAT(Resolve(&one), ElementsAre(AllOf(HasSubstr("model.outputs.sha256: "), HasSubstr(" has the SHA-256 "))));
  one.mutable_outputs()->set_file("net_{seed}.npz");
  one.mutable_outputs()->set_sha256(std::string(64, '0'));
  EXPECT_THAT(Resolve(&one), ElementsAre(HasSubstr("model.outputs.sha256: is for one file")));
}

// A file with a digest is searched for in the data folders, and only when it is needed.
TEST_F(SplitFilesTest, FilesOfDataFolders) {
  model_.mutable_weights()->set_file("data:w{split}.pth");
  EXPECT_THAT(Resolve(&model_), IsEmpty());
  EXPECT_THAT(ResolveSplits({1}),
              ElementsAre(HasSubstr("model.weights.file: data:w1.pth is searched for in the data ")));
  model_.mutable_weights()->set_split_sha256(1, std::string(64, '0'));
  model_.mutable_weights()->set_split_sha256(0, Sha256Hex(kZero));
  EXPECT_THAT(ResolveSplits({0, 1}), IsEmpty());
  EXPECT_EQ(ModelOfSplit(model_, 0, 0).weights().file(), "data:w0.pth");
  EXPECT_THAT(CheckModelFiles(ModelOfSplit(model_, 0, 0), {"/nowhere", folder_}), IsOk());
  EXPECT_EQ(FindModelFile("data:w0.pth", {"/nowhere", folder_}).value(), JoinPath(folder_, "w0.pth"));
  EXPECT_THAT(CheckModelFiles(ModelOfSplit(model_, 1, 0), {"/nowhere"}),
              StatusIs(absl::StatusCode::kNotFound, "no such file in the data folders (/nowhere): w1.pth"));
}

TEST_F(ModelFilesTest, NamesWithoutFoldersAreFoundByTheirDigests) {
  ModelSpec model;
  model.mutable_outputs()->set_file("/lab/weights");
  model.mutable_outputs()->set_sha256(Sha256Hex(kAbc));
  model.mutable_outputs()->set_fit_file("/lab/fit.npz");
  EXPECT_THAT(KeepFileNames(&model), ElementsAre("/lab/weights", "/lab/fit.npz"));
  EXPECT_EQ(model.outputs().file(), "weights");
  EXPECT_EQ(model.outputs().fit_file(), "fit.npz");
  EXPECT_THAT(KeepFileNames(&model), IsEmpty());
  model.mutable_outputs()->clear_fit_file();
  EXPECT_EQ(FilesText(model), absl::StrCat("weights (SHA-256 ", Sha256Hex(kAbc), ")"));
  const std::string other = JoinPath(folder_, "other");  // has another file of that name
  ASSERT_THAT(MakeFolders(other), IsOk());
  ASSERT_THAT(WriteFileAtomically(JoinPath(other, "weights"), kTwo), IsOk());
  for (const std::string file : {"weights", "/moved/weights"}) {
    model.mutable_outputs()->set_file(file);
    EXPECT_THAT(FindFilesByName({"/nowhere", other}, &model),
                StatusIs(absl::StatusCode::kNotFound,
                         absl::StrCat("the model's file is missing: weights (SHA-256 ", Sha256Hex(kAbc),
                                      "): put it into the current folder, or into the methods/ of a --library")));
    EXPECT_THAT(FindFilesByName({other, folder_}, &model), IsOk());
    EXPECT_EQ(model.outputs().file(), JoinPath(folder_, "weights"));
  }
  EXPECT_THAT(FindFilesByName({}, &model), IsOk());  // it is where its path says
  model.mutable_weights()->set_file("data:w.pth");
  EXPECT_THAT(KeepFileNames(&model), ElementsAre(JoinPath(folder_, "weights")));
  EXPECT_EQ(model.weights().file(), "data:w.pth");
}

}  // namespace
}  // namespace openset
