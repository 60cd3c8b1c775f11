#include "core/files/input_file.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

class InputFileTest : public ::testing::Test {
 protected:
  InputFileTest() : folder_(::testing::TempDir() + "/input_file") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  std::string In(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
};

std::string ContentOf(absl::StatusOr<InputFile> file) {
  if (!file.ok()) return file.status().ToString();
  std::string content(100, '\0');
  const absl::StatusOr<size_t> got = file->Read(content.data(), content.size());
  return got.ok() ? content.substr(0, *got) : got.status().ToString();
}

TEST_F(InputFileTest, ReadsTheEnd) {
  std::ofstream(In("log")) << "abcdef";
  EXPECT_EQ(ReadEnd(In("log"), 3), "def");
  EXPECT_EQ(ReadEnd(In("log"), 3, /*start=*/4), "ef");
  EXPECT_EQ(ReadEnd(In("log"), 100), "abcdef");
  EXPECT_EQ(ReadEnd(In("log"), 3, /*start=*/6), "");
  EXPECT_EQ(ReadEnd(In("none"), 3), "");
}

TEST_F(InputFileTest, ReadsFilesAlsoThroughLinks) {
  std::ofstream(In("file")) << "content";
  std::filesystem::create_symlink("file", In("link"));
  EXPECT_EQ(ContentOf(OpenRegularFile(In("file"))), "content");
  EXPECT_EQ(ContentOf(OpenRegularFile(In("link"))), "content");
  EXPECT_EQ(ContentOf(OpenGivenFile(In("file"))), "content");
  EXPECT_EQ(OpenRegularFile(In("file"))->bytes(), 7);
  ASSERT_OK_AND_ASSIGN(InputFile file, OpenRegularFile(In("file")));
  InputFile other = std::move(file);
  EXPECT_EQ(other.path(), In("file"));
  EXPECT_EQ(ContentOf(std::move(other)), "content");
}

TEST_F(InputFileTest, ExplainsWhyAFileCannotBeOpened) {
  EXPECT_THAT(OpenRegularFile(In("none")), IsNotFound("none: No such file"));
  EXPECT_THAT(OpenRegularFile(folder_), IsInvalidArgument("is a folder, not a file"));
  EXPECT_EQ(OpenRegularFile("").status(), absl::InvalidArgumentError("cannot open a file without a name"));
  std::filesystem::create_symlink("circle", In("circle"));
  EXPECT_THAT(OpenRegularFile(In("circle")), IsDataLoss("circle"));
  std::ofstream(In("file")) << "content";
  EXPECT_THAT(OpenRegularFile(absl::StrCat(In("file"), absl::string_view("\0.png", 5))).status(),
              IsInvalidArgument("file\\x00.png': it has a NUL byte"));
}

TEST_F(InputFileTest, ReadsOnFromAnyByte) {
  std::ofstream(In("file")) << "content";
  ASSERT_OK_AND_ASSIGN(InputFile file, OpenRegularFile(In("file")));
  ASSERT_TRUE(file.MoveTo(3).ok());
  EXPECT_EQ(ContentOf(std::move(file)), "tent");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_OK_AND_ASSIGN(InputFile given, OpenGivenFile(absl::StrCat("/dev/fd/", ends[0])));
  EXPECT_THAT(given.MoveTo(3), IsDataLoss("/dev/fd/"));
  close(ends[0]), close(ends[1]);
}

// Reading any of them would block for ever, never end, or consume another program's input.
TEST_F(InputFileTest, RefusesPipesSocketsAndDevicesAtOnce) {
  ASSERT_EQ(mkfifo(In("pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe", In("link"));
  const int server = socket(AF_UNIX, SOCK_STREAM, 0);
  const absl::Cleanup close_it = [server] { close(server); };
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  // The limit on a socket's path is 107 bytes.
  const std::string old = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  std::snprintf(address.sun_path, sizeof(address.sun_path), "socket");
  ASSERT_EQ(bind(server, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  std::filesystem::current_path(old);
  for (const std::string& path : {In("pipe"), In("link"), In("socket"), std::string("/dev/zero")}) {
    EXPECT_EQ(OpenRegularFile(path).status(), absl::DataLossError(path + ": is a pipe or a device"));
    EXPECT_EQ(OpenGivenFile(path).status(), absl::DataLossError(path + ": is a pipe or a device"));
  }
}

TEST_F(InputFileTest, AcceptsPipesFromTheShell) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string path = absl::StrCat("/dev/fd/", ends[0]);
  EXPECT_EQ(OpenRegularFile(path).status(), absl::DataLossError(path + ": is a pipe or a device"));
  // Reads wait for data that comes late.
  std::thread writer([&ends] {
    (void)!write(ends[1], "con", 3);
    (void)!write(ends[1], "tent", 4);
    close(ends[1]);
  });
  EXPECT_EQ(ContentOf(OpenGivenFile(path)), "content");
  writer.join();
  close(ends[0]);
}

}  // namespace
}  // namespace openset
