#include "data/readers/npz_images.h"

#include "core/files/files.h"
#include "core/files/formats/npz.h"
#include "core/testing/status_matchers.h"
#include "data/testing/damage.h"

namespace openset {
namespace {

constexpr char kFile[] = "data/readers/testdata/pictures.npz";

// NumPy's file (tools/peers/make_format_golden.py).
TEST(NpzImages, ReadsNumPysFiles) {
  ASSERT_OK_AND_ASSIGN(const auto golden, ReadNpz("data/readers/testdata/formats.npz"));
  const std::string& pixels = golden.at("pixels").data;
  ASSERT_OK_AND_ASSIGN(const auto set, ReadNpzImages(kFile, kFile, "images", "labels"));
  EXPECT_EQ(set.pixels, std::vector<uint8_t>(pixels.begin(), pixels.end()));
  EXPECT_THAT(set.labels, ElementsAre(10, 1, 2, 9, 10, 3));
  ASSERT_OK_AND_ASSIGN(const auto grey, ReadNpzImages(kFile, kFile, "grey", "labels"));
  EXPECT_EQ(grey.channels, 1);
  EXPECT_EQ(grey.height, 4);
  EXPECT_EQ(grey.width, 5);
  // The first channel of each image.
  for (int n = 0; n < 6; ++n) {
    for (int p = 0; p < 20; ++p) ASSERT_EQ(grey.pixels[20 * n + p], set.pixels[60 * n + p]);
  }
}

TEST(NpzImages, ErrorsNameTheArray) {
  EXPECT_THAT(ReadNpzImages("absent.npz", kFile, "images", "labels"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(ReadNpzImages(kFile, kFile, "image", "labels"),
              StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr("pictures.npz"), HasSubstr("no array 'image'"))));
  EXPECT_THAT(ReadNpzImages(kFile, kFile, "wide", "labels"), IsDataLoss("'wide' is <i2 [6, 3, 4, 5]"));
  EXPECT_THAT(ReadNpzImages(kFile, kFile, "images", "grey"), IsDataLoss("not a label for each of 6 images"));
  const std::string path = ::testing::TempDir() + "negative.npz";
  ASSERT_THAT(WriteNpz(path, {{"labels", MakeNpy(std::vector<int64_t>{0, 1, 2, 3, 4, -5}, {6})}}), IsOk());
  EXPECT_THAT(ReadNpzImages(kFile, path, "images", "labels"),
              IsDataLoss("negative.npz: array 'labels': label 5 (-5) is not a class id"));
}

// An array of 4 bytes that claims 4 GB, and images without pixels.
TEST(NpzImages, DoesNotAllocateClaimedSizes) {
  const std::string path = ::testing::TempDir() + "claims.npz";
  ASSERT_THAT(WriteNpz(path, {{"images", {"|u1", {1 << 20, 64, 64}, "abcd"}}}), IsOk());
  EXPECT_THAT(
      ReadNpzImages(path, path, "images", "labels"),
      StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr("claims.npz: array 'images'"),
                                                  HasSubstr("4294967296 bytes and it has 4 from byte 128 on"))));
  ASSERT_THAT(WriteNpz(path, {{"images", {"|u1", {2, 0, 3}, ""}}}), IsOk());
  EXPECT_THAT(ReadNpzImages(path, path, "images", "labels"), IsDataLoss("array 'images' [2, 0, 3] is empty"));
}

TEST(NpzImages, OtherFilesAndTruncationsAreRefused) {
  const std::string path = ::testing::TempDir() + "other.npz";
  const auto read = [&](const std::string& bytes) {
    WriteTestFile("other.npz", bytes);
    return ReadNpzImages(path, path, "images", "labels");
  };
  EXPECT_THAT(read("no archive"), IsDataLoss("other.npz: not an .npz archive"));
  const std::string whole = ReadFile(kFile).value();
  // The last bytes of the archive's end record (the length of its comment, 0) are not needed.
  for (size_t size = 0; size + 3 < whole.size(); ++size) {
    EXPECT_THAT(read(whole.substr(0, size)), IsDataLoss("other.npz")) << size;
  }
  // Fewer labels than images.
  ASSERT_THAT(WriteNpz(path, {{"images", {"|u1", {2, 1, 1}, "ab"}}, {"labels", {"|u1", {3}, "abc"}}}), IsOk());
  EXPECT_THAT(ReadNpzImages(path, path, "images", "labels"),
              IsDataLoss("'labels' is [3], not a label for each of 2 images"));
}

TEST(NpzImages, NoticesCorruption) {
  ASSERT_OK_AND_ASSIGN(const auto content, ReadFile(kFile));
  const std::string path = ::testing::TempDir() + "damaged.npz";
  const DamageReport report = ReadDamaged(path, content, [&] { return ReadNpzImages(path, path, "images", "labels"); });
  EXPECT_EQ(report.broken, 0);
  EXPECT_GT(report.refused + report.other_error, content.size());
}

}  // namespace
}  // namespace openset
