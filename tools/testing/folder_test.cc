// A study on image folders: images of different sizes and formats, transforms at their own size, files that go missing.
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

constexpr char kCatalog[] = R"(
name: "mixed"
channels: 3
height: 0
width: 0
class_name: ["a", "b", "c", "d"]
layout {
  part { name: "photos" samples: 24 samples_per_class: 6 image_folder { path: "mixed/photos" } }
  part { name: "more" samples: 8 samples_per_class: 2 image_folder { path: "mixed/more" } }
}
)";

constexpr char kTask[] = R"(
name: "mixed"
data_set: "mixed"
train_part: "photos"
test_part: "more"
split { known: [2, 0] }
)";

constexpr char kSpec[] = R"(
name: "mixed_study"
task: "mixed"
split: 0
seed: 0
method: "softmax"
override {
  model { osrci_cnn {} }
  input { size: 16 test_shorter_side: 18 }
  augmentation { rand_augment {} }
  augmentation { random_resized_crop {} }
  augmentation { horizontal_flip {} }
  training { epochs: 2 batch_size: 5 optimizer { learning_rate: 0.01 } }
}
metric { accuracy {} }
metric { auroc {} }
)";

class FolderTest : public ::testing::Test {
 protected:
  // `files` images a class, of three formats and sizes.
  void MakePart(const std::string& part, int files) {
    const char* const images[] = {"rgb.jpg", "rgb.png", "grey.jpg", "lossless.webp", "grey.png"};
    for (const std::string id : {"a", "b", "c", "d"}) {
      for (int i = 0; i < files; ++i) {
        const std::string image = images[i % 5];
        program_.Write(absl::StrCat("images/mixed/", part, "/", id, "/", i, image.substr(image.find('.'))),
                       *ReadFile(absl::StrCat(*RunfilesFolder(), "/openset/data/readers/testdata/", image)));
      }
    }
  }
  FolderTest() {
    MakePart("photos", 6);
    MakePart("more", 2);
    program_.Write("data/catalog/mixed.textproto", kCatalog);
    program_.Write("data/tasks/mixed.textproto", kTask);
    program_.Write("mixed.textproto", kSpec);
  }
  ProgramResult Run(const std::string& store) {
    return program_.Run(
        {"run", "mixed.textproto", "--devices=cpu", "--store=" + store, "--data=" + program_.folder() + "/images"});
  }

  const OpensetProgram program_;
};

TEST_F(FolderTest, TrainsOnImagesOfDifferentSizesAndRepeatsItself) {
  const ProgramResult first = Run("openset-store");
  ASSERT_EQ(first.exit_code, 0) << first.out << first.err;
  EXPECT_THAT(first.out, HasSubstr("known:unknown test samples 4:4"));
  const auto records = program_.Records();
  ASSERT_EQ(records.size(), 1);
  std::filesystem::remove_all(program_.store());
  ASSERT_EQ(Run("openset-store").exit_code, 0);
  EXPECT_EQ(program_.Records(), records);
}

TEST_F(FolderTest, WhatIsWrongWithTheFilesIsSaidBeforeAnythingRuns) {
  const std::string gone = program_.folder() + "/images/mixed/photos/c/3.webp";
  std::filesystem::remove(gone);
  const ProgramResult missing = Run("openset-store");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err,
              HasSubstr("images/mixed/photos/c: has 5 images, not 6 as the catalog says of part 'photos'"));
  EXPECT_FALSE(FileExists(program_.store()));

  // An image that can't be decoded is found when its turn comes.
  program_.Write("images/mixed/photos/c/3.webp", "no image");
  const ProgramResult damaged = Run("openset-store");
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.out + damaged.err, HasSubstr("photos/c/3.webp: not a PNG, JPEG or WebP image"));
}

}  // namespace
}  // namespace openset
