#include "experiments/study/check_inputs.h"

#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/testing/failing_disk.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/sets/data_set_parts.h"
#include "experiments/plan/planner.h"
#include "experiments/spec/method.pb.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/testing/spec_sandbox.h"

namespace openset {
namespace {

class DataContents : public ::testing::Test {
 protected:
  DataContents() : store_(sandbox_.folder() + "/store") {}

  void WriteImages(const std::string& test_images) const {
    for (const char* file : {"train-images", "train-labels", "test-labels"}) {
      sandbox_.Write(absl::StrCat("digits/", file), file);
    }
    sandbox_.Write("digits/test-images", test_images);
  }

  // The experiment after ResolveContentDigests().
  Experiment Told(const std::vector<std::string>& data_folders) {
    absl::StatusOr<Experiment> experiment = sandbox_.Load(kMinimalSpec);
    EXPECT_TRUE(experiment.ok()) << experiment.status();
    absl::StatusOr<ResolvedContents> contents = ResolveContentDigests(store_, data_folders, nullptr, experiment->tasks,
                                                                      experiment->spec.name(), &experiment->catalog);
    EXPECT_THAT(contents, IsOk());
    contents_ = *std::move(contents);
    return *std::move(experiment);
  }

  // A record of a training on this part of the digits.
  void AddRecord(const std::string& id, const std::string& part, const std::string& digest, double time,
                 const std::string& study = "another") const {
    TrialRecord record = Parsed<TrialRecord>(absl::StrCat(
        "schema_version: ", kSchemaVersion, " trial { method { name: 'm' } data { train ",
        "{ data_set: 'digits' part: '", part, "' part_digest: '", digest, "' } test_known { data_set: 'other' part: '",
        part, "' } } seed: 0 ", "execution {} metric { auroc {} } experiment: '", study,
        "' } metric { name: 'auroc' value: 0.5 } ", "provenance { stage { stage: EVALUATE started_at_seconds: ", time,
        " } }"));
    record.set_trial_id(Sha256Hex(id));
    EXPECT_THAT(store_.CommitRecord(record), IsOk());
  }

  // The part's digest; "" if it is not known.
  static std::string ContentOf(const Experiment& experiment, const std::string& name) {
    for (const DataSetPart& part : (*experiment.catalog.Find("digits"))->layout(0).part()) {
      if (part.name() == name) return part.content_sha256();
    }
    return "no such part";
  }

