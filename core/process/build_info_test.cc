#include "core/process/build_info.h"

#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/process/subprocess.h"
#include "core/testing/status_matchers.h"
#include "google/protobuf/stubs/common.h"
#include "zlib.h"

// As //tools:build_stamp defines it, of a tree with changes.
extern const char openset_build_commit[];
const char openset_build_commit[] = "0123abcd-dirty-4567ef";

namespace openset {
namespace {

TEST(BuildInfo, AStampIsTheCommitAndTheDigestOfTheChanges) {
  EXPECT_TRUE(IsStamped());
  EXPECT_EQ(BuildCommit(), "0123abcd");
  EXPECT_TRUE(BuiltFromChanges());
  EXPECT_EQ(BuildChanges(), "4567ef");
}

TEST(BuildInfo, IdentifiesTheProgramByItsSha256) {
  const std::string path = std::filesystem::read_symlink("/proc/self/exe").string();
  EXPECT_EQ(CaptureOutput({"sha256sum", path}).value(), absl::StrCat(ProgramDigest(), "  ", path, "\n"));
}

// Their headers know the upstream version.
TEST(BuildInfo, LibrariesStandWithTheVersionsOfTheirHeaders) {
  const std::vector<std::string> libraries = absl::StrSplit(ThirdPartyLibraries(), ", ");
  EXPECT_THAT(libraries, Contains(StartsWith("zlib 1:" ZLIB_VERSION ".")));
  EXPECT_THAT(libraries, Contains(StartsWith(absl::StrCat("protobuf ", GOOGLE_PROTOBUF_VERSION / 1000000, ".",
                                                          GOOGLE_PROTOBUF_VERSION / 1000 % 1000, ".",
                                                          GOOGLE_PROTOBUF_VERSION % 1000, "-"))));
}

}  // namespace
}  // namespace openset
