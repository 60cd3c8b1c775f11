#include "experiments/spec/model_files.h"

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ModelFilesTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_THAT(WriteFileAtomically(JoinPath(folder_, "weights"), "abc"), IsOk()); }

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
    EXPECT_EQ(model.weights().sha256(), Sha256Hex("abc"));
    EXPECT_EQ(model.torch_script().sha256(), Sha256Hex("abc"));
    EXPECT_THAT(Resolve(&model), IsEmpty());
  }
  EXPECT_THAT(CheckModelFiles(model), IsOk());
}

TEST_F(ModelFilesTest, WhatHasNoFileIsLeftAlone) {
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
              ElementsAre(absl::StrCat("model.weights.sha256: that of ", folder_, "weights is ", Sha256Hex("abc"),
                                       ": put back the file that was meant, or correct this")));
  model.mutable_weights()->set_sha256("ABC");
  EXPECT_THAT(Resolve(&model), ElementsAre("model.weights.sha256: must be 64 digits of 0-9 and a-f", HasSubstr("")));
}

TEST_F(ModelFilesTest, AFileThatIsNotThereNeedsItsDigest) {
  ModelSpec model;
  model.mutable_torch_script()->set_file("absent.pt");
  EXPECT_THAT(Resolve(&model),
              ElementsAre(absl::StrCat("model.torch_script.file: cannot open ", folder_, "absent.pt")));
  model.mutable_torch_script()->set_sha256(std::string(64, '0'));
  EXPECT_THAT(Resolve(&model), IsEmpty());
  EXPECT_THAT(CheckModelFiles(model), StatusIs(absl::StatusCode::kNotFound, HasSubstr("absent.pt")));
}

}  // namespace
}  // namespace openset
