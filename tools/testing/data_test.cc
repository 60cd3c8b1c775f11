// `openset data` and `openset task` on a folder of images: from the folder to a study.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/formats/npz.h"
#include "core/files/runfiles.h"
#include "core/testing/status_matchers.h"
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

// Pairs of photos belong together.
TEST_F(DataTest, PartsAreDrawnByClusters) {
  std::string table = "image,cluster,note\n";
  for (int i = 0; i < 10; ++i) {
    for (const char* name : {"cat", "dog", "owl"}) {
      if (i < 5 || name == std::string("dog")) absl::StrAppend(&table, name, "/", i, ".png,", name, i / 2, ",x\n");
    }
  }
  program_.Write("pairs.csv", table);
  program_.MustRun({"data", "describe", "photos", "--clusters=pairs.csv", "--test_share=0.4"});
  EXPECT_THAT(program_.Read("catalog/photos.textproto"), HasSubstr("pairs.csv\""));
  program_.MustRun({"task", "new", "pets", "--data=photos", "--known=dog,cat", "--splits=1"});
  const ProgramResult tested = program_.MustRun({"task", "samples", "pets", "--format=csv"});
  // Two of five pairs of dogs.
  std::map<int, int> dogs;  // of each pair
  for (const absl::string_view line : absl::StrSplit(tested.out, '\n')) {
    const size_t at = line.find("/dog/");
    if (at != absl::string_view::npos) ++dogs[(line[at + 5] - '0') / 2];
  }
  EXPECT_EQ(dogs.size(), 2);
  for (const auto& [pair, photos] : dogs) EXPECT_EQ(photos, 2) << pair;
  program_.Write("study.textproto", absl::StrCat(kSpec, "task: 'pets'"));
  program_.MustRun({"run", "study.textproto", "--devices=cpu"});
  program_.Write("pairs.csv", "image\n");
  EXPECT_THAT(program_.Run({"data", "describe", "photos", "--name=again", "--clusters=pairs.csv"}).err,
              HasSubstr("pairs.csv: line 1: needs the columns 'image' and 'cluster'"));
  EXPECT_THAT(program_.Run({"data", "describe", "photos", "--name=again", "--clusters=none.csv"}).err,
              HasSubstr("none.csv"));
}

