// `openset data` and `openset task` on a folder of images: from the folder to a study.
#include <string>

#include "absl/strings/str_cat.h"
#include "data/inspect/contact_sheet.h"
#include "data/readers/images/decode_image.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSpec[] = R"(
name: "study"
split: 0
seed: 0
method: "softmax"
override {
  model { osrci_cnn {} }
  input { size: 16 }
  training { epochs: 1 batch_size: 5 optimizer { learning_rate: 0.01 } }
}
metric { accuracy {} }
metric { auroc {} }
)";

// A picture of one colour.
std::string Png(int red, int green, int blue) {
  Image image{3, 16, 20, {}};
  for (const int value : {red, green, blue}) image.pixels.insert(image.pixels.end(), 16 * 20, value);
  return EncodePng(image).value();
}

// 5 red cats, 10 green dogs, 5 blue owls of two shades.
class DataTest : public ::testing::Test {
 protected:
  DataTest() {
    for (int i = 0; i < 10; ++i) {
      if (i < 5) program_.Write(absl::StrCat("photos/cat/", i, ".png"), Png(255, 0, 0));
      program_.Write(absl::StrCat("photos/dog/", i, ".png"), Png(0, 255, 0));
      if (i < 5) program_.Write(absl::StrCat("photos/owl/", i, ".png"), Png(0, 0, i < 2 ? 255 : 204));
    }
  }

  const OpensetProgram program_;
};

TEST_F(DataTest, FromAFolderToAStudy) {
  const ProgramResult described = program_.Run({"data", "describe", "photos"});
  ASSERT_EQ(described.exit_code, 0) << described.err;
  // A fifth of each class is for the test: 4 red and 8 green of 16 training images, whose means are 1/4 and 1/2 and
  // whose standard deviations are sqrt(1/4 - 1/16) and 1/2.
  EXPECT_THAT(described.out, AllOf(HasSubstr("photos: 3 classes, 16 in train, 4 in test, 20 in all"),
                                   HasSubstr("mean 0.2500 0.5000"), HasSubstr("std 0.4330 0.5000")));
  EXPECT_THAT(program_.Read("catalog/photos.textproto"),
              AllOf(HasSubstr("class_name: \"cat\""), HasSubstr("listing_sha256"), HasSubstr("mean: 0.25\n")));
  EXPECT_EQ(program_.Run({"data", "describe", "photos"}).exit_code, 0) << "the same again";
  EXPECT_THAT(program_.Run({"data", "verify", "photos", "--images", "--parts=train"}).out,
              AllOf(HasSubstr("mean 0.2500 0.5000"), HasSubstr("(as the catalog says)")));
  const ProgramResult other = program_.Run({"data", "describe", "photos", "--test_share=0.5"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("catalog/photos.textproto: already exists with other content; choose another name"));

  const ProgramResult made = program_.Run({"task", "new", "pets", "--data=photos", "--known=dog,cat", "--splits=2"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("split 1: known: dog, cat"), HasSubstr("openness 0.105")));
  EXPECT_THAT(program_.Read("tasks/pets.textproto"), HasSubstr("known: 1\n  known: 0\n  unknown: 2\n"));

  EXPECT_THAT(program_.Run({"task", "splits", "pets"}).out,
              testing::ContainsRegex("pets +0 +2 +1 +0\\.1056 +12 +3 +1 "));

  program_.Write("study.textproto", absl::StrCat(kSpec, "task: 'pets'"));
  const ProgramResult run = program_.Run({"run", "study.textproto", "--devices=cpu"});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("known:unknown test samples 3:1"));
}

// The same without a catalog entry.
TEST_F(DataTest, ATaskMayNameAFolder) {
  program_.Write("tasks/photos.textproto", absl::StrCat("name: 'photos' data_set: 'folder:", program_.folder(),
                                                        "/photos' split { known: [1, 0] }"));
  program_.Write("study.textproto", absl::StrCat(kSpec, "task: 'photos'"));
  const ProgramResult run = program_.Run({"run", "study.textproto", "--devices=cpu"});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("known:unknown test samples 3:1"));
  program_.Write("tasks/photos.textproto", "name: 'photos' data_set: 'folder:/nowhere' split { known: 0 }");
  const ProgramResult gone = program_.Run({"plan", "study.textproto"});
  EXPECT_EQ(gone.exit_code, 2);
  EXPECT_THAT(gone.err, HasSubstr("data_set: data set 'folder:/nowhere': no such folder: /nowhere"));
}

