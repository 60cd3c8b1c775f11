#include "data/fetch/unpack.h"

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/process/run_program.h"
#include "core/testing/status_matchers.h"
#include "data/testing/damage.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class UnpackTest : public ::testing::Test {
 protected:
  UnpackTest() {
    std::filesystem::remove_all(root_);
    WriteTestFile("unpack/in/set/a.txt", "a");
    WriteTestFile("unpack/in/set/deep/b.txt", std::string(50000, 'b'));
  }

  std::string Tar() {
    const std::string archive = JoinPath(root_, "set.tar.gz");
    EXPECT_THAT(RunProgram({"tar", "-czf", archive, "-C", JoinPath(root_, "in"), "set"}), IsOk());
    return archive;
  }
  std::string Read(const std::string& path) { return ReadFile(JoinPath(root_, path)).value_or("nothing"); }

  const std::string root_ = JoinPath(::testing::TempDir(), "unpack");
};

TEST_F(UnpackTest, FillsAFolder) {
  WriteTestFile("unpack/out/set/a.txt", "old");
  WriteTestFile("unpack/out/set/c.txt", "c");
  ASSERT_THAT(Unpack(Tar(), Download::TAR, JoinPath(root_, "out")), IsOk());
  EXPECT_EQ(Read("out/set/a.txt"), "a");
  EXPECT_EQ(Read("out/set/c.txt"), "c");
  EXPECT_EQ(Read("out/set/deep/b.txt").size(), 50000);
  EXPECT_THAT(ListFolder(root_).value(), ElementsAre("in", "out", "set.tar.gz")) << "nothing is left behind";
}

TEST_F(UnpackTest, ADamagedArchiveChangesNothing) {
  const std::string archive = Tar();
  const std::string bytes = *ReadFile(archive);
  ASSERT_THAT(WriteFileAtomically(archive, bytes.substr(0, bytes.size() / 2)), IsOk());
  WriteTestFile("unpack/out/set/a.txt", "old");
  EXPECT_THAT(Unpack(archive, Download::TAR, JoinPath(root_, "out")),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("set.tar.gz: cannot be unpacked: tar exited with")));
  EXPECT_THAT(Unpack(archive, Download::ZIP, JoinPath(root_, "out")), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(Read("out/set/a.txt"), "old");
  EXPECT_THAT(ListFolder(JoinPath(root_, "out/set")).value(), ElementsAre("a.txt"));
  EXPECT_THAT(ListFolder(root_).value(), ElementsAre("in", "out", "set.tar.gz"));
}

// As Python's zipfile writes it.
TEST_F(UnpackTest, KnowsZip) {
  const std::string archive = JoinPath(root_, "set.zip");
  const std::string made =
      absl::StrCat("import zipfile; zipfile.ZipFile('", archive, "', 'w').writestr('d/z.txt', 'zip')");
  ASSERT_THAT(RunProgram({"python3", "-c", made}), IsOk());
  ASSERT_THAT(Unpack(archive, Download::ZIP, JoinPath(root_, "out")), IsOk());
  EXPECT_EQ(Read("out/d/z.txt"), "zip");
}

}  // namespace
}  // namespace openset
