#include "data/fetch/download.h"

#include <atomic>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "data/testing/damage.h"
#include "data/testing/http_server.h"

namespace openset {
namespace {

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
  EXPECT_THAT(DownloadFile(file_, destination_, options_), IsDataLoss("has 100003 bytes, not 200000"));
  EXPECT_EQ(Got(), "nothing");
  file_.clear_bytes();
  file_.set_md5(std::string(32, '0'));
  EXPECT_THAT(DownloadFile(file_, destination_, options_), IsDataLoss("MD5 is "));
  EXPECT_EQ(Got(), "nothing");
}

TEST_F(DownloadTest, TriesTheAddressesInOrder) {
  file_.clear_url();
  file_.add_url("file:///nowhere/data.bin");
  EXPECT_THAT(DownloadFile(file_, destination_, options_),
              IsUnavailable("cannot fetch file:///nowhere/data.bin: curl exited"));
  file_.add_url(absl::StrCat("file://", source_));
  ASSERT_THAT(DownloadFile(file_, destination_, options_), IsOk());
  EXPECT_EQ(Got(), content_);
}

TEST_F(DownloadTest, AcceptsOnlyHttps) {
  for (const std::string& url : {absl::StrCat("file://", source_), std::string("http://127.0.0.1:1/data.bin")}) {
    file_.set_url(0, url);
    EXPECT_THAT(DownloadFile(file_, destination_), IsUnavailable(url));
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
    EXPECT_THAT(DownloadFile(file_, destination_, options_), IsFailedPrecondition("is a link: remove it"));
    std::filesystem::remove(destination_ + name);
  }
  std::filesystem::create_symlink(victim, destination_);
  EXPECT_THAT(DownloadFile(file_, destination_, options_), IsOk());  // the link is replaced
  EXPECT_EQ(Got(), content_);
  EXPECT_EQ(*ReadFile(victim), "mine");
}

TEST_F(DownloadTest, ChecksBothChecksums) {
  file_.set_md5(std::string(32, '0'));
  EXPECT_THAT(DownloadFile(file_, destination_, options_), IsDataLoss("MD5 is "));
}

// Servers that fail in the usual ways.
class DownloadHttpTest : public ::testing::Test {
 protected:
  DownloadHttpTest() {
    std::filesystem::remove_all(folder_);
    for (int i = 0; content_.size() < 100003; ++i) absl::StrAppend(&content_, i, " ");
    content_.resize(100003);
    std::filesystem::create_directories(JoinPath(folder_, "set"));
    options_.protocols = "=http";
  }

  Download FileAt(const std::vector<std::string>& urls) {
    Download file;
    for (const std::string& url : urls) file.add_url(url);
    file.set_sha256(Sha256Hex(content_));
    return file;
  }
  void WritePart(const std::string& bytes) { WriteTestFile("http/set/data.bin.part", bytes); }
  std::string Got() { return ReadFile(destination_).value_or("nothing"); }
  std::string Part() { return ReadFile(destination_ + ".part").value_or("nothing"); }
  static std::vector<int64_t> Firsts(const HttpServer& server) {
    std::vector<int64_t> firsts;
    for (const HttpRequest& request : server.Requests()) firsts.push_back(request.first);
    return firsts;
  }