// Two lists of the fixture's photos. Pairs of photos belong together, and one of each pair is in each list.
TEST_F(DataTest, FoldsAndValidationKeepClustersWhole) {
  std::string list[2], table = "cluster,set,image\n";
  for (const auto& [label, name] : {std::pair{0, "cat"}, {1, "dog"}, {2, "owl"}}) {
    for (int i = 0; i < (label == 1 ? 10 : 5); ++i) {
      absl::StrAppend(&list[i % 2], name, "/", i, ".png ", label, " ", name, i / 2, "\n");
      absl::StrAppend(&table, name, i / 2, ",all,", program_.folder(), "/photos/", name, "/", i, ".png\n");
    }
  }
  program_.Write("list0.txt", list[0]);
  program_.Write("list1.txt", list[1]);
  const auto put = [&](const std::string& name, const std::string& clusters) {
    program_.Write(absl::StrCat("catalog/", name, ".textproto"),
                   absl::StrReplaceAll(
                       R"(name: "NAME" class_name: ["cat", "dog", "owl"] channels: 3 height: 16 width: 20 layout {
                 part { name: "train" samples: 11 samples_per_class: [3, 5, 3]
                        image_list { path: "photos" list { path: "list0.txt" } CLUSTERS } }
                 part { name: "test" samples: 9 samples_per_class: [2, 5, 2]
                        image_list { path: "photos" list { path: "list1.txt" } CLUSTERS } } })",
                       {{"NAME", name}, {"CLUSTERS", clusters}}));
    program_.Write(absl::StrCat("tasks/", name, "_folds.textproto"),
                   absl::StrReplaceAll(R"(name: "NAME_folds" data_set: "NAME" cross_validation { folds: 2 }
                                          split { known: [1, 0] unknown: 2 })",
                                       {{"NAME", name}}));
  };
  const auto put_table = [&](const std::string& name, const std::string& file) {
    put(name, absl::StrCat("clusters { path: '", file, "' sha256: '", Sha256Hex(program_.Read(file)), "' }"));
  };
  const std::string data = absl::StrCat("--data=", program_.folder());
  put("column", "cluster_column: 2");
  program_.Write("table.csv", table);
  put_table("table", "table.csv");
  std::map<std::string, std::set<int>> folds;  // of each pair
  std::map<std::string, int> photos;
  for (int fold = 0; fold < 2; ++fold) {
    const auto samples = [&](const char* task) {
      return program_.Run({"task", "samples", task, absl::StrCat("--split=", fold), "--format=csv", data});
    };
    const ProgramResult tested = samples("column_folds");
    ASSERT_EQ(tested.exit_code, 0) << tested.err;
    EXPECT_EQ(samples("table_folds").out, tested.out);
    std::smatch match;
    std::string rest = tested.out;
    while (std::regex_search(rest, match, std::regex("photos/([a-z]+)/([0-9])"))) {
      const std::string pair = absl::StrCat(match[1].str(), (match[2].str()[0] - '0') / 2);
      folds[pair].insert(fold);
      ++photos[pair];
      rest = match.suffix();
    }
  }
  EXPECT_EQ(folds.size(), 3 + 5 + 3);
  for (const auto& [pair, in] : folds) {
    EXPECT_EQ(in.size(), 1) << pair;
    EXPECT_EQ(photos[pair], pair == "cat2" || pair == "owl2" ? 1 : 2) << pair;
  }
  // Programs that train elsewhere get the clusters.
  program_.MustRun({"task", "samples", "column_folds", "--split=0", "--out=samples", data});
  ASSERT_OK_AND_ASSIGN(const auto fit, ReadNpz(program_.folder() + "/samples/fit.npz"));
  const std::vector<int64_t> numbers = ToInt64(fit.at("cluster")).value();
  EXPECT_LT(std::set<int64_t>(numbers.begin(), numbers.end()).size(), numbers.size());
  // One fold has two clusters of cats to train on, of which one is for validation; the other fold has only one.
  int refused = 0;
  for (int fold = 0; fold < 2; ++fold) {
    program_.Write("study.textproto",
                   absl::StrCat(absl::StrReplaceAll(kSpec, {{"split: 0", absl::StrCat("split: ", fold)},
                                                            {"\"softmax\"", "['softmax', 'mcp']"}}),
                                "task: 'column_folds' validation_per_class: 1"));
    const ProgramResult run = program_.Run({"run", "study.textproto", "--devices=cpu", data});
    if (run.exit_code != 0) {
      ++refused;
      EXPECT_THAT(run.err, HasSubstr("only clusters of class 0 (cat) that validation_per_class takes, which doesn't "
                                     "divide them: keep fewer samples for validation, or leave the class out"));
      continue;
    }
    const auto clusters =
        std::count_if(folds.begin(), folds.end(), [&](const auto& pair) { return pair.second.count(fold) > 0; });
    const ProgramResult compared = program_.Run({"compare", "study.textproto", data});
    EXPECT_THAT(compared.out, HasSubstr(absl::StrCat("replicates of ", clusters, " clusters, seed 0)")))
        << compared.err;
  }
  EXPECT_EQ(refused, 1);
  // What `audit` proposes is such a table. Here all cats are duplicates.
  program_.MustRun({"data", "audit", "column", "--parts=train,test", "--clusters=audit.csv", data});
  put_table("audited", "audit.csv");
  EXPECT_THAT(program_.Run({"task", "splits", "audited_folds", data}).err,
              HasSubstr("samples of class 1 (dog) in 1 cluster, which are not divided, and fold 1 of 2 gets none: use "
                        "fewer folds, leave the class out, or divide its clusters"));
}

