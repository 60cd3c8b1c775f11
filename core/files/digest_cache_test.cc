#include "core/files/digest_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "core/files/digest.h"
#include "core/files/file_state.h"
#include "core/files/files.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

class DigestCacheTest : public ::testing::Test {
 protected:
  DigestCacheTest()
      : folder_(::testing::TempDir() + "/" + ::testing::UnitTest::GetInstance()->current_test_info()->name()),
        file_(folder_ + "/file"),
        cache_(folder_ + "/cache", /*min_bytes=*/1) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }

  static void Write(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  }

  // The inode's time can't be set back: waits until the file is old enough to be remembered.
  void Settle() const {
    struct stat info;
    ASSERT_EQ(stat(file_.c_str(), &info), 0);
    while (std::time(nullptr) < info.st_ctim.tv_sec + FileState::kSettled) usleep(20000);
  }

  std::vector<std::string> Entries() const {
    return ListFolder(folder_ + "/cache").value_or(std::vector<std::string>{});
  }

  // Puts a false digest into the only entry, so that a remembered digest differs from a computed one.
  void Falsify() const {
    const std::string entry = folder_ + "/cache/" + Entries().at(0);
    std::string content = *ReadFile(entry);
    content.replace(content.size() - 65, 64, std::string(64, 'f'));
    Write(entry, content);
  }

  const std::string folder_, file_;
  const DigestCache cache_;
  const std::string false_digest_ = std::string(64, 'f');
};

TEST_F(DigestCacheTest, FilesAreCheckedBeforeTheyAreRead) {
  Write(file_, "abc");
  const auto refuse = [](const std::string& path) { return absl::DataLossError(path + ": is none"); };
  EXPECT_EQ(cache_.Sha256Hex(file_, refuse).status(), absl::DataLossError(file_ + ": is none"));
  const auto take = [](const std::string& /*path*/) { return absl::OkStatus(); };
  EXPECT_EQ(*cache_.Sha256Hex(file_, take), Sha256Hex("abc"));
  Settle();
  EXPECT_EQ(*cache_.Sha256Hex(file_), Sha256Hex("abc"));
  EXPECT_EQ(*cache_.Sha256Hex(file_, refuse), Sha256Hex("abc"));  // remembered
}

TEST_F(DigestCacheTest, StoresDigestsOfSettledFiles) {
  Write(file_, "abc");
  EXPECT_EQ(*cache_.Sha256Hex(file_), Sha256Hex("abc"));
  EXPECT_TRUE(Entries().empty());  // too new
  Settle();
  EXPECT_EQ(*cache_.Sha256Hex(file_), Sha256Hex("abc"));
  ASSERT_EQ(Entries().size(), 1);
  Falsify();
  EXPECT_EQ(*cache_.Sha256Hex(file_), false_digest_);

  // The same size and time, other content, written in place: the inode's own time has changed.
  struct stat before;
  ASSERT_EQ(stat(file_.c_str(), &before), 0);
  Write(file_, "abd");
  const timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, file_.c_str(), times, 0), 0);
  EXPECT_EQ(*cache_.Sha256Hex(file_), Sha256Hex("abd"));

  // Replaced by another file.
  Write(folder_ + "/other", "abe");
  std::filesystem::rename(folder_ + "/other", file_);
  EXPECT_EQ(*cache_.Sha256Hex(file_), Sha256Hex("abe"));
}

