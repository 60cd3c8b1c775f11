// A study on image folders: images of different sizes and formats, transforms at their own size, missing files.
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <regex>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

// One image is replaced after the first training, while the others are still to come, and put back after the run.
TEST_F(FolderTest, NoResultComesFromImagesThatChangeMeanwhile) {
  const std::string data = "--data=" + program_.folder() + "/images", image = "images/mixed/photos/c/0.jpg";
  const std::vector<std::string> run = {"run", "mixed.textproto", "--seeds=0,1,2,3", "--jobs=1", data};
  ASSERT_EQ(program_.Run(run).exit_code, 0) << program_.Read("err.txt");
  const auto undisturbed = program_.Records();
  ASSERT_EQ(undisturbed.size(), 4);
  std::filesystem::remove_all(program_.store());

  const std::string before = program_.Read(image);
  const pid_t pid = program_.Start(run);
  const auto trained = [&] {
    std::error_code error;
    return !std::filesystem::is_empty(program_.store() + "/checkpoints", error) && !error;
  };
  for (int waits = 0; waits < 60000 && !trained(); ++waits) usleep(1000);
  program_.Write(image, program_.Read("images/mixed/photos/c/1.png"));
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << program_.Read("err.txt");
  const std::string said = absl::StrCat(program_.Read("out.txt"), program_.Read("err.txt"));
  EXPECT_THAT(said, HasSubstr("photos/c/0.jpg: was changed while openset used it (part 'photos' of data set 'mixed')"));
  EXPECT_THAT(said, HasSubstr("repair the named files, then run the same command"));
  EXPECT_THAT(said, Not(HasSubstr("the method would fail again")));
  const auto kept = program_.Records();
  EXPECT_LT(kept.size(), undisturbed.size());
  for (const auto& [id, record] : kept) EXPECT_EQ(undisturbed.at(id), record);

  program_.Write(image, before);
  EXPECT_EQ(program_.Run(run).exit_code, 0) << program_.Read("err.txt");
  EXPECT_EQ(program_.Records(), undisturbed);
}

// The hash of a split identifies the files' content, wherever it is printed.
TEST_F(FolderTest, ASplitHasOneHash) {
  const std::string data = "--data=" + program_.folder() + "/images";
  const std::string planned = program_.Run({"plan", "mixed.textproto", "--noprobe", data}).out;
  const std::string shown = program_.Run({"task", "splits", "mixed", data}).out;
  std::smatch hash;
  ASSERT_TRUE(std::regex_search(shown, hash, std::regex("mixed +0 .* ([0-9a-f]{12})\n"))) << shown;
  EXPECT_THAT(planned, HasSubstr(hash[1].str()));
  // Without the files, the hash differs, and both commands say so.
  const std::string without = program_.Run({"task", "splits", "mixed"}).out;
  EXPECT_THAT(without, Not(HasSubstr(hash[1].str())));
  EXPECT_THAT(without, HasSubstr("hash: The images of mixed, photos; mixed, more are not on this machine"));
}

// Records of another machine are found without its images.
TEST_F(FolderTest, AReportNeedsNoImages) {
  ASSERT_EQ(Run("openset-store").exit_code, 0);
  ASSERT_EQ(program_.Run({"records", "export", "--bundle=all.zip"}).exit_code, 0);
  ASSERT_EQ(program_.Run({"records", "merge", "all.zip", "--store=other"}).exit_code, 0);
  const ProgramResult none = program_.Run({"report", "mixed.textproto", "--store=empty"});
  EXPECT_EQ(none.exit_code, 2);  // there is no store
  std::filesystem::rename(program_.folder() + "/images", program_.folder() + "/elsewhere");
  const ProgramResult report = program_.Run({"report", "mixed.textproto", "--store=other"});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_EQ(report.out.rfind("The images of mixed, photos; mixed, more are not on this machine: results are found by "
                             "the digest",
                             0),
            0)
      << report.out;
  EXPECT_THAT(report.out, Not(HasSubstr("no record yet")));
  EXPECT_THAT(program_.Run({"status", "mixed.textproto", "--store=other"}).out, HasSubstr("1 of 1 trial done"));
  // If the store's records are of other data, nothing can be found, and the report says so first.
  program_.Write("mine.textproto",
                 "name: 'mine' task: 'fashion_mnist_6_4' split: 0 seed: 0 method: 'softmax' metric { accuracy {} } "
                 "train_limit_per_class: 5 test_limit_per_class: 5 override { training { epochs: 1 } }");
  ASSERT_EQ(program_.Run({"run", "mine.textproto", "--store=third"}).exit_code, 0);
  const ProgramResult untold = program_.Run({"report", "mixed.textproto", "--store=third"});
  EXPECT_EQ(untold.exit_code, 1);
  EXPECT_EQ(
      untold.out.rfind("The images of mixed, photos; mixed, more are not on this machine, and the store has no", 0), 0)
      << untold.out;
  EXPECT_THAT(untold.err, HasSubstr("no result was found; give the folder of the images with --data"));
}

TEST_F(FolderTest, ProblemsOfFilesAreReportedBeforeTheRun) {
  const std::string gone = program_.folder() + "/images/mixed/photos/c/3.webp";
  std::filesystem::remove(gone);
  const ProgramResult missing = Run("openset-store");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err,
              HasSubstr("images/mixed/photos/c: has 5 images, not 6 as the catalog says of part 'photos'"));
  EXPECT_FALSE(FileExists(program_.store()));

  // An image that can't be decoded is found when it is read.
  program_.Write("images/mixed/photos/c/3.webp", "no image");
  const ProgramResult damaged = Run("openset-store");
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.out + damaged.err,
              HasSubstr("photos/c/3.webp: not a PNG, JPEG, WebP, TIFF, GIF, BMP or PNM image"));
}

}  // namespace
}  // namespace openset
