#include "data/readers/mat.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/formats/npz.h"
#include "core/testing/byte_order.h"
#include "core/testing/status_matchers.h"
#include "data/testing/damage.h"

namespace openset {
namespace {

constexpr char kFolder[] = "data/readers/testdata/";

std::string Header() { return std::string(124, ' ') + std::string("\0\1IM", 4); }

absl::StatusOr<ImageSet> ReadText(const std::string& content) {
  return ReadMat(WriteTestFile("made.mat", content), "X", "y");
}

// SciPy's files (tools/peers/make_format_golden.py): compressed with labels of one byte, and plain with doubles.
TEST(Mat, ReadsSciPysFiles) {
  ASSERT_OK_AND_ASSIGN(const auto golden, ReadNpz(absl::StrCat(kFolder, "formats.npz")));
  const std::string& pixels = golden.at("pixels").data;
  for (const char* name : {"digits.mat", "digits_plain.mat"}) {
    ASSERT_OK_AND_ASSIGN(const auto set, ReadMat(absl::StrCat(kFolder, name), "X", "y"));
    EXPECT_EQ(set.channels, 3);
    EXPECT_EQ(set.height, 4);
    EXPECT_EQ(set.width, 5);
    EXPECT_EQ(set.pixels, std::vector<uint8_t>(pixels.begin(), pixels.end())) << name;
    EXPECT_THAT(set.labels, ElementsAre(10, 1, 2, 9, 10, 3));
  }
}

// Tests every truncation, including those at header boundaries, and every byte changed in three ways. Accepted changes
// of the plain file are in pixels, labels (to other whole numbers), padding and the header's text; in the
// compressed file, zlib's checksum notices nearly all.
TEST(Mat, NoticesCorruption) {
  for (const char* name : {"digits.mat", "digits_plain.mat"}) {
    ASSERT_OK_AND_ASSIGN(const auto content, ReadFile(absl::StrCat(kFolder, name)));
    const std::string path = absl::StrCat(::testing::TempDir(), name);
    const DamageReport report = ReadDamaged(path, content, [&] { return ReadMat(path, "X", "y"); });
    EXPECT_EQ(report.broken, 0);
    EXPECT_EQ(report.other_error, 0);
    EXPECT_GT(report.refused, content.size());
    for (size_t size = 0; size < content.size(); ++size) {
      EXPECT_THAT(ReadText(content.substr(0, size)), IsDataLoss("made.mat")) << size;
    }
  }
}

TEST(Mat, ErrorsNameFileAndOffset) {
  EXPECT_THAT(ReadMat("absent.mat", "X", "y"), IsNotFound("absent.mat"));
  EXPECT_THAT(ReadText("MATLAB 5.0"), IsDataLoss("10 bytes are too few"));
  EXPECT_THAT(ReadText(std::string(200, 'x')), IsDataLoss("bytes 124 to 127 are not those of"));
  EXPECT_THAT(ReadText(Header()), IsDataLoss("has no array 'X'"));
  // An element claims 4 GB in a file of 140 bytes.
  EXPECT_THAT(ReadText(Header() + LittleEndian(14) + LittleEndian(0xfffffff8) + "1234"),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("made.mat at byte 128"), HasSubstr("claims 4294967288 bytes, 4 are left"))));
}

// An array of 4 bytes whose sizes claim 4 GB, or more than 64 bits can count.
TEST(Mat, DoesNotAllocateClaimedSizes) {
  for (const uint32_t size : {256u, 0x7fffffffu, 0xffffffffu}) {
    std::string array = LittleEndian(6) + LittleEndian(8) + LittleEndian(9) + LittleEndian(0);  // flags: unsigned bytes
    array += LittleEndian(5) + LittleEndian(16);
    for (int d = 0; d < 4; ++d) array += LittleEndian(size);
    array += LittleEndian(1 | 1 << 16) + std::string("X\0\0\0", 4);  // the name
    array += LittleEndian(2 | 4 << 16) + "abcd";
    EXPECT_THAT(ReadText(Header() + LittleEndian(14) + LittleEndian(array.size()) + array), IsDataLoss("array 'X' "));
  }
}

// Returns an array of bytes with these sizes.
std::string Bytes(const std::string& name, const std::vector<uint32_t>& sizes, const std::string& data) {
  const auto padded = [](std::string bytes) { return bytes + std::string((8 - bytes.size() % 8) % 8, '\0'); };
  std::string array = LittleEndian(6) + LittleEndian(8) + LittleEndian(9) + LittleEndian(0);  // flags: unsigned bytes
  std::string lengths;
  for (const uint32_t size : sizes) lengths += LittleEndian(size);
  array += LittleEndian(5) + LittleEndian(lengths.size()) + padded(lengths);
  array += LittleEndian(1) + LittleEndian(name.size()) + padded(name);
  array += LittleEndian(2) + LittleEndian(data.size()) + padded(data);
  return LittleEndian(14) + LittleEndian(array.size()) + array;
}

TEST(Mat, CountsThatDisagreeAreRefused) {
  const std::string images = Bytes("X", {1, 2, 1, 3}, "abcdef");
  ASSERT_OK_AND_ASSIGN(const auto set, ReadText(Header() + images + Bytes("y", {3, 1}, std::string("\1\2\0", 3))));
  EXPECT_THAT(set.labels, ElementsAre(1, 2, 0));
  EXPECT_THAT(ReadText(Header() + images + Bytes("y", {2, 1}, "\1\2")),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("made.mat: array 'y'"), HasSubstr("has 2 labels for 3 images"))));
}

TEST(Mat, OtherArraysAreRefusedByName) {
  const std::string path = absl::StrCat(kFolder, "digits.mat");
  EXPECT_THAT(ReadMat(path, "X", "z"), IsDataLoss("has no array 'z'"));
  EXPECT_THAT(ReadMat(path, "y", "X"), IsDataLoss("array 'y': not an array of unsigned bytes"));
  EXPECT_THAT(ReadMat(path, "X", "y", /*max_bytes=*/100), IsDataLoss("inflates to more than 100 bytes"));
}

}  // namespace
}  // namespace openset
