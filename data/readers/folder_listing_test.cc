#include "data/readers/folder_listing.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <ctime>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/file_state.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "data/testing/damage.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class FolderListingTest : public ::testing::Test {
 protected:
  FolderListingTest() {
    std::filesystem::remove_all(root_);
    std::filesystem::remove_all(memory_);
    for (const char* name : {"cat/b.png", "cat/a.JPG", "cat/.c.png", "cat/README", "cat/d.webp.txt", "dog/1.jpeg"}) {
      Put(name);
    }
  }

  void Put(const std::string& name) { WriteTestFile(absl::StrCat("listed/", name), ""); }
  ListingMemory Memory(int64_t min_images = 1) { return ListingMemory(memory_, min_images); }
  // Returns the names in `folder`, from the memory if it is valid.
  std::vector<std::string> Names(const std::string& folder) {
    const auto listing = Memory().List(root_, {"cat", "dog"});
    EXPECT_THAT(listing, IsOk());
    const auto names = listing->images[folder == "cat" ? 0 : 1].Split();
    return {names.begin(), names.end()};
  }
  std::vector<std::string> Entries() { return ListFolder(memory_).value_or(std::vector<std::string>{}); }
  // Waits until the folders are old enough to be remembered: the times of an inode can't be set back.
  void Settle() {
    for (const char* folder : {"/cat", "/dog"}) {
      struct stat info;
      ASSERT_EQ(stat((root_ + folder).c_str(), &info), 0);
      while (std::time(nullptr) < info.st_ctim.tv_sec + FileState::kSettled) usleep(20000);
    }
  }

  const std::string root_ = JoinPath(::testing::TempDir(), "listed");
  const std::string memory_ = JoinPath(::testing::TempDir(), "memory");
};

TEST_F(FolderListingTest, ListsImagesInOrder) {
  const auto listing = ListingMemory("").List(root_, {"dog", "cat", "cow"});
  ASSERT_THAT(listing, IsOk());
  EXPECT_EQ(listing->root, root_);
  EXPECT_THAT(listing->images[0].Split(), ElementsAre("1.jpeg"));
  EXPECT_THAT(listing->images[1].Split(), ElementsAre("a.JPG", "b.png"));
  EXPECT_EQ(listing->images[1].count, 2);
  EXPECT_TRUE(listing->images[1].is_there);
  EXPECT_FALSE(listing->images[2].is_there);
  EXPECT_THAT(listing->images[2].Split(), IsEmpty());
}

// Any change of a folder invalidates its remembered listing.
TEST_F(FolderListingTest, RemembersSettledFolders) {
  EXPECT_THAT(Names("cat"), ElementsAre("a.JPG", "b.png"));
  EXPECT_THAT(Entries(), IsEmpty()) << "too new";
  Settle();
  EXPECT_THAT(Names("cat"), ElementsAre("a.JPG", "b.png"));
  ASSERT_THAT(Entries(), SizeIs(1));
  const std::string entry = JoinPath(memory_, Entries()[0]), content = *ReadFile(entry);
  EXPECT_NE(content.find(std::string("a.JPG\0b.png\0", 12)), std::string::npos);

  Put("cat/e.png");
  EXPECT_THAT(Names("cat"), ElementsAre("a.JPG", "b.png", "e.png"));
  std::filesystem::rename(root_ + "/cat/e.png", root_ + "/cat/f.png");
  EXPECT_THAT(Names("cat"), ElementsAre("a.JPG", "b.png", "f.png"));
  std::filesystem::remove(root_ + "/cat/f.png");
  EXPECT_THAT(Names("cat"), ElementsAre("a.JPG", "b.png"));
  EXPECT_EQ(*ReadFile(entry), content) << "dog has not changed, cat is too new";
  Settle();
  EXPECT_THAT(Names("cat"), ElementsAre("a.JPG", "b.png"));
  EXPECT_NE(*ReadFile(entry), content);

  // Replaces a folder by another one.
  std::filesystem::rename(root_ + "/dog", root_ + "/was_dog");
  Put("dog/2.png");
  EXPECT_THAT(Names("dog"), ElementsAre("2.png"));
  std::filesystem::remove_all(root_ + "/dog");
  EXPECT_THAT(Names("dog"), IsEmpty());
}

// A wrong name in the memory shows that the folder was not listed.
TEST_F(FolderListingTest, DoesNotListARememberedFolder) {
  Settle();
  EXPECT_THAT(Names("dog"), ElementsAre("1.jpeg"));
  const std::string entry = Entries().at(0), content = *ReadFile(JoinPath(memory_, entry));
  std::string forged = content.substr(content.find('\n') + 1);
  forged.replace(forged.find("1.jpeg"), 6, "9.jpeg");
  const uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(forged.data()), forged.size());
  WriteTestFile("memory/" + entry, absl::StrCat("openset image names 2 ", sum, "\n", forged));
  EXPECT_THAT(Names("dog"), ElementsAre("9.jpeg"));
  EXPECT_THAT(Names("cat"), ElementsAre("a.JPG", "b.png"));
  Put("dog/2.png");
  EXPECT_THAT(Names("dog"), ElementsAre("1.jpeg", "2.png"));
}

// 4.6 MB, whose checksum is computed in two pieces.
TEST_F(FolderListingTest, RemembersManyNames) {
  for (int i = 0; i < 22000; ++i) Put(absl::StrCat("cat/", std::string(200, 'x'), i, ".png"));
  Settle();
  EXPECT_THAT(Names("cat"), SizeIs(22002));
  const std::string content = *ReadFile(JoinPath(memory_, Entries().at(0)));
  const size_t begin = content.find('\n') + 1;
  const uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(&content[begin]), content.size() - begin);
  EXPECT_EQ(content.substr(0, begin), absl::StrCat("openset image names 2 ", sum, "\n"));
  EXPECT_GT(content.size(), 1 << 22);
  EXPECT_THAT(Names("cat"), SizeIs(22002));
}

TEST_F(FolderListingTest, IgnoresCorruptMemories) {
  Settle();
  Names("cat");
  const std::string name = Entries().at(0), content = *ReadFile(JoinPath(memory_, name));
  for (size_t at = 0; at < content.size(); ++at) {
    std::string damaged = content;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    WriteTestFile("memory/" + name, damaged);
    EXPECT_THAT(Names("cat"), ElementsAre("a.JPG", "b.png")) << at;
    WriteTestFile("memory/" + name, content.substr(0, at));
    EXPECT_THAT(Names("dog"), ElementsAre("1.jpeg")) << at;
  }
}

TEST_F(FolderListingTest, FewImagesAreNotRemembered) {
  Settle();
  EXPECT_THAT(Memory(/*min_images=*/4).List(root_, {"cat", "dog"}), IsOk());
  EXPECT_THAT(Entries(), IsEmpty());
  EXPECT_THAT(Memory(/*min_images=*/3).List(root_, {"cat", "dog"}), IsOk());
  EXPECT_THAT(Entries(), SizeIs(1));
}

}  // namespace
}  // namespace openset
