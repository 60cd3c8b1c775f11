#include "experiments/store/processes/orphans.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/machine/machine.h"
#include "core/testing/status_matchers.h"
#include "experiments/store/testing/records.h"

namespace openset {
namespace {

namespace fs = std::filesystem;

class OrphansTest : public ::testing::Test {
 protected:
  OrphansTest() : store_(TestFolder() + "/store") {
    fs::remove_all(TestFolder());
    EXPECT_THAT(store_.Make(), IsOk());
    fs::create_directories(store_.folder() + "/partial");
  }

  // Makes a file below the store, 8 days old, and returns its path.
  std::string OldFile(const std::string& name) const {
    const std::string path = JoinPath(store_.folder(), name);
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << "x";
    Age(path);
    return path;
  }
  std::string OldFolder(const std::string& name) const {
    const std::string inside = OldFile(name + "/below/file"), path = JoinPath(store_.folder(), name);
    Age(path);
    return path;
  }
  static void Age(const std::string& path) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(24 * 8));
  }

  const Store store_;
  const std::string here_ = absl::StrCat(HostName(), ".", ProcessSpace());
};

constexpr char kElsewhere[] = "node.example.org.0123abcd";

TEST_F(OrphansTest, AreTemporariesOfDeadProcesses) {
  const std::string dead = absl::StrCat("a.tmp.", here_, ".999999999.0"), other = absl::StrCat("b.tmp.", kElsewhere);
  const std::string old_file = OldFile(absl::StrCat("partial/", other, ".1.2"));
  const std::string old_folder = OldFolder(absl::StrCat("tmp/", other, ".1.1"));
  const std::string dead_file = OldFile(absl::StrCat("tmp/", dead));
  fs::last_write_time(dead_file, fs::file_time_type::clock::now());  // its process decides, not its age
  EXPECT_THAT(*Orphans(store_, absl::Now()), ElementsAre(old_file, dead_file, old_folder));
  SweepTemporaries(store_);
  for (const std::string& path : {old_file, old_folder, dead_file}) EXPECT_FALSE(FileExists(path)) << path;
  EXPECT_THAT(*Orphans(store_, absl::Now()), IsEmpty());
}

TEST_F(OrphansTest, KeepsTemporariesOfPossiblyLiveProcesses) {
  // Files of this process, whatever their age; of a container with this machine's host name; and of another machine.
  const std::string mine = OldFile(absl::StrCat("tmp/a.tmp.", here_, ".", getpid(), ".0"));
  const std::string young = absl::StrCat("a.tmp.", kElsewhere, ".999999999.0");
  for (const std::string& name : {young, absl::StrCat("a.tmp.", HostName(), ".00000000.999999999.0")}) {
    std::ofstream(JoinPath(store_.folder(), "tmp/" + name)) << "x";
  }
  EXPECT_THAT(*Orphans(store_, absl::Now()), IsEmpty());
  SweepTemporaries(store_);
  EXPECT_EQ(ListFolder(store_.folder() + "/tmp")->size(), 3);
}

// Names that an earlier rule removed by mistake, and names that users might choose.
TEST_F(OrphansTest, KeepsFilesOfOthers) {
  const std::string temporary = absl::StrCat("a.tmp.", kElsewhere, ".1.0");
  std::vector<std::string> kept;
  for (const std::string& folder : std::vector<std::string>{"", "tmp/", "partial/", "records/", "logs/", "mine/"}) {
    for (const char* name : {"thesis.tmp.2024", "a.tmp.elsewhere.1.0", "a.tmp.x", ".tmp.", "notes"}) {
      kept.push_back(OldFile(absl::StrCat(folder, name)));
    }
    kept.push_back(OldFolder(folder + "my.tmp.notes"));
    if (folder != "tmp/" && folder != "partial/") kept.push_back(OldFile(folder + temporary));
  }
  EXPECT_THAT(*Orphans(store_, absl::Now()), IsEmpty());
  SweepTemporaries(store_);
  for (const std::string& path : kept) EXPECT_TRUE(FileExists(path)) << path;
}

TEST_F(OrphansTest, FollowsNoLinks) {
  const std::string temporary = absl::StrCat("a.tmp.", kElsewhere, ".1.0"), elsewhere = TestFolder() + "/elsewhere";
  fs::create_directories(elsewhere);
  std::ofstream(elsewhere + "/" + temporary) << "kept";
  Age(elsewhere + "/" + temporary);
  // Instead of a folder of temporaries; instead of a temporary; and inside one.
  fs::remove_all(store_.folder() + "/partial");
  fs::create_directory_symlink(elsewhere, store_.folder() + "/partial");
  fs::create_directory_symlink(elsewhere, store_.folder() + "/tmp/b.tmp.0.0123abcd.1.0");
  const std::string folder = OldFolder(absl::StrCat("tmp/", temporary));
  fs::create_directory_symlink(elsewhere, folder + "/below/link");
  Age(folder);
  EXPECT_THAT(*Orphans(store_, absl::Now()), IsEmpty());  // a store with a link instead of a folder is refused
  SweepTemporaries(store_);
  EXPECT_TRUE(FileExists(folder));
  fs::remove(store_.folder() + "/partial");
  EXPECT_THAT(*Orphans(store_, absl::Now()), ElementsAre(folder));
  SweepTemporaries(store_);
  EXPECT_FALSE(FileExists(folder));
  EXPECT_EQ(*ReadFile(elsewhere + "/" + temporary), "kept");
}

TEST_F(OrphansTest, AFolderThatIsNotAStoreHasNone) {
  const std::string file = OldFile(absl::StrCat("tmp/a.tmp.", kElsewhere, ".1.0"));
  fs::remove(store_.folder() + "/version");
  EXPECT_THAT(*Orphans(store_, absl::Now()), IsEmpty());
  SweepTemporaries(store_);
  EXPECT_TRUE(FileExists(file));
  EXPECT_FALSE(FileExists(store_.folder() + "/version"));
  SweepTemporaries(Store(TestFolder() + "/none"));
  EXPECT_FALSE(FileExists(TestFolder() + "/none"));
}

}  // namespace
}  // namespace openset
