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

// Uses files instead of servers: curl supports file://, if it is allowed.
class DownloadTest : public ::testing::Test {
 protected:
  DownloadTest() {
    std::filesystem::remove_all(folder_);
    source_ = WriteTestFile("served/data.bin", content_);
    file_.add_url(absl::StrCat("file://", source_));
    file_.set_sha256(Sha256Hex(content_));
    options_.protocols = "=file";
    std::filesystem::create_directories(JoinPath(folder_, "set"));
  }

  std::string Got() { return ReadFile(destination_).value_or("nothing"); }
  bool HasPart() { return FileExists(destination_ + ".part"); }

  const std::string content_ = std::string(100000, 'x') + "end";
  const std::string folder_ = JoinPath(::testing::TempDir(), "data");
  const std::string destination_ = JoinPath(folder_, "set/data.bin");
  std::string source_;
  Download file_;
  DownloadOptions options_;
};

TEST_F(DownloadTest, DownloadsAndChecks) {
  ASSERT_THAT(DownloadFile(file_, destination_, options_), IsOk());
  EXPECT_EQ(Got(), content_);
  EXPECT_FALSE(HasPart());
  // An existing file is not downloaded again.
  std::filesystem::remove(source_);
  EXPECT_THAT(DownloadFile(file_, destination_, options_), IsOk());
}

TEST_F(DownloadTest, ReportsProgress) {
  file_.set_bytes(static_cast<int64_t>(content_.size()));
  int calls = 0;
  options_.progress = [&](const std::string& what, int64_t done, int64_t total) {
    EXPECT_EQ(what, "fetching data.bin");
    EXPECT_LE(done, total);
    EXPECT_EQ(total, content_.size());
    ++calls;
  };
  ASSERT_THAT(DownloadFile(file_, destination_, options_), IsOk());
  EXPECT_GE(calls, 1);
  EXPECT_EQ(Got(), content_);
  EXPECT_FALSE(FileExists(destination_ + ".part.headers"));
}

// Only the rest is downloaded, so a wrong part leads to a wrong checksum, and then everything is downloaded again.
TEST_F(DownloadTest, ResumesAPart) {
  WriteTestFile("data/set/data.bin.part", content_.substr(0, 99999));
  ASSERT_THAT(DownloadFile(file_, destination_, options_), IsOk());
  EXPECT_EQ(Got(), content_);

  std::filesystem::remove(destination_);
  WriteTestFile("data/set/data.bin.part", "another");
  Download unchecked = file_;
  unchecked.clear_sha256();
  ASSERT_THAT(DownloadFile(unchecked, destination_, options_), IsOk());
  EXPECT_EQ(Got(), absl::StrCat("another", content_.substr(7)));

  WriteTestFile("data/set/data.bin.part", "another");
  ASSERT_THAT(DownloadFile(file_, destination_, options_), IsOk());
  EXPECT_EQ(Got(), content_) << "the wrong file was replaced";
}

TEST_F(DownloadTest, AcceptsACompletePart) {
  WriteTestFile("data/set/data.bin.part", content_);
  std::filesystem::remove(source_);
  ASSERT_THAT(DownloadFile(file_, destination_, options_), IsOk());
  EXPECT_EQ(Got(), content_);
}

TEST_F(DownloadTest, NeverRenamesAWrongFile) {
  file_.set_sha256(std::string(64, '0'));
  EXPECT_THAT(DownloadFile(file_, destination_, options_),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr(Sha256Hex(content_)), HasSubstr("not 0000"), HasSubstr("file://"))));
  EXPECT_EQ(Got(), "nothing");
  EXPECT_FALSE(HasPart());
  file_.clear_sha256();
  file_.set_bytes(200000);
  EXPECT_THAT(DownloadFile(file_, destination_, options_),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("has 100003 bytes, not 200000")));
  EXPECT_EQ(Got(), "nothing");
  file_.clear_bytes();
  file_.set_md5(std::string(32, '0'));
  EXPECT_THAT(DownloadFile(file_, destination_, options_), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("MD5 is ")));
  EXPECT_EQ(Got(), "nothing");
}

TEST_F(DownloadTest, TriesTheAddressesInOrder) {
  file_.clear_url();
  file_.add_url("file:///nowhere/data.bin");
  EXPECT_THAT(
      DownloadFile(file_, destination_, options_),
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr("cannot fetch file:///nowhere/data.bin: curl exited")));
  file_.add_url(absl::StrCat("file://", source_));
  ASSERT_THAT(DownloadFile(file_, destination_, options_), IsOk());
  EXPECT_EQ(Got(), content_);
}

TEST_F(DownloadTest, AcceptsOnlyHttps) {
  for (const std::string& url : {absl::StrCat("file://", source_), std::string("http://127.0.0.1:1/data.bin")}) {
    file_.set_url(0, url);
    EXPECT_THAT(DownloadFile(file_, destination_), StatusIs(absl::StatusCode::kUnavailable, HasSubstr(url)));
    EXPECT_EQ(Got(), "nothing");
  }
}

// An address that curl would mistake for an option, and one that it would expand to two.
TEST_F(DownloadTest, TakesAnAddressLiterally) {
  const std::string written = WriteTestFile("served/options", absl::StrCat("output = ", folder_, "/stolen\n"));
  file_.set_url(0, absl::StrCat("-K", written));
  EXPECT_THAT(DownloadFile(file_, destination_, options_), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_FALSE(FileExists(JoinPath(folder_, "stolen")));
  WriteTestFile("served/{a,b}", content_);
  file_.set_url(0, absl::StrCat("file://", ::testing::TempDir(), "/served/{a,b}"));
  EXPECT_THAT(DownloadFile(file_, destination_, options_), IsOk());
  EXPECT_EQ(Got(), content_);
}

TEST_F(DownloadTest, NeverWritesThroughALink) {
  const std::string victim = WriteTestFile("victim", "mine");
  for (const char* name : {".part", ".part.headers"}) {
    std::filesystem::create_symlink(victim, destination_ + name);
    EXPECT_THAT(DownloadFile(file_, destination_, options_),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("is a link: remove it")));
    std::filesystem::remove(destination_ + name);
  }
  std::filesystem::create_symlink(victim, destination_);
  EXPECT_THAT(DownloadFile(file_, destination_, options_), IsOk());  // the link is replaced
  EXPECT_EQ(Got(), content_);
  EXPECT_EQ(*ReadFile(victim), "mine");
}

TEST_F(DownloadTest, ChecksBothChecksums) {
  file_.set_md5(std::string(32, '0'));
  EXPECT_THAT(DownloadFile(file_, destination_, options_), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("MD5 is ")));
}

}  // namespace
}  // namespace openset
