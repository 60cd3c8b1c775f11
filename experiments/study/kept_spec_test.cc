#include "experiments/study/kept_spec.h"

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "experiments/spec/spec_changes.h"
#include "experiments/testing/spec_sandbox.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

class KeptSpecTest : public ::testing::Test {
 protected:
  KeptSpecTest() : store_(sandbox_.folder() + "/store") { EXPECT_THAT(store_.Make(), IsOk()); }

  void Write(const std::string& report_name, const std::string& text) const {
    ASSERT_THAT(MakeFolders(store_.ReportFolder(report_name)), IsOk());
    ASSERT_THAT(WriteFileAtomically(store_.ReportFolder(report_name) + "/spec.textproto", text), IsOk());
  }

  const SpecSandbox sandbox_;
  const Store store_;
};

TEST_F(KeptSpecTest, IsTheFileAsWritten) {
  const std::string text = absl::StrCat("# Mine.\n", kMinimalSpec);
  const absl::StatusOr<Experiment> experiment = sandbox_.Load(text);
  ASSERT_THAT(experiment, IsOk());
  ASSERT_THAT(KeepSpec(*experiment, store_, experiment->spec.name()), IsOk());
  const KeptSpec kept = *LoadKeptSpec(store_, experiment->spec.name());
  EXPECT_EQ(kept.text, text);
  EXPECT_EQ(kept.spec.method(0), experiment->spec.method(0));
}

TEST_F(KeptSpecTest, HasTheChangesByTheCommandLine) {
  sandbox_.Write("experiments/specs/spec.textproto", kMinimalSpec);
  SpecChanges changes;
  changes.set = {"training.epochs=7"};
  const absl::StatusOr<Experiment> experiment = LoadExperiment("spec", sandbox_.folders(), changes);
  ASSERT_THAT(experiment, IsOk());
  ASSERT_THAT(KeepSpec(*experiment, store_, "spec+01234567"), IsOk());
  const KeptSpec kept = *LoadKeptSpec(store_, "spec");
  EXPECT_THAT(kept.text, HasSubstr("epochs: 7"));
  EXPECT_EQ(kept.spec.override().training().epochs(), 7);
}

TEST_F(KeptSpecTest, TheUnchangedOneComesFirstThenTheNewest) {
  EXPECT_EQ(LoadKeptSpec(store_, "spec")->text, "");
  Write("spec+aaaaaaaa", "name: 'a' method: 'mcp'");
  Write("spec+bbbbbbbb", "name: 'b' method: 'mcp'");
  Write("other", "name: 'other' method: 'mcp'");
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(store_.ReportFolder("spec+bbbbbbbb") + "/spec.textproto",
                                   now - std::chrono::hours(1));
  std::filesystem::last_write_time(store_.ReportFolder("spec+aaaaaaaa") + "/spec.textproto", now);
  EXPECT_EQ(LoadKeptSpec(store_, "spec")->spec.name(), "a");
  Write("spec", "name: 'plain' method: 'mcp'");
  EXPECT_EQ(LoadKeptSpec(store_, "spec")->spec.name(), "plain");
}

TEST_F(KeptSpecTest, ShowsOnlySpecsInTheStore) {
  Write("spec", "name: 'spec' nonsense");
  EXPECT_EQ(LoadKeptSpec(store_, "spec")->text, "");
  Write("../outside", "name: 'outside' method: 'mcp'");
  EXPECT_EQ(LoadKeptSpec(store_, "../outside")->text, "");
  for (const std::string& text : {std::string("# Only a comment."), "method: 'mcp' #" + std::string(1 << 20, '#')}) {
    Write("spec", text);
    EXPECT_EQ(LoadKeptSpec(store_, "spec")->text, "");
  }
  ASSERT_THAT(WriteFileAtomically(sandbox_.folder() + "/private", "-----BEGIN PRIVATE KEY-----"), IsOk());
  const std::string path = store_.ReportFolder("spec") + "/spec.textproto";
  std::filesystem::remove(path);
  std::filesystem::create_symlink(sandbox_.folder() + "/private", path);
  EXPECT_THAT(LoadKeptSpec(store_, "spec").status(),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr(path + ": is a link")));
}

}  // namespace
}  // namespace openset