  const std::string folder_ = JoinPath(::testing::TempDir(), "http");
  const std::string destination_ = JoinPath(folder_, "set/data.bin");
  std::string content_;
  DownloadOptions options_;
};

// Each connection breaks after 30,000 bytes.
TEST_F(DownloadHttpTest, ResumesAfterBrokenConnections) {
  const HttpServer server([&](const HttpRequest& request) { return RangeAnswer(request, content_, 30000); });
  ASSERT_THAT(DownloadFile(FileAt({server.Url("/data.bin")}), destination_, options_), IsOk());
  EXPECT_EQ(Got(), content_);
  EXPECT_THAT(Firsts(server), ElementsAre(0, 30000, 60000, 90000));
  EXPECT_EQ(Part(), "nothing");
}

// If the server is gone, the downloaded bytes stay; the next run needs only the rest.
TEST_F(DownloadHttpTest, KeepsThePartIfTheServerIsGone) {
  WritePart(content_.substr(0, 70000));
  std::atomic<bool> gone = true;  // read in the server's thread
  const HttpServer server([&](const HttpRequest& request) {
    return gone ? HttpAnswer("404 Not Found", "<html>") : RangeAnswer(request, content_);
  });
  const Download file = FileAt({server.Url("/data.bin")});
  EXPECT_THAT(
      DownloadFile(file, destination_, options_),
      StatusIs(absl::StatusCode::kUnavailable, AllOf(HasSubstr(file.url(0)), HasSubstr("the server answered 404"))));
  EXPECT_EQ(Part(), content_.substr(0, 70000));
  EXPECT_EQ(Got(), "nothing");
  gone = false;
  ASSERT_THAT(DownloadFile(file, destination_, options_), IsOk());
  EXPECT_EQ(Got(), content_);
  EXPECT_THAT(Firsts(server), ElementsAre(70000, 70000));
}

TEST_F(DownloadHttpTest, ReportsThatNoServerAnswers) {
  std::string url;
  {
    const HttpServer server([](const HttpRequest&) { return ""; });
    url = server.Url("/data.bin");
  }
  WritePart(content_.substr(0, 10));
  EXPECT_THAT(DownloadFile(FileAt({url}), destination_, options_), IsUnavailable("nothing answers there"));
  EXPECT_EQ(Part(), content_.substr(0, 10));
}

// HTTP status 416: the part is longer than the file.
TEST_F(DownloadHttpTest, RestartsIfThePartIsTooLong) {
  WritePart(content_ + "more");
  const HttpServer server([&](const HttpRequest& request) { return RangeAnswer(request, content_); });
  ASSERT_THAT(DownloadFile(FileAt({server.Url("/data.bin")}), destination_, options_), IsOk());
  EXPECT_EQ(Got(), content_);
  EXPECT_THAT(Firsts(server), ElementsAre(100007, 0));
}

TEST_F(DownloadHttpTest, RestartsIfTheServerHasNoRanges) {
  WritePart(content_.substr(0, 500));
  const HttpServer server([&](const HttpRequest&) { return HttpAnswer("200 OK", content_); });
  ASSERT_THAT(DownloadFile(FileAt({server.Url("/data.bin")}), destination_, options_), IsOk());
  EXPECT_EQ(Got(), content_);
  EXPECT_THAT(Firsts(server), ElementsAre(500, 0));
}

// Servers that announce more bytes than they send, and fewer than there are.
TEST_F(DownloadHttpTest, RefusesAWrongLength) {
  const std::string half = content_.substr(0, 50000);
  const HttpServer longer([&](const HttpRequest& request) {
    const std::string rest = request.first < 50000 ? half.substr(request.first) : "";
    return request.first == 0 ? HttpAnswer("200 OK", half, "", 100003)
                              : HttpAnswer("206 Partial Content", rest,
                                           absl::StrCat("Content-Range: bytes ", request.first, "-100002/100003\r\n"),
                                           100003 - request.first);
  });
  EXPECT_THAT(DownloadFile(FileAt({longer.Url("/data.bin")}), destination_, options_),
              IsUnavailable("the connection broke off"));
  EXPECT_EQ(Got(), "nothing");
  EXPECT_EQ(Part(), half);
  EXPECT_THAT(Firsts(longer), ElementsAre(0, 50000));

  const HttpServer shorter(
      [&](const HttpRequest& request) { return RangeAnswer(request, absl::string_view(content_).substr(0, 70000)); });
  EXPECT_THAT(DownloadFile(FileAt({shorter.Url("/data.bin")}), destination_, options_), IsDataLoss("SHA-256 is "));
  EXPECT_EQ(Got(), "nothing");
  EXPECT_EQ(Part(), "nothing");
}

TEST_F(DownloadHttpTest, FollowsARedirectionButNotToAnotherFile) {
  const HttpServer server([&](const HttpRequest& request) {
    if (request.path == "/data.bin") return HttpAnswer("302 Found", "", "Location: /moved/data.bin\r\n");
    if (request.path == "/private.bin") return HttpAnswer("302 Found", "", "Location: /login\r\n");
    if (request.path == "/login") return HttpAnswer("200 OK", "<html>please log in</html>");
    return RangeAnswer(request, content_);
  });
  ASSERT_THAT(DownloadFile(FileAt({server.Url("/data.bin")}), destination_, options_), IsOk());
  EXPECT_EQ(Got(), content_);
  std::filesystem::remove(destination_);
  EXPECT_THAT(DownloadFile(FileAt({server.Url("/private.bin")}), destination_, options_), IsDataLoss("/private.bin"));
  EXPECT_EQ(Got(), "nothing");
}

// The part from the first address is continued from the second one.
TEST_F(DownloadHttpTest, ResumesFromAMirror) {
  const HttpServer server([&](const HttpRequest& request) {
    if (request.path != "/official.bin") return RangeAnswer(request, content_);
    return request.first == 0 ? RangeAnswer(request, content_, 40000) : HttpAnswer("410 Gone", "");
  });
  ASSERT_THAT(DownloadFile(FileAt({server.Url("/official.bin"), server.Url("/mirror.bin")}), destination_, options_),
              IsOk());
  EXPECT_EQ(Got(), content_);
  EXPECT_THAT(Firsts(server), ElementsAre(0, 40000, 40000));
}

// The length is known only at the end, so that curl's own limit does not apply.
TEST_F(DownloadHttpTest, DownloadsNoMoreThanTheCatalogStates) {
  const std::string endless(1 << 20, 'x');
  const HttpServer silent(
      [&](const HttpRequest&) { return absl::StrCat("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", endless); });
  const HttpServer open([&](const HttpRequest&) { return HttpAnswer("200 OK", endless); });
  for (const HttpServer* server : {&silent, &open}) {
    Download file = FileAt({server->Url("/data.bin")});
    file.set_max_bytes(200000);
    EXPECT_THAT(DownloadFile(file, destination_, options_), IsDataLoss("has more than 200000 bytes, the limit"));
    file.set_bytes(100003);  // which replaces max_bytes
    EXPECT_THAT(DownloadFile(file, destination_, options_), IsDataLoss("has more than 100003 bytes, the limit"));
    EXPECT_EQ(Part(), "nothing");
    EXPECT_EQ(Got(), "nothing");
  }
}

TEST_F(DownloadHttpTest, RefusesRedirectionsToOtherProtocols) {
  const std::string file = WriteTestFile("http/secret", content_);
  const HttpServer server(
      [&](const HttpRequest&) { return HttpAnswer("302 Found", "", absl::StrCat("Location: file://", file, "\r\n")); });
  EXPECT_THAT(DownloadFile(FileAt({server.Url("/data.bin")}), destination_, options_),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(Got(), "nothing");
}

}  // namespace
}  // namespace openset