TEST_F(DataTest, CorruptImagesAreNamedAndSkippedOnRequest) {
  program_.Write("photos/owl/5.png", "no image");
  const ProgramResult refused = program_.Run({"data", "describe", "photos"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("photos/owl/5.png: not a PNG, JPEG, WebP, TIFF, GIF, BMP or PNM image"),
                                 HasSubstr("or leave them out with --skip_damaged")));
  const ProgramResult verified = program_.Run({"data", "verify", "photos", "--images"});
  EXPECT_EQ(verified.exit_code, 2);
  EXPECT_THAT(verified.err, HasSubstr("photos/owl/5.png"));
  const ProgramResult skipped = program_.Run({"data", "describe", "photos", "--skip_damaged", "--name=mine"});
  ASSERT_EQ(skipped.exit_code, 0) << skipped.err;
  EXPECT_THAT(skipped.out, AllOf(HasSubstr("mine: 3 classes, 16 in train"), HasSubstr("left out: 1 corrupt images")));
  EXPECT_THAT(program_.Read("catalog/mine.textproto"), HasSubstr("skip: \"owl/5.png\""));
  EXPECT_EQ(program_.Run({"data", "verify", "mine", "--images"}).exit_code, 0);
  // The folder's path means the data set that was described from it, unless a task says "folder:".
  EXPECT_EQ(program_.Run({"data", "verify", "photos", "--images"}).exit_code, 0);
  EXPECT_EQ(program_.Run({"task", "new", "pets", "--data=./photos/", "--known=cat"}).exit_code, 0);
  EXPECT_THAT(program_.Read("tasks/pets.textproto"), HasSubstr("data_set: \"mine\""));
  const std::string as_it_is = absl::StrCat("folder:", program_.folder(), "/photos");
  EXPECT_EQ(program_.Run({"data", "verify", as_it_is, "--images"}).exit_code, 2);
}

// 4 of 5 red, 9 of 10 green, 1 of 2 and 2 of 3 blue pictures are copies of the first.
TEST_F(DataTest, AuditFindsCopies) {
  const ProgramResult audit = program_.Run({"data", "audit", "photos", "--parts=all"});
  ASSERT_EQ(audit.exit_code, 0) << audit.err;
  EXPECT_THAT(audit.out, AllOf(HasSubstr("photos/cat/1.png  =  all: "), HasSubstr("... and 6 more of these two sets"),
                               HasSubstr("20 images in 1 sets")));
  EXPECT_THAT(audit.out, HasSubstr("16     0"));
}

// Shifted images are tested as known samples, and audited like them.
TEST_F(DataTest, AuditLooksAtTheShiftedImagesOfATask) {
  program_.Write("cast/cat/0.png", Png(255, 0, 0));
  program_.Write("cast/dog/0.png", Png(0, 255, 1));
  const std::string folder = absl::StrCat("folder:", program_.folder());
  program_.Write("tasks/pets.textproto",
                 absl::StrCat("name: 'pets' data_set: '", folder, "/photos' split { known: [1, 0] } ",
                              "shifted { group: 'cast' data_set: '", folder, "/cast' part: 'all' }"));
  const ProgramResult audit = program_.Run({"data", "audit", "pets", "--exact"});
  ASSERT_EQ(audit.exit_code, 0) << audit.err;
  EXPECT_THAT(audit.out, AllOf(HasSubstr("exact  cast: "), HasSubstr("cast/cat/0.png  =  train: "),
                               Not(HasSubstr("cast/dog/0.png")), HasSubstr("images in 4 sets")));
  const ProgramResult shown = program_.Run({"data", "show", "pets", "--per_class=1"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("known, dog"), HasSubstr("cast, dog"), HasSubstr("cast, cat")));
}

TEST_F(DataTest, ShowWritesASheet) {
  const ProgramResult shown =
      program_.Run({"data", "show", "photos", "--parts=all", "--per_class=4", "--tile=10", "--sheet=sheet.png"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("row 1: all, cat"), HasSubstr("row 3: all, owl")));
  const auto sheet = DecodeImage(program_.Read("sheet.png"), 3);
  ASSERT_TRUE(sheet.ok()) << sheet.status();
  EXPECT_EQ(sheet->height, 2 + 3 * 12);
  EXPECT_EQ(sheet->width, 6 + 2 + 4 * 12);
  // The first cat: red, in the middle of its tile, as it is wider than high.
  EXPECT_EQ(sheet->pixels[7 * sheet->width + 10], 255);
  EXPECT_EQ(sheet->pixels[(sheet->height + 7) * sheet->width + 10], 0);
}

TEST_F(DataTest, ErrorsSayWhatIsWrong) {
  const auto fails = [&](const std::vector<std::string>& arguments, const std::string& what) {
    const ProgramResult result = program_.Run(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.out;
    EXPECT_THAT(result.err, HasSubstr(what));
  };
  fails({"data", "fech", "mnist"}, "unknown action of 'openset data' 'fech'; did you mean 'fetch'?");
  fails({"data", "fetch"}, "usage: openset data fetch NAME");
  fails({"data", "fetch", "minst"}, "did you mean 'mnist'?");
  fails({"data", "fetch", "imagenet"}, "Register at https://image-net.org");
  fails({"data", "describe", "nowhere"}, "no such folder: ");
  fails({"task", "new", "t", "--data=photos", "--known=fox"}, "--known: unknown class 'fox'");
  fails({"task", "new", "t", "--data=photos", "--known=3"}, "--known: must be 1 to 2 of the 3 classes (is 3)");
  fails({"task", "new", "t", "--data=photos"}, "--known: give the known classes by name (cat,dog)");
  fails({"task", "new", "t", "--data=nowhere/photos", "--known=1"}, "nowhere/photos");
  fails({"task", "new", "t", "--data=nowhere/photos", "--known=1"}, "no such folder");
  fails({"task", "new", "t/u", "--data=photos", "--known=1"}, "'t/u' is not a valid name");
  const ProgramResult list = program_.Run({"data", "list"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_THAT(list.out, AllOf(HasSubstr("tinyimagenet"), HasSubstr("3 x 64 x 64"), HasSubstr("up to 212539"),
                              Not(HasSubstr("photos"))));
}

}  // namespace
}  // namespace openset