// Each cluster has photos of all classes: two of p0 and p1, one of p2. The lists have one photo of p0 and p1 each.
TEST_F(DataTest, ClustersInTrainingAndTestAreHinted) {
  std::string list[2];
  for (const auto& [label, name] : {std::pair{0, "cat"}, {1, "dog"}, {2, "owl"}}) {
    for (int i = 0; i < 5; ++i) absl::StrAppend(&list[i % 2], name, "/", i, ".png ", label, " p", i / 2, "\n");
  }
  program_.Write("list0.txt", list[0]);
  program_.Write("list1.txt", list[1]);
  program_.Write("all.txt", list[0] + list[1]);
  const auto part = [](const std::string& name, int samples, const std::string& file) {
    return absl::StrCat("part { name: '", name, "' samples: ", 3 * samples, " samples_per_class: [", samples, ", ",
                        samples, ", ", samples, "] image_list { path: 'photos' list { path: '", file,
                        "' } cluster_column: 2 } } ");
  };
  program_.Write(
      "catalog/pets.textproto",
      absl::StrCat("name: 'pets' class_name: ['cat', 'dog', 'owl'] channels: 3 height: 16 width: 20 layout {",
                   part("train", 3, "list0.txt"), part("test", 2, "list1.txt"), part("all", 5, "all.txt"), "}"));
  const auto plan = [&](const std::string& name, const std::string& of_task) {
    program_.Write(absl::StrCat("tasks/", name, ".textproto"),
                   absl::StrCat("name: '", name, "' data_set: 'pets' split { known: 0 unknown: 1 } ", of_task));
    program_.Write("study.textproto",
                   absl::StrCat(absl::StrReplaceAll(kSpec, {{"split: 0", ""}, {"\"softmax\"", "'outlier_exposure'"}}),
                                "task: '", name, "'"));
    const ProgramResult result =
        program_.MustRun({"plan", "study.textproto", "--noprobe", absl::StrCat("--data=", program_.folder())});
    return result.err;
  };
  EXPECT_THAT(
      plan("parts", "external { data_set: 'pets' class_id: 2 }"),
      AllOf(HasSubstr("hint: task parts, split 0: 4 of 4 test samples are of clusters (2) that have training "
                      "samples, too, so the test is easier than new samples are: keep each cluster in one part"),
            HasSubstr("clusters (2) that have external images, too, so")));
  // The folds keep clusters whole; a part that they don't divide does not.
  EXPECT_THAT(plan("external", "cross_validation { folds: 2 } external { data_set: 'pets' part: 'all' class_id: 2 }"),
              AllOf(HasSubstr("that have external images, too (and in 1 other splits), so the test is easier"),
                    Not(HasSubstr("training samples, too"))));
  // From a part that they divide, the external images are those of the training folds.
  EXPECT_THAT(plan("same", "cross_validation { folds: 2 } external { data_set: 'pets' class_id: 2 }"),
              Not(HasSubstr("hint: task")));
}

