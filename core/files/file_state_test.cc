#include "core/files/file_state.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"

namespace openset {
namespace {

std::string Folder(const std::string& name) {
  const std::string folder = ::testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

void Write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

TEST(FileState, ChangesWithContentAndFile) {
  const std::string folder = Folder("states"), file = folder + "/file";
  EXPECT_EQ(StateOf(file).text, "");
  Write(file, "abc");
  const FileState first = StateOf(file);
  EXPECT_NE(first.text, "");
  EXPECT_EQ(first.bytes, 3);
  EXPECT_EQ(StateOf(file).text, first.text);
  Write(file, "abcd");
  EXPECT_NE(StateOf(file).text, first.text);
  // The same content and time in another file.
  const FileState second = StateOf(file);
  std::filesystem::copy_file(file, folder + "/other");
  std::filesystem::last_write_time(folder + "/other", std::filesystem::last_write_time(file));
  std::filesystem::rename(folder + "/other", file);
  EXPECT_NE(StateOf(file).text, second.text);
}

TEST(FileState, StartsFromAFolder) {
  const std::string folder = Folder("from");
  Write(folder + "/file", "abc");
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  EXPECT_EQ(StateOf(descriptor, "file").text, StateOf(folder + "/file").text);
  EXPECT_EQ(StateOf(descriptor, "none").text, "");
  close(descriptor);
  EXPECT_EQ(StateOf(descriptor, "file").text, "");
}

TEST(FileState, SettlesAfterATick) {
  FileState state;
  state.changed_at_seconds = 100;
  EXPECT_FALSE(state.HadSettled(100 + FileState::kSettled - 1));
  EXPECT_TRUE(state.HadSettled(100 + FileState::kSettled));
}

TEST(UserCacheFolder, IsInTheHomeThatIsSet) {
  setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(UserCacheFolder("digests"), "/home/someone/.cache/openset/digests");
  unsetenv("HOME");
  EXPECT_EQ(UserCacheFolder("digests"), "");
}

}  // namespace
}  // namespace openset
