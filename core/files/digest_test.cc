#include "core/files/digest.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

// FIPS 180-4 examples.
constexpr char kAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr char kEmpty[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

TEST(Sha256, PublishedExamples) {
  EXPECT_EQ(Sha256Hex("abc"), kAbc);
  EXPECT_EQ(Sha256Hex(""), kEmpty);
}

TEST(Sha256, PartsGiveTheDigestOfTheWhole) {
  Sha256 sha;
  sha.Update("a");
  sha.Update("");
  sha.Update("bc");
  EXPECT_EQ(ToHex(sha.Finish()), kAbc);
}

TEST(Sha256HexOfFile, ReadsTheWholeFile) {
  const std::string path = testing::TempDir() + "/digest_test";
  const std::string content(3 << 20, 'x');
  std::ofstream(path) << content;
  EXPECT_EQ(*Sha256HexOfFile(path), Sha256Hex(content));
}

TEST(Sha256HexOfFile, RefusesFilesAboveTheLimit) {
  const std::string path = testing::TempDir() + "/digest_test_large";
  std::ofstream(path) << "abc";
  EXPECT_EQ(*Sha256HexOfFile(path, 3), kAbc);
  EXPECT_EQ(Sha256HexOfFile(path, 2).status(),
            absl::DataLossError(path + ": has 3 bytes, more than the 2 that such a file may have"));
  // A sparse file of four terabytes.
  ASSERT_EQ(truncate(path.c_str(), off_t{1} << 42), 0);
  EXPECT_EQ(Sha256HexOfFile(path).status().code(), absl::StatusCode::kDataLoss);
  // A file that reports no size.
  EXPECT_EQ(Sha256HexOfFile("/proc/self/stat", 4).status().code(), absl::StatusCode::kDataLoss);
}

TEST(Sha256HexOfFile, NamesTheMissingFile) {
  EXPECT_EQ(Sha256HexOfFile("/nowhere/file").status(),
            absl::NotFoundError("cannot open /nowhere/file: No such file or directory"));
}

TEST(Sha256HexOfFile, DoesNotWaitForAPipe) {
  const std::string path = testing::TempDir() + "/digest_test_pipe";
  unlink(path.c_str());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(Sha256HexOfFile(path).status(), absl::DataLossError(path + ": is a pipe or a device"));
}

TEST(ReadFileWithDigest, RefusesOtherContent) {
  const std::string path = testing::TempDir() + "/abc";
  std::ofstream(path) << "abc";
  EXPECT_EQ(*ReadFileWithDigest(path, kAbc), "abc");
  EXPECT_EQ(*ReadFileWithDigest(path, ""), "abc");
  const absl::Status status = ReadFileWithDigest(path, kEmpty).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), absl::StrCat(path, " has the SHA-256 ", kAbc, ", not ", kEmpty,
                                           ": restore the original file, or correct sha256"));
  EXPECT_TRUE(absl::IsNotFound(ReadFileWithDigest("/nowhere/file", "").status()));
}

// RFC 1321, appendix A.5.
TEST(Md5, AsTheStandardHasIt) {
  const std::string path = JoinPath(::testing::TempDir(), "md5");
  for (const auto& [content, sum] : {std::pair{"", "d41d8cd98f00b204e9800998ecf8427e"},
                                     {"abc", "900150983cd24fb0d6963f7d28e17f72"},
                                     {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"}}) {
    ASSERT_THAT(WriteFileAtomically(path, content), IsOk());
    EXPECT_EQ(Md5HexOfFile(path).value(), sum);
  }
  EXPECT_THAT(Md5HexOfFile(path + ".absent"),
              StatusIs(absl::StatusCode::kNotFound, ::testing::HasSubstr("md5.absent")));
}

}  // namespace
}  // namespace openset
