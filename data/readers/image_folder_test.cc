#include "data/readers/image_folder.h"

#include <filesystem>

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
    return OpenImageFolder({JoinPath(root_, "dog"), JoinPath(root_, "cat")}, shape, "train");
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
  EXPECT_EQ(source->Read({1}).status(), absl::DataLossError(absl::StrCat(gone, ": not a PNG, JPEG or WebP image")));
  EXPECT_TRUE(source->Read({0, 2, 3, 4}).ok());
  EXPECT_EQ(OpenImageFolder({JoinPath(root_, "cow")}, {3, 0, 0}, "train").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ImageFolderTest, WithASizeOthersAreRefused) {
  const auto source = *Open({3, 17, 22});
  EXPECT_EQ(source->shape().bytes(), 3 * 17 * 22);
  EXPECT_TRUE(source->Read({0, 1, 3}).ok());
  EXPECT_EQ(source->Read({2}).status(),
            absl::DataLossError(
                absl::StrCat(JoinPath(root_, "dog/2.jpeg"), ": is 14 x 9 pixels, not 22 x 17 as the catalog says")));
}

TEST_F(ImageFolderTest, ManyAtOnceComeInOrder) {
  const auto source = *Open({3, 0, 0});
  std::vector<int64_t> samples;
  for (int64_t i = 0; i < 500; ++i) samples.push_back(i % 5);
  const std::vector<Image> images = *source->Read(samples);
  for (int64_t i = 0; i < 500; ++i) EXPECT_EQ(images[i].pixels, images[i % 5].pixels);
}

TEST_F(ImageFolderTest, TheListingTellsMissingNewAndCutFiles) {
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

}  // namespace
}  // namespace openset
