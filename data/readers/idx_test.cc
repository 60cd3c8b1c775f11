#include "data/readers/idx.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "data/testing/damage.h"

namespace openset {
namespace {

// Two images of 2 x 3 pixels 1, ..., 12 and their labels 7 and 0.
const char kImages[] =
    "00000803000000020000000200000003"
    "0102030405060708090a0b0c";
const char kLabels[] =
    "0000080100000002"
    "0700";
// The same, compressed by Python's gzip.compress(..., mtime=0).
const char kImagesGz[] = "1f8b08000000000002036360e06066606060826266462666165636760e4e2e6e1e0048110c841c000000";
const char kLabelsGz[] = "1f8b08000000000002036360e0606460606062670000de3addda0a000000";

class ReadIdxTest : public ::testing::Test {
 protected:
  // Reads files with these contents, given as hexadecimal digits.
  absl::StatusOr<ImageSet> Read(absl::string_view images, absl::string_view labels) {
    WriteTestFile("images", absl::HexStringToBytes(images));
    WriteTestFile("labels", absl::HexStringToBytes(labels));
    return ReadIdx(images_path_, labels_path_);
  }

  const std::string images_path_ = WriteTestFile("images", "");
  const std::string labels_path_ = WriteTestFile("labels", "");
};

TEST_F(ReadIdxTest, ReadsPlainAndGzippedFiles) {
  for (const char* images : {kImages, kImagesGz}) {
    for (const char* labels : {kLabels, kLabelsGz}) {
      ASSERT_OK_AND_ASSIGN(const ImageSet set, Read(images, labels));
      EXPECT_EQ(set.channels, 1);
      EXPECT_EQ(set.height, 2);
      EXPECT_EQ(set.width, 3);
      EXPECT_THAT(set.labels, ElementsAre(7, 0));
      EXPECT_THAT(set.pixels, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
    }
  }
}

TEST_F(ReadIdxTest, RefusesAWrongLength) {
  // 2 x 2 x 3 bytes declared, 11 present.
  EXPECT_EQ(Read("000008030000000200000002000000030102030405060708090a0b", kLabels).status(),
            absl::DataLossError(images_path_ + ": the header declares 2 x 2 x 3 bytes of data, the file has 11 "
                                               "from byte 16 on; fetch the file again"));
  // 10^9 and (2^32 - 1)^3 elements in files of a few bytes.
  for (const char* sizes : {"000003e8000003e8000003e8", "ffffffffffffffffffffffff"}) {
    EXPECT_TRUE(absl::IsDataLoss(Read(absl::StrCat("00000803", sizes, "01"), kLabels).status()));
  }
  EXPECT_TRUE(absl::IsDataLoss(Read(kImages, "00000801000000020700ff").status()));
}

TEST_F(ReadIdxTest, RefusesOtherFiles) {
  EXPECT_EQ(Read(kLabelsGz, kLabels).status(),
            absl::DataLossError(images_path_ + ": 10 bytes are too few for an IDX header of 3 dimensions; "
                                               "fetch the file again"));
  EXPECT_EQ(Read(kImages, kImages).status(),
            absl::DataLossError(labels_path_ + ": begins with 00000803 where IDX labels begin with 00000801; "
                                               "is it another file?"));
  EXPECT_THAT(std::string(Read("00000803000000020000000000000003", kLabels).status().message()),
              HasSubstr("dimension 1, at byte 8, is empty"));
  EXPECT_TRUE(absl::IsNotFound(ReadIdx("/no/such/file", labels_path_).status()));
}

TEST_F(ReadIdxTest, RefusesFilesOfDifferentSets) {
  EXPECT_EQ(Read(kImages, "0000080100000003070001").status(),
            absl::DataLossError(absl::StrCat(images_path_, " has 2 images but ", labels_path_,
                                             " has 3 labels; the files do not belong together")));
}

TEST_F(ReadIdxTest, CorruptPlainFilesAreRefusedUnlessOnlyPixelsOrLabelsChange) {
  ASSERT_TRUE(Read(kImages, kLabels).ok());
  const auto read = [this] { return ReadIdx(images_path_, labels_path_); };
  // 28 truncations and 16 * 3 changes of the header are refused, 12 * 3 changes of pixels are not.
  const DamageReport images = ReadDamaged(images_path_, absl::HexStringToBytes(kImages), read);
  EXPECT_EQ(images.copies, 28 * 4);
  EXPECT_EQ(images.refused, 28 + 16 * 3);
  EXPECT_EQ(images.other_error, 0);
  EXPECT_EQ(images.broken, 0);
  const DamageReport labels = ReadDamaged(labels_path_, absl::HexStringToBytes(kLabels), read);
  EXPECT_EQ(labels.copies, 10 * 4);
  EXPECT_EQ(labels.refused, 10 + 8 * 3);
  EXPECT_EQ(labels.other_error, 0);
  EXPECT_EQ(labels.broken, 0);
}

TEST_F(ReadIdxTest, CorruptGzippedFilesAreRefusedUnlessTheContentIsTheSame) {
  const ImageSet original = *Read(kImagesGz, kLabelsGz);
  const auto read = [&] {
    absl::StatusOr<ImageSet> set = ReadIdx(images_path_, labels_path_);
    if (set.ok()) {
      EXPECT_EQ(set->pixels, original.pixels);
      EXPECT_EQ(set->labels, original.labels);
    }
    return set;
  };
  for (const char* hex : {kImagesGz, kLabelsGz}) {
    const std::string& path = hex == kImagesGz ? images_path_ : labels_path_;
    const std::string content = absl::HexStringToBytes(hex);
    const DamageReport report = ReadDamaged(path, content, read);
    EXPECT_EQ(report.copies, 4 * content.size());
    // At most the header's time (4 bytes), flags, extra flags and system can change without harm.
    EXPECT_GE(report.refused, report.copies - 3 * 7);
    EXPECT_EQ(report.other_error, 0);
  }
}

}  // namespace
}  // namespace openset
