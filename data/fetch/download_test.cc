#include "data/fetch/download.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "data/testing/damage.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Servers are files: curl knows file:// as well.
class DownloadTest : public ::testing::Test {
 protected:
  DownloadTest() {
    std::filesystem::remove_all(folder_);
    source_ = WriteTestFile("served/data.bin", content_);
    file_.add_url(absl::StrCat("file://", source_));
    file_.set_sha256(Sha256Hex(content_));
  }

  std::string Got() { return ReadFile(destination_).value_or("nothing"); }
  bool HasPart() { return FileExists(destination_ + ".part"); }

  const std::string content_ = std::string(100000, 'x') + "end";
  const std::string folder_ = JoinPath(::testing::TempDir(), "data");
  const std::string destination_ = JoinPath(folder_, "set/data.bin");
  std::string source_;
  Download file_;
};

TEST_F(DownloadTest, BringsAndChecks) {
  ASSERT_THAT(DownloadFile(file_, destination_), IsOk());
  EXPECT_EQ(Got(), content_);
  EXPECT_FALSE(HasPart());
  // What is there is not fetched again.
  std::filesystem::remove(source_);
  EXPECT_THAT(DownloadFile(file_, destination_), IsOk());
}

TEST_F(DownloadTest, TellsWhatIsThere) {
  file_.set_bytes(static_cast<int64_t>(content_.size()));
  int calls = 0;
  const auto tell = [&](const std::string& what, int64_t done, int64_t total) {
    EXPECT_EQ(what, "fetching data.bin");
    EXPECT_LE(done, total);
    EXPECT_EQ(total, content_.size());
    ++calls;
  };
  ASSERT_THAT(DownloadFile(file_, destination_, tell), IsOk());
  EXPECT_GE(calls, 1);
  EXPECT_EQ(Got(), content_);
  EXPECT_FALSE(FileExists(destination_ + ".part.headers"));
}

// Only the rest is fetched: what is there stays, so that a wrong beginning shows in the sum, and all is fetched anew.
TEST_F(DownloadTest, GoesOnWithAPart) {
  WriteTestFile("data/set/data.bin.part", content_.substr(0, 99999));
  ASSERT_THAT(DownloadFile(file_, destination_), IsOk());
  EXPECT_EQ(Got(), content_);

  std::filesystem::remove(destination_);
  WriteTestFile("data/set/data.bin.part", "another");
  Download unchecked = file_;
  unchecked.clear_sha256();
  ASSERT_THAT(DownloadFile(unchecked, destination_), IsOk());
  EXPECT_EQ(Got(), absl::StrCat("another", content_.substr(7)));

  WriteTestFile("data/set/data.bin.part", "another");
  ASSERT_THAT(DownloadFile(file_, destination_), IsOk());
  EXPECT_EQ(Got(), content_) << "the wrong file was replaced";
}

TEST_F(DownloadTest, APartThatIsWholeIsTaken) {
  WriteTestFile("data/set/data.bin.part", content_);
  std::filesystem::remove(source_);
  ASSERT_THAT(DownloadFile(file_, destination_), IsOk());
  EXPECT_EQ(Got(), content_);
}

TEST_F(DownloadTest, AnotherFileNeverGetsTheName) {
  file_.set_sha256(std::string(64, '0'));
  EXPECT_THAT(DownloadFile(file_, destination_),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr(Sha256Hex(content_)), HasSubstr("not 0000"), HasSubstr("file://"))));
  EXPECT_EQ(Got(), "nothing");
  EXPECT_FALSE(HasPart());
  file_.clear_sha256();
  file_.set_bytes(5);
  EXPECT_THAT(DownloadFile(file_, destination_),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("has 100003 bytes, not 5")));
  EXPECT_EQ(Got(), "nothing");
  file_.clear_bytes();
  file_.set_md5(std::string(32, '0'));
  EXPECT_THAT(DownloadFile(file_, destination_), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("MD5 is ")));
  EXPECT_EQ(Got(), "nothing");
}

TEST_F(DownloadTest, TriesTheAddressesInOrder) {
  file_.clear_url();
  file_.add_url("file:///nowhere/data.bin");
  EXPECT_THAT(
      DownloadFile(file_, destination_),
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr("cannot fetch file:///nowhere/data.bin: curl exited")));
  file_.add_url(absl::StrCat("file://", source_));
  ASSERT_THAT(DownloadFile(file_, destination_), IsOk());
  EXPECT_EQ(Got(), content_);
}

}  // namespace
}  // namespace openset
