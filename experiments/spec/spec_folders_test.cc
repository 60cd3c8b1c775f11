#include "experiments/spec/spec_folders.h"

#include <filesystem>

#include "core/testing/status_matchers.h"
#include "experiments/testing/spec_sandbox.h"

namespace openset {
namespace {

class SpecFoldersTest : public ::testing::Test {
 protected:
  SpecFoldersTest() {
    sandbox_.Write("ours/experiments/methods/softmax.textproto", "name: 'softmax'");
    sandbox_.Write("mine/methods/mine.textproto", "name: 'mine'");
    sandbox_.Write("mine/tasks/two.textproto", "name: 'two'");
  }

  SpecFolders Folders() const {
    SpecFolders folders = SpecFoldersBelow(sandbox_.folder() + "/ours");
    AddSpecFolders(SpecFoldersBelow(sandbox_.folder() + "/mine"), &folders);
    return folders;
  }

  SpecSandbox sandbox_;
};

TEST_F(SpecFoldersTest, LibrariesHaveEqualRank) {
  const SpecFolders folders = Folders();
  EXPECT_THAT(NamesIn(folders.methods), ElementsAre("mine", "softmax"));
  EXPECT_THAT(NamesIn(folders.tasks), ElementsAre("two"));
  EXPECT_TRUE(folders.catalog.empty());
  EXPECT_EQ(FindSpecFile("method", "mine", folders.methods, "").value(),
            sandbox_.folder() + "/mine/methods/mine.textproto");
  EXPECT_EQ(FindSpecFile("method", "softmax", folders.methods, "").value(),
            sandbox_.folder() + "/ours/experiments/methods/softmax.textproto");
  EXPECT_THAT(FindSpecFile("method", "softmx", folders.methods, ""),
              IsInvalidArgument("unknown method 'softmx'; did you mean 'softmax'? (known: mine, softmax)"));
}

// A spec in mine/specs belongs to the library mine; one in mine/specs/more or in ours/experiments/specs to none.
TEST_F(SpecFoldersTest, ASpecInSpecsBelongsToTheLibraryAround) {
  sandbox_.Write("mine/specs/study.textproto", "");
  sandbox_.Write("mine/specs/more/study.textproto", "");
  sandbox_.Write("mine/specs/presets/fast.textproto", "");
  sandbox_.Write("ours/experiments/specs/study.textproto", "");
  const std::string mine = sandbox_.folder() + "/mine";
  for (const char* ending : {"", "/"}) {
    const SpecFolders around = SpecFoldersAround(mine + "/specs" + ending);
    EXPECT_THAT(NamesIn(around.tasks), ElementsAre("two"));
    EXPECT_THAT(NamesIn(around.methods), ElementsAre("mine"));
    EXPECT_THAT(NamesIn(around.specs), ElementsAre("study"));
    EXPECT_THAT(NamesIn(around.presets), ElementsAre("fast")) << "the spec's own folder";
  }
  EXPECT_THAT(NamesIn(SpecFoldersAround(mine).tasks), ElementsAre("two"));
  EXPECT_TRUE(SpecFoldersAround(mine + "/specs/more").empty());
  EXPECT_TRUE(SpecFoldersAround(sandbox_.folder() + "/ours/experiments/specs").empty());
  // A spec without a folder in its path.
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(mine + "/specs");
  const SpecFolders around = SpecFoldersAround("");
  EXPECT_THAT(NamesIn(around.tasks), ElementsAre("two"));
  EXPECT_THAT(NamesIn(around.presets), ElementsAre("fast"));
  std::filesystem::current_path(before);
}

TEST_F(SpecFoldersTest, AClashNamesBothFiles) {
  sandbox_.Write("mine/methods/softmax.textproto", "name: 'softmax' title: 'Mine'");
  EXPECT_THAT(
      FindSpecFile("method", "softmax", Folders().methods, ""),
      StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("two files define method 'softmax': "),
                                                         HasSubstr("/ours/experiments/methods/softmax.textproto and "),
                                                         HasSubstr("/mine/methods/softmax.textproto; rename one"))));
  EXPECT_THAT(NamesIn(Folders().methods), ElementsAre("mine", "softmax"));
}

TEST_F(SpecFoldersTest, ALinkThatLeadsNowhereIsFoundByItsName) {
  const std::string path = sandbox_.folder() + "/mine/methods/link.textproto";
  std::filesystem::create_symlink("nowhere", path);
  EXPECT_EQ(FindSpecFile("method", "link", Folders().methods, "").value(), path);
}

TEST_F(SpecFoldersTest, ACopyIsNoClash) {
  sandbox_.Write("mine/methods/softmax.textproto", "name: 'softmax'");
  EXPECT_TRUE(FindSpecFile("method", "softmax", Folders().methods, "").ok());
}

TEST_F(SpecFoldersTest, ALibraryIsThereOnce) {
  SpecFolders folders = Folders();
  AddSpecFolders(SpecFoldersBelow(sandbox_.folder() + "/ours/../mine"), &folders);
  EXPECT_EQ(folders.methods.size(), 2);
  EXPECT_TRUE(SpecFoldersBelow(sandbox_.folder() + "/nowhere").empty());
  EXPECT_FALSE(folders.empty());
}

}  // namespace
}  // namespace openset