  const SpecSandbox sandbox_;
  const Store store_;
  ResolvedContents contents_;  // of Told()
};

TEST_F(DataContents, ComeFromTheFilesOrTheStore) {
  EXPECT_EQ(ContentOf(Told({sandbox_.folder()}), "test"), "");  // neither is there
  WriteImages("some images");
  const Experiment told = Told({sandbox_.folder()});
  const std::string content = ContentOf(told, "test");
  EXPECT_EQ(content, Sha256Hex(absl::StrCat(Sha256Hex("some images"), "\n", Sha256Hex("test-labels"), "\n")));
  EXPECT_NE(ContentOf(told, "train"), content);
  EXPECT_EQ(ContentOf(Told({}), "test"), "");  // nothing was remembered yet

  ASSERT_THAT(RememberContents(store_, told), IsOk());
  EXPECT_EQ(*ReadFile(store_.folder() + "/data/digits/test.sha256"), content);
  EXPECT_EQ(ContentOf(Told({}), "test"), content);
  // Existing files take precedence.
  WriteImages("other images");
  EXPECT_NE(ContentOf(Told({sandbox_.folder()}), "test"), content);
  std::filesystem::remove_all(sandbox_.folder() + "/digits");
  EXPECT_EQ(ContentOf(Told({sandbox_.folder()}), "test"), content);
}

// The images of another machine are missing; records identify them.
TEST_F(DataContents, ComeFromRecordsIfFilesAreMissing) {
  Told({sandbox_.folder()});
  EXPECT_THAT(contents_.unresolved, ElementsAre("digits, train", "digits, test"));
  EXPECT_THAT(contents_.lines,
              ElementsAre("The images of digits, train; digits, test are not on this machine, and the store has "
                          "no record of them: results on them can't be found."));
  AddRecord("a", "train", Sha256Hex("old"), 1);
  AddRecord("b", "train", Sha256Hex("new"), 3);
  AddRecord("c", "train", Sha256Hex("old"), 2);
  AddRecord("d", "test", Sha256Hex("test"), 1);
  const Experiment told = Told({sandbox_.folder()});
  const DataSetInfo& digits = **told.catalog.Find("digits");
  EXPECT_EQ(*PartDigest(digits, "train"), Sha256Hex("new"));
  EXPECT_EQ(*PartDigest(digits, "test"), Sha256Hex("test"));
  EXPECT_THAT(contents_.unresolved, IsEmpty());
  EXPECT_THAT(contents_.lines,
              ElementsAre(EndsWith("(2 differ: the newest record's is taken)."),
                          HasSubstr("The images of digits, test are not on this machine: results are found")));
  // Digests from records are not saved as digests of files, and existing files take precedence.
  ASSERT_THAT(RememberContents(store_, told), IsOk());
  EXPECT_FALSE(FileExists(store_.folder() + "/data/digits/test.sha256"));
  WriteImages("some images");
  EXPECT_NE(*PartDigest(**Told({sandbox_.folder()}).catalog.Find("digits"), "test"), Sha256Hex("test"));
  EXPECT_THAT(contents_.lines, IsEmpty());
}

// Two trials ran on the right images, then one on a wrong image, which the store's last run remembers.
TEST_F(DataContents, OfMostRecordsOfTheStudyIfFilesAreMissing) {
  WriteImages("wrong images");
  ASSERT_THAT(RememberContents(store_, Told({sandbox_.folder()})), IsOk());
  EXPECT_THAT(contents_.lines, IsEmpty());
  Told({});
  EXPECT_THAT(contents_.lines, ElementsAre("The images of digits, train; digits, test are not on this machine: results "
                                           "are found by the digest that the store's last run saved."));
  const std::string study = sandbox_.Load(kMinimalSpec)->spec.name();
  AddRecord("a", "test", Sha256Hex("right"), 1, study);
  AddRecord("b", "test", Sha256Hex("right"), 2, study);
  AddRecord("c", "test", Sha256Hex("wrong"), 3, study);
  for (const char* id : {"d", "e", "f"}) AddRecord(id, "test", Sha256Hex("of other studies"), 4);
  EXPECT_EQ(*PartDigest(**Told({}).catalog.Find("digits"), "test"), Sha256Hex("right"));
  EXPECT_THAT(contents_.lines,
              ElementsAre("The images of digits, test are not on this machine: results are found by the digest that "
                          "most records of the study have (2 of 3; 2 differ).",
                          HasSubstr("digits, train are not")));
  AddRecord("g", "test", Sha256Hex("wrong"), 5, study);  // of equally many, the newest
  EXPECT_EQ(*PartDigest(**Told({}).catalog.Find("digits"), "test"), Sha256Hex("wrong"));
}

// Two parts are absent: each of three records in three folders of `records` is opened once for both, and none if no
// study's records can overrule what the last run remembers.
TEST_F(DataContents, RecordsAreReadOnceAndOnlyIfTheyCount) {
  WriteImages("images");
  Experiment told = Told({sandbox_.folder()});
  ASSERT_THAT(RememberContents(store_, told), IsOk());
  for (const char* id : {"a", "b", "c"}) AddRecord(id, "test", Sha256Hex("other images"), 1);
  for (const auto& [study, opened] : {std::pair{"", 0}, {"study", 7}}) {
    absl::StatusOr<Experiment> experiment = sandbox_.Load(kMinimalSpec);
    ASSERT_THAT(experiment, IsOk());
    const FailingDisk counts(store_.folder() + "/records", "EIO", "open", /*at=*/1000);
    const absl::StatusOr<ResolvedContents> contents =
        ResolveContentDigests(store_, {}, nullptr, experiment->tasks, study, &experiment->catalog);
    ASSERT_THAT(contents, IsOk());
    EXPECT_THAT(contents->lines, ElementsAre(HasSubstr("the digest that the store's last run saved")));
    EXPECT_EQ(counts.calls(), opened) << study;
  }
}

// The name of the data set leads from any folder to the root, and from there to the images.
TEST_F(DataContents, NothingIsWrittenOutsideTheStore) {
  sandbox_.Write("pics/train/a/1.png", "an image");
  sandbox_.Write("pics/test/a/2.png", "another image");
  std::string name = "folder:";
  for (int depth = 0; depth < 40; ++depth) name += "/..";
  name += sandbox_.folder() + "/pics";
  sandbox_.Write("data/tasks/task.textproto",
                 "name: 'task' data_set: 'digits' split { known: [0, 1, 2, 3, 4] } "
                 "unknown { group: 'pics' part: 'test' data_set: '" +
                     name + "' }");
  WriteImages("some images");
  const Experiment told = Told({sandbox_.folder()});
  const auto files = [this] {
    std::set<std::string> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(sandbox_.folder())) {
      if (!absl::StartsWith(entry.path().string(), store_.folder())) paths.insert(entry.path());
    }
    return paths;
  };
  const std::set<std::string> before = files();
  ASSERT_THAT(RememberContents(store_, told), IsOk());
  EXPECT_EQ(files(), before);
  EXPECT_TRUE(FileExists(store_.folder() + "/data/digits/test.sha256"));
  EXPECT_TRUE(FileExists(absl::StrCat(store_.folder(), "/data/", Sha256Hex(name + "/test.sha256"))));
}

TEST_F(DataContents, AStoreThatCantBeWrittenIsNamed) {
  WriteImages("some images");
  const Experiment told = Told({sandbox_.folder()});
  sandbox_.Write("store/data", "a file in the folder's place");
  EXPECT_THAT(RememberContents(store_, told),
              StatusIs(absl::StatusCode::kUnavailable, ::testing::HasSubstr(store_.folder() + "/data")));
}

// The sandbox's data sets have no files. Images of data set "others" are external.
class CheckInputsTest : public ::testing::Test {
 protected:
  CheckInputsTest() {
    const std::string digits = *ReadFile(sandbox_.folder() + "/data/catalog/digits.textproto");
    sandbox_.Write("data/catalog/others.textproto", absl::StrReplaceAll(digits, {{"digits", "others"}}));
    sandbox_.Write("data/tasks/task.textproto",
                   "name: 'task' data_set: 'digits' external { data_set: 'others' class_id: 4 } "
                   "split { known: [0, 1, 2] unknown: 3 }");
  }