// Each file has its own digest, all in one entry for the folder.
TEST_F(DigestCacheTest, FilesOfAFolderAreRemembered) {
  const std::string images = folder_ + "/images";
  std::filesystem::create_directories(images);
  Write(images + "/a", "abc");
  Write(images + "/b", "");
  Write(images + "/c d", "third");
  const auto digest_of = [](const std::string& a, const std::string& b) {
    return Sha256Hex("a " + Sha256Hex(a) + "\nb " + Sha256Hex(b) + "\n");
  };
  int hashed = 0;
  std::string refused;
  const auto count = [&](const std::string& path) {
    ++hashed;
    return path != refused;
  };
  EXPECT_EQ(*cache_.Sha256HexOfFiles(images, {"a", "b"}, count), digest_of("abc", ""));
  EXPECT_TRUE(Entries().empty());  // too new
  Write(file_, "");
  Settle();
  EXPECT_EQ(*cache_.Sha256HexOfFiles(images, {"a", "b"}, count), digest_of("abc", ""));
  ASSERT_EQ(Entries().size(), 1);
  EXPECT_EQ(hashed, 4);
  // Other selections of files from the folder, as for the parts of a data set.
  EXPECT_EQ(*cache_.Sha256HexOfFiles(images, {"c d"}, count), Sha256Hex("c d " + Sha256Hex("third") + "\n"));
  EXPECT_EQ(hashed, 5);
  EXPECT_EQ(*cache_.Sha256HexOfFiles(images, {"b", "a"}, count),
            Sha256Hex("b " + Sha256Hex("") + "\na " + Sha256Hex("abc") + "\n"));
  EXPECT_TRUE(cache_.Sha256HexOfFiles(images, {"a", "b", "c d"}, count).ok());
  EXPECT_EQ(hashed, 5) << "nothing has changed";
  EXPECT_EQ(Entries().size(), 1);

  // One of them changes, its size does not. A digest that is refused is there, and isn't stored.
  Write(images + "/a", "abd");
  EXPECT_EQ(*cache_.Sha256HexOfFiles(images, {"a", "b"}, count), digest_of("abd", ""));
  EXPECT_EQ(hashed, 6);
  // A file that is gone is forgotten with the next change.
  std::filesystem::remove(images + "/c d");
  EXPECT_EQ(cache_.Sha256HexOfFiles(images, {"a", "c d"}).status().code(), absl::StatusCode::kNotFound);
  Write(file_, "again");
  Settle();
  EXPECT_EQ(*cache_.Sha256HexOfFiles(images, {"a", "b"}, count), digest_of("abd", ""));
  const std::string entry = folder_ + "/cache/" + Entries().at(0), content = *ReadFile(entry);
  EXPECT_EQ(content.find("c d"), std::string::npos);

  // A false digest shows that it was not computed; a corrupt entry is ignored.
  const std::string false_b = [&] {
    std::string rest = content.substr(65);
    rest.replace(rest.find(Sha256Hex("")), 64, false_digest_);
    return Sha256Hex(rest) + "\n" + rest;
  }();
  Write(entry, false_b);
  EXPECT_EQ(*cache_.Sha256HexOfFiles(images, {"b"}), Sha256Hex("b " + false_digest_ + "\n"));
  for (const size_t at : {size_t{0}, size_t{63}, size_t{64}, size_t{65}, content.size() / 2, content.size() - 1}) {
    std::string flipped = false_b;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x20);
    for (const std::string& damaged : {flipped, false_b.substr(0, at)}) {
      Write(entry, damaged);
      EXPECT_EQ(*cache_.Sha256HexOfFiles(images, {"b"}), Sha256Hex("b " + Sha256Hex("") + "\n")) << at;
    }
  }
}

TEST_F(DigestCacheTest, SmallFilesAreAlwaysHashed) {
  Write(file_, "abc");
  Settle();
  EXPECT_EQ(*DigestCache(folder_ + "/cache", /*min_bytes=*/4).Sha256Hex(file_), Sha256Hex("abc"));
  EXPECT_TRUE(Entries().empty());
}

TEST_F(DigestCacheTest, CorruptEntriesAreMadeAgain) {
  Write(file_, "abc");
  Settle();
  ASSERT_TRUE(cache_.Sha256Hex(file_).ok());
  const std::string entry = folder_ + "/cache/" + Entries().at(0), content = *ReadFile(entry);
  for (const std::string& damaged : {std::string(), content.substr(0, content.size() - 2), "x" + content}) {
    Write(entry, damaged);
    EXPECT_EQ(*cache_.Sha256Hex(file_), Sha256Hex("abc"));
    EXPECT_EQ(*ReadFile(entry), content);
  }
}

TEST_F(DigestCacheTest, DoesWithoutAFolder) {
  Write(file_, "abc");
  Settle();
  EXPECT_EQ(*DigestCache("", 1).Sha256Hex(file_), Sha256Hex("abc"));
  EXPECT_EQ(*DigestCache(file_ + "/below a file", 1).Sha256Hex(file_), Sha256Hex("abc"));
  EXPECT_EQ(cache_.Sha256Hex(folder_ + "/none").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace openset