TEST_F(DataTest, FromAFolderToAStudy) {
  const ProgramResult described = program_.MustRun({"data", "describe", "photos"});
  // A fifth of each class is for the test: 4 red and 8 green of 16 training images, whose means are 1/4 and 1/2 and
  // whose standard deviations are sqrt(1/4 - 1/16) and 1/2.
  EXPECT_THAT(
      described.out,
      AllOf(HasSubstr("photos: 3 classes, 16 in train, 4 in test, 20 in all"), HasSubstr("mean 0.2500 0.5000"),
            HasSubstr("std 0.4330 0.5000"), HasSubstr("\nall 20 x 16 pixels (width x height)\n"),
            HasSubstr(
                "in a study:  method: \"softmax+laptop_colour\"\n             override { input { mean: [0.25, 0.5, ")));
  EXPECT_THAT(program_.Read("catalog/photos.textproto"),
              AllOf(HasSubstr("class_name: \"cat\""), HasSubstr("listing_sha256"), HasSubstr("mean: 0.25\n")));
  program_.MustRun({"data", "describe", "photos"});
  EXPECT_THAT(program_.Run({"data", "verify", "photos", "--images", "--parts=train"}).out,
              AllOf(HasSubstr("mean 0.2500 0.5000"), HasSubstr("(as the catalog says)")));
  const ProgramResult other = program_.Run({"data", "describe", "photos", "--test_share=0.5"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("catalog/photos.textproto: already exists with other content; choose another name"));

  const ProgramResult made =
      program_.MustRun({"task", "new", "pets", "--data=photos", "--known=dog,cat", "--splits=2"});
  EXPECT_THAT(made.out, AllOf(HasSubstr("split 1: known: dog, cat"), HasSubstr("openness 0.105")));
  EXPECT_THAT(program_.Read("tasks/pets.textproto"),
              HasSubstr("known: 1  # dog\n  known: 0  # cat\n  unknown: 2  # owl\n"));
  // The lines for a study are a study's.
  const std::string lines = described.out.substr(described.out.find("method: "));
  program_.Write("pasted.textproto",
                 absl::StrCat("name: 'pasted' task: 'pets' ", lines.substr(0, lines.find("catalog/photos") - 2),
                              "seed: 0 metric { accuracy {} }"));
  const ProgramResult planned = program_.MustRun({"plan", "pasted.textproto", "--noprobe"});
  EXPECT_THAT(planned.out, HasSubstr("\n  the whole study: unknown on "));

  EXPECT_THAT(program_.Run({"task", "splits", "pets"}).out,
              testing::ContainsRegex("pets +0 +2 +1 +0\\.1056 +12 +3 +1 "));

  program_.Write("study.textproto", absl::StrCat(kSpec, "task: 'pets'"));
  const ProgramResult run = program_.MustRun({"run", "study.textproto", "--devices=cpu"});
  EXPECT_THAT(run.out, HasSubstr("known:unknown test samples 3:1"));
  EXPECT_THAT(run.out,
              HasSubstr("\ntime left: unknown until the first epoch, because nothing like it was measured here\n"));
  EXPECT_THAT(program_.Run({"status"}).out, testing::ContainsRegex("\nby user: [^ ]+ [0-9.]+ [kM]?B\n"));

  // Without the images, the study of a record is made all the same: the records say what the images were. From a
  // bundle, it finds its task there.
  const std::string id = program_.Records().begin()->first;
  const ProgramResult checked = program_.MustRun({"records", "spec", id});
  EXPECT_THAT(checked.out, Not(HasSubstr("unchecked")));
  program_.MustRun({"records", "export", "--bundle=pets.zip"});
  std::filesystem::rename(program_.folder() + "/photos", program_.folder() + "/moved");
  const OpensetProgram other_place("other");
  std::filesystem::copy_file(program_.folder() + "/pets.zip", other_place.folder() + "/pets.zip");
  const ProgramResult spec = other_place.MustRun({"records", "spec", "pets.zip", id});
  EXPECT_THAT(spec.out, Not(HasSubstr("unchecked")));
  EXPECT_EQ(spec.err, "");
  EXPECT_EQ(spec.out.substr(spec.out.find("\n\n")), checked.out.substr(checked.out.find("\n\n")));
  EXPECT_EQ(other_place.Run({"reproduce", "pets.zip", id}).exit_code, 2);
  other_place.Write("again.textproto", spec.out);
  EXPECT_THAT(other_place.Run({"plan", "again.textproto"}).out, HasSubstr("Data that is missing\n  photos: "));
}

// Results of the earlier images are not shown, and every command says why. Only a run refuses.
TEST_F(DataTest, ChangedImagesAreHinted) {
  program_.MustRun({"data", "describe", "photos"});
  program_.MustRun({"task", "new", "pets", "--data=photos", "--known=cat,dog", "--splits=1"});
  program_.Write("study.textproto", absl::StrCat(kSpec, "task: 'pets'"));
  program_.MustRun({"run", "study.textproto", "--devices=cpu"});
  EXPECT_THAT(program_.Run({"status", "study.textproto"}).err, Not(HasSubstr("hint: ")));
  const std::string photo = program_.folder() + "/photos/dog/0.png", elsewhere = program_.folder() + "/dog.bin";
  std::filesystem::rename(photo, elsewhere);
  const std::string changed =
      "its images have changed: bring the old ones back, or remove catalog/photos.textproto and describe the folder "
      "again";
  const auto is_hinted = AllOf(HasSubstr("hint: results on photos may be missing: "), HasSubstr(changed));
  for (const char* command : {"plan", "compare", "status"}) {
    EXPECT_THAT(program_.Run({command, "study.textproto"}).err, is_hinted) << command;
  }
  EXPECT_THAT(program_.Run({"report", "study.textproto", "--format=csv"}).err, is_hinted);
  const ProgramResult report = program_.MustRun({"report", "study.textproto"});
  EXPECT_THAT(report.out, AllOf(HasSubstr("results on photos may be missing:"), HasSubstr("have no record yet")));
  EXPECT_THAT(program_.Run({"run", "study.textproto", "--devices=cpu"}), FailsWith(2, HasSubstr(changed)));
  std::filesystem::rename(elsewhere, photo);
  EXPECT_THAT(program_.MustRun({"report", "study.textproto"}).out,
              AllOf(Not(HasSubstr("may be missing")), Not(HasSubstr("no record yet"))));
}

// A folder without a catalog entry is what its images are: the store remembers those of its last run. A new image of a
// folder with a table of clusters has no line there.
TEST_F(DataTest, NewImagesAreHinted) {
  program_.Write("tasks/photos.textproto", absl::StrCat("name: 'photos' data_set: 'folder:", program_.folder(),
                                                        "/photos' split { known: [1, 0] }"));
  program_.Write("study.textproto", absl::StrCat(kSpec, "task: 'photos'"));
  program_.MustRun({"run", "study.textproto", "--devices=cpu"});
  std::string table = "image,cluster\n";
  for (int i = 0; i < 10; ++i) {
    for (const char* name : {"cat", "dog", "owl"}) {
      if (i < 5 || name == std::string("dog")) absl::StrAppend(&table, name, "/", i, ".png,", name, i, "\n");
    }
  }
  program_.Write("single.csv", table);
  program_.MustRun({"data", "describe", "photos", "--name=single", "--clusters=single.csv"});
  program_.Write("photos/cat/new.png", Png(255, 0, 0));
  EXPECT_THAT(program_.Run({"status", "study.textproto"}).err,
              HasSubstr("have changed since the last run on this store: bring the old ones back, or run the study "
                        "again"));
  EXPECT_THAT(program_.Run({"data", "verify", "single"}),
              FailsWith(2, HasSubstr("photos/cat/new.png: the table of clusters has no line for this image; its images "
                                     "have changed: bring the old ones back, or remove catalog/single.textproto")));
}

// The same without a catalog entry.
TEST_F(DataTest, ATaskMayNameAFolder) {
  program_.Write("tasks/photos.textproto", absl::StrCat("name: 'photos' data_set: 'folder:", program_.folder(),
                                                        "/photos' split { known: [1, 0] }"));
  program_.Write("study.textproto", absl::StrCat(kSpec, "task: 'photos'"));
  const ProgramResult run = program_.MustRun({"run", "study.textproto", "--devices=cpu"});
  EXPECT_THAT(run.out, HasSubstr("known:unknown test samples 3:1"));
  // Nobody has decoded them before a training.
  const std::string unread =
      absl::StrCat("hint: the images in ", program_.folder(),
                   "/photos were counted, not read: 'openset data verify folder:", program_.folder(),
                   "/photos --images' names those");
  EXPECT_THAT(run.err, HasSubstr(unread));
  EXPECT_THAT(program_.Run({"plan", "study.textproto"}).err, HasSubstr(unread));
  // Also in a folder without classes.
  program_.Write("flat/0.png", Png(255, 0, 0));
  program_.Write("flat/1.png", "no image");
  EXPECT_THAT(program_.Run({"data", "verify", absl::StrCat("folder:", program_.folder(), "/flat"), "--images"}),
              FailsWith(2, HasSubstr("flat/1.png: not a PNG")));
  program_.Write("tasks/photos.textproto", "name: 'photos' data_set: 'folder:/nowhere' split { known: 0 }");
  EXPECT_THAT(program_.Run({"plan", "study.textproto"}),
              FailsWith(2, HasSubstr("data_set: data set 'folder:/nowhere': no such folder: /nowhere")));
}

TEST_F(DataTest, CorruptImagesAreNamedAndSkippedOnRequest) {
  program_.Write("photos/owl/5.png", "no image");
  EXPECT_THAT(program_.Run({"data", "describe", "photos"}),
              FailsWith(2, AllOf(HasSubstr("photos/owl/5.png: not a PNG, JPEG, WebP, TIFF, GIF, BMP or PNM image"),
                                 HasSubstr("or leave them out with --skip_damaged"))));
  EXPECT_THAT(program_.Run({"data", "verify", "photos", "--images"}), FailsWith(2, HasSubstr("photos/owl/5.png")));
  const ProgramResult skipped = program_.MustRun({"data", "describe", "photos", "--skip_damaged", "--name=mine"});
  EXPECT_THAT(skipped.out, AllOf(HasSubstr("mine: 3 classes, 16 in train"), HasSubstr("left out: 1 corrupt image")));
  EXPECT_THAT(program_.Read("catalog/mine.textproto"), HasSubstr("skip: \"owl/5.png\""));
  program_.MustRun({"data", "verify", "mine", "--images"});
  // An image that is left out needs no line in the table of clusters; another one does.
  std::string table = "image,cluster\n";
  for (int i = 0; i < 10; ++i) {
    for (const char* name : {"cat", "dog", "owl"}) {
      if (i < 5 || name == std::string("dog")) absl::StrAppend(&table, name, "/", i, ".png,", name, i, "\n");
    }
  }
  program_.Write("single.csv", table);
  const std::vector<std::string> clustered = {"data",           "describe",    "photos",
                                              "--skip_damaged", "--name=some", "--clusters=single.csv"};
  EXPECT_THAT(program_.MustRun(clustered).out, HasSubstr("left out: 1 corrupt image"));
  EXPECT_THAT(program_.Read("catalog/some.textproto"),
              AllOf(HasSubstr("skip: \"owl/5.png\""), HasSubstr("clusters {")));
  program_.MustRun({"data", "verify", "some", "--images"});
  std::filesystem::remove(program_.folder() + "/catalog/some.textproto");
  program_.Write("single.csv", absl::StrReplaceAll(table, {{"cat/0.png", "cat/none.png"}}));
  EXPECT_THAT(program_.Run(clustered),
              FailsWith(2, HasSubstr("photos/cat/0.png: the table of clusters has no line for this image")));
  // The folder's path means the data set that was described from it, unless a task says "folder:".
  program_.MustRun({"data", "verify", "photos", "--images"});
  program_.MustRun({"task", "new", "pets", "--data=./photos/", "--known=cat"});
  EXPECT_THAT(program_.Read("tasks/pets.textproto"), HasSubstr("data_set: \"mine\""));
  const std::string as_it_is = absl::StrCat("folder:", program_.folder(), "/photos");
  EXPECT_EQ(program_.Run({"data", "verify", as_it_is, "--images"}).exit_code, 2);
}

// 4 of 5 red, 9 of 10 green, 1 of 2 and 2 of 3 blue pictures are copies of the first.
TEST_F(DataTest, AuditFindsCopies) {
  const ProgramResult audit = program_.MustRun({"data", "audit", "photos", "--parts=all"});
  EXPECT_THAT(audit.out, AllOf(HasSubstr("photos/cat/1.png  =  all: "), HasSubstr("... and 6 more of these two sets"),
                               HasSubstr("20 images in 1 sets")));
  EXPECT_THAT(audit.out, HasSubstr("16     0"));
  // Without parts, they are train and test: each image is in one of them.
  const ProgramResult parts = program_.Run({"data", "audit", "photos"});
  EXPECT_THAT(parts.out, AllOf(HasSubstr("20 images in 2 sets"), Not(HasSubstr("all: "))));
}

// Names before numbers look like groups; the table of clusters can stand beside the scores of the samples.
TEST_F(DataTest, AuditProposesClusters) {
  const std::vector<std::string> images = {"cat/p1_1.png", "cat/p1_2.png", "cat/p2_1.png", "dog/p1_1.png",
                                           "dog/p3_1.png"};
  for (size_t i = 0; i < images.size(); ++i) {
    program_.Write(absl::StrCat("scans/", images[i]), Png(20 * static_cast<int>(i), 0, 99));
  }
  const ProgramResult audit = program_.MustRun({"data", "audit", "scans", "--parts=all", "--clusters=clusters.csv"});
  EXPECT_THAT(audit.out, AllOf(HasSubstr("clusters: 1 of several samples, 3 samples in all, the largest has 3"),
                               HasSubstr("3 groups by folder or name: p1, ...")));
  const std::vector<std::string> clusters = absl::StrSplit(program_.Read("clusters.csv"), '\n');
  ASSERT_EQ(clusters.size(), 7);
  EXPECT_EQ(clusters[0], "cluster,set,image");
  const std::string numbers = "00102";
  std::string scores = absl::StrCat("label,unknown_score,", clusters[0], "\n");
  for (size_t i = 0; i < images.size(); ++i) {
    EXPECT_EQ(clusters[1 + i], absl::StrCat(numbers.substr(i, 1), ",all,", program_.folder(), "/scans/", images[i]));
    absl::StrAppend(&scores, i < 3 ? 0 : -1, ",", i * 7 % 5, ",", clusters[1 + i], "\n");
  }
  program_.Write("scores.csv", scores);
  EXPECT_THAT(program_.Run({"eval", "scores.csv", "--metrics=auroc", "--ci"}).out, HasSubstr("of 3 clusters"));
  EXPECT_THAT(program_.Run({"data", "audit", "scans", "--parts=all", "--clusters=c.npz"}).err,
              HasSubstr("--clusters: must end in .csv for images"));
  EXPECT_THAT(program_.Run({"data", "audit", "photos", "--parts=all"}).out,
              HasSubstr("clusters: 4 of several samples, 20 samples in all, the largest has 10 (duplicates)"));
}

// Shifted images are tested as known samples, and audited like them.
TEST_F(DataTest, AuditLooksAtTheShiftedImagesOfATask) {
  program_.Write("cast/cat/0.png", Png(255, 0, 0));
  program_.Write("cast/dog/0.png", Png(0, 255, 1));
  const std::string folder = absl::StrCat("folder:", program_.folder());
  program_.Write("tasks/pets.textproto",
                 absl::StrCat("name: 'pets' data_set: '", folder, "/photos' split { known: [1, 0] } ",
                              "shifted { group: 'cast' data_set: '", folder, "/cast' part: 'all' }"));
  const ProgramResult audit = program_.MustRun({"data", "audit", "pets", "--exact"});
  EXPECT_THAT(audit.out, AllOf(HasSubstr("exact  cast: "), HasSubstr("cast/cat/0.png  =  train: "),
                               Not(HasSubstr("cast/dog/0.png")), HasSubstr("images in 4 sets")));
  const ProgramResult shown = program_.MustRun({"data", "show", "pets", "--per_class=1"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("known, dog"), HasSubstr("cast, dog"), HasSubstr("cast, cat")));
}

TEST_F(DataTest, ShowWritesASheet) {
  const ProgramResult shown =
      program_.MustRun({"data", "show", "photos", "--parts=all", "--per_class=4", "--tile=10", "--sheet=sheet.png"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("row 1: all, cat"), HasSubstr("row 3: all, owl")));
  ASSERT_OK_AND_ASSIGN(const auto sheet, DecodeImage(program_.Read("sheet.png"), 3));
  EXPECT_EQ(sheet.height, 2 + 3 * 12);
  EXPECT_EQ(sheet.width, 6 + 2 + 4 * 12);
  // The first cat: red, in the middle of its tile, as it is wider than high.
  EXPECT_EQ(sheet.pixels[7 * sheet.width + 10], 255);
  EXPECT_EQ(sheet.pixels[(sheet.height + 7) * sheet.width + 10], 0);
}

TEST_F(DataTest, ErrorsSayWhatIsWrong) {
  const auto fails = [&](const std::vector<std::string>& arguments, const std::string& what) {
    EXPECT_THAT(program_.Run(arguments), FailsWith(2, HasSubstr(what)));
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
  const ProgramResult list = program_.MustRun({"data", "list"});
  EXPECT_THAT(list.out, AllOf(HasSubstr("tinyimagenet"), HasSubstr("3 x 64 x 64"), HasSubstr("up to 212539"),
                              Not(HasSubstr("photos"))));
}

// A study on image folders: images of different sizes and formats, transforms at their own size, missing files.

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

constexpr char kFolderSpec[] = R"(
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
    program_.Write("mixed.textproto", kFolderSpec);
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
  program_.MustRun(run);
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
  program_.MustRun(run);
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
  program_.MustRun({"records", "export", "--bundle=all.zip"});
  program_.MustRun({"records", "merge", "all.zip", "--store=other"});
  const ProgramResult none = program_.Run({"report", "mixed.textproto", "--store=empty"});
  EXPECT_EQ(none.exit_code, 2);  // there is no store
  std::filesystem::rename(program_.folder() + "/images", program_.folder() + "/elsewhere");
  const ProgramResult report = program_.MustRun({"report", "mixed.textproto", "--store=other"});
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
  program_.MustRun({"run", "mine.textproto", "--store=third"});
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