  std::vector<std::string> Missing(const std::string& more) {
    Load(more);
    std::vector<std::string> names;
    for (const MissingData& missing : FindMissingData(plan_, experiment_->catalog, {sandbox_.folder()})) {
      names.push_back(missing.data_set);
      EXPECT_EQ(missing.fix, "provide the files");
    }
    return names;
  }

  void Load(const std::string& more) {
    experiment_ = sandbox_.Load(absl::StrCat(kMinimalSpec, more));
    ASSERT_TRUE(experiment_.ok()) << experiment_.status();
    plan_ = MakePlan(*Expand(*experiment_), Store("/nowhere"), [](const Selection&) { return 1; });
  }

  SpecSandbox sandbox_;
  absl::StatusOr<Experiment> experiment_;
  Plan plan_;
};

TEST_F(CheckInputsTest, NamesTheMissingFile) {
  Load("");
  EXPECT_THAT(CheckInputs(plan_, experiment_->catalog, {sandbox_.folder()}), IsNotFound("digits/t"));
}

TEST_F(CheckInputsTest, FindsTheDataSetsThatAreRead) {
  EXPECT_THAT(Missing(""), ::testing::ElementsAre("digits"));
  EXPECT_THAT(Missing("override { open_set { external_images {} } loss { term { outlier_exposure {} } } }"),
              ::testing::ElementsAre("digits", "others"));
}

// Only the measurements during the training read the external images.
TEST_F(CheckInputsTest, MeasurementsDuringATrainingReadDataToo) {
  EXPECT_THAT(Missing("validation_per_class: 5 override { training { evaluate_every { epochs: 1 } } }"),
              ::testing::ElementsAre("digits", "others"));
}

}  // namespace
}  // namespace openset
