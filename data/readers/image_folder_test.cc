#include "data/readers/image_folder.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "data/testing/damage.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ImageFolderTest : public ::testing::Test {
 protected:
  ImageFolderTest() {
    std::filesystem::remove_all(root_);
    Put("cat/b.png", "grey.png");
    Put("cat/a.JPG", "rgb.jpg");
    Put("dog/1.webp", "lossless.webp");
    Put("dog/10.png", "rgb.png");
    Put("dog/2.jpeg", "grey.jpg");
    WriteTestFile("folder/cat/.hidden.png", "");
    WriteTestFile("folder/cat/README", "");
  }

  void Put(const std::string& name, const std::string& file) {
    WriteTestFile(JoinPath("folder", name), *ReadFile(JoinPath("data/readers/testdata", file)));
  }
  absl::StatusOr<std::shared_ptr<const ImageSource>> Open(const ImageShape& shape) {
    return OpenImageFolder(root_, {"dog", "cat"}, shape, "train");
  }

  const std::string root_ = JoinPath(::testing::TempDir(), "folder");
};

TEST_F(ImageFolderTest, ListsByClassAndName) {
  const auto source = *Open({3, 0, 0});
  EXPECT_THAT(source->index().label, ElementsAre(0, 0, 0, 1, 1));
  EXPECT_THAT(source->index().group_name, ElementsAre("train"));
  EXPECT_EQ(source->shape().bytes(), 0);
  // 1.webp, 10.png, 2.jpeg, a.JPG, b.png, of the sizes in make_image_golden.py.
  const std::vector<Image> images = *source->Read({4, 0, 2, 2});
  ASSERT_EQ(images.size(), 4);
  EXPECT_EQ(images[0].height, 9);
  EXPECT_EQ(images[1].width, 22);
  EXPECT_EQ(images[2].height, 9);
  EXPECT_EQ(images[3].pixels, images[2].pixels);
  EXPECT_EQ(images[0].pixels.size(), 3 * 9 * 14);
  EXPECT_EQ((*(*Open({1, 0, 0}))->Read({0}))[0].pixels.size(), 17 * 22);
}

TEST_F(ImageFolderTest, ErrorsNameTheFile) {
  const std::string gone = JoinPath(root_, "dog/10.png");
  const auto source = *Open({3, 0, 0});
  std::filesystem::remove(gone);
  EXPECT_EQ(source->Read({0, 1}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(source->Read({0, 1}).status().message()), HasSubstr(gone));
  WriteTestFile("folder/dog/10.png", "no image");
  EXPECT_EQ(
      source->Read({1}).status(),
      absl::DataLossError(absl::StrCat(gone, ": not a PNG, JPEG, WebP, TIFF, GIF, BMP or PNM image, at byte 0 of 8")));
  EXPECT_TRUE(source->Read({0, 2, 3, 4}).ok());
  EXPECT_EQ(OpenImageFolder(root_, {"cow"}, {3, 0, 0}, "train").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ImageFolderTest, RefusesImagesOfAnotherSize) {
  const auto source = *Open({3, 17, 22});
  EXPECT_EQ(source->shape().bytes(), 3 * 17 * 22);
  EXPECT_TRUE(source->Read({0, 1, 3}).ok());
  EXPECT_EQ(source->Read({2}).status(),
            absl::DataLossError(
                absl::StrCat(JoinPath(root_, "dog/2.jpeg"), ": is 14 x 9 pixels, not 22 x 17 as the catalog says")));
}

TEST_F(ImageFolderTest, ReadsManyInOrder) {
  const auto source = *Open({3, 0, 0});
  std::vector<int64_t> samples;
  for (int64_t i = 0; i < 500; ++i) samples.push_back(i % 5);
  const std::vector<Image> images = *source->Read(samples);
  for (int64_t i = 0; i < 500; ++i) EXPECT_EQ(images[i].pixels, images[i % 5].pixels);
}

TEST_F(ImageFolderTest, TheDigestDetectsMissingNewAndTruncatedFiles) {
  const auto size = [](const std::string& file) { return ReadFile(JoinPath("data/readers/testdata", file))->size(); };
  const std::string digest = *ListingDigest(root_, {"cat"});
  EXPECT_EQ(digest, Sha256Hex(absl::StrCat("cat/a.JPG ", size("rgb.jpg"), "\ncat/b.png ", size("grey.png"), "\n")));
  WriteTestFile("folder/cat/b.png", "x");
  EXPECT_NE(*ListingDigest(root_, {"cat"}), digest);
  Put("cat/b.png", "grey.png");
  EXPECT_EQ(*ListingDigest(root_, {"cat"}), digest);
  Put("cat/c.png", "grey.png");
  EXPECT_NE(*ListingDigest(root_, {"cat"}), digest);
}

TEST_F(ImageFolderTest, LeavesOutSkippedFiles) {
  ImageFolderOptions options;
  options.skip = {"dog/10.png", "cat/a.JPG"};
  const auto source = *OpenImageFolder(root_, {"dog", "cat"}, {3, 0, 0}, "train", options);
  EXPECT_THAT(source->index().label, ElementsAre(0, 0, 1));
  EXPECT_EQ(source->Describe(1), JoinPath(root_, "dog/2.jpeg"));
  options.skip.insert("dog/11.png");
  EXPECT_EQ(OpenImageFolder(root_, {"dog", "cat"}, {3, 0, 0}, "train", options).status(),
            absl::NotFoundError(JoinPath(root_, "dog/11.png") + ": is listed in skip, but does not exist"));
}

TEST_F(ImageFolderTest, AnEmptyClassNeedsNoFolder) {
  const auto source = *OpenImageFolder(root_, {"cow", "cat"}, {3, 0, 0}, "train", {}, {true, false});
  EXPECT_THAT(source->index().label, ElementsAre(1, 1));
}

// The two shares are all images, each once, and agree for all folders of one name.
TEST_F(ImageFolderTest, SharesAreDisjointAndExhaustive) {
  for (int64_t n = 0; n < 40; ++n) {
    const auto test = PlacesOfShare({7, 0.2, true}, "cat", n);
    const auto train = PlacesOfShare({7, 0.2, false}, "cat", n);
    // round(n / 5), half up, at least 1 and at most n - 1.
    EXPECT_EQ(test.size(), n < 2 ? 0 : std::max<int64_t>(1, (2 * n + 5) / 10)) << n;
    std::vector<int64_t> all(train);
    all.insert(all.end(), test.begin(), test.end());
    std::sort(all.begin(), all.end());
    ASSERT_EQ(all.size(), n);
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(all[i], i);
    EXPECT_TRUE(std::is_sorted(train.begin(), train.end()));
  }
  EXPECT_NE(PlacesOfShare({7, 0.2, true}, "cat", 40), PlacesOfShare({7, 0.2, true}, "dog", 40));
  EXPECT_NE(PlacesOfShare({7, 0.2, true}, "cat", 40), PlacesOfShare({8, 0.2, true}, "cat", 40));
}

TEST_F(ImageFolderTest, ReadsAShare) {
  ImageFolderOptions options;
  options.share = {0, 0.5, true};
  const auto source = *OpenImageFolder(root_, {"dog", "cat"}, {3, 0, 0}, "test", options);
  EXPECT_THAT(source->index().label, ElementsAre(0, 0, 1));  // round(1.5) and 1
}

}  // namespace
}  // namespace openset
