#include "eval/files/sample_set.h"

#include <limits>
#include <tuple>
#include <utility>

#include "core/files/formats/npz.h"
#include "core/testing/status_matchers.h"
#include "eval/testing/score_files.h"

namespace openset {
namespace {

ScoreFile File(const std::string& path, std::vector<std::string> names, std::vector<int64_t> label,
               std::vector<int64_t> prediction = {}) {
  ScoreFile file;
  file.path = path;
  file.num_samples = static_cast<int64_t>(label.size());
  file.class_names = std::move(names);
  file.label = std::move(label);
  file.prediction = std::move(prediction);
  return file;
}

TEST(NumberClasses, SortsThoseOfLabelsAndThenThoseOfPredictions) {
  // a: labels ox, unknown, cat; b: cow.
  std::vector<ScoreFile> files = {File("a.csv", {"ox", "ant", "cat"}, {0, -1, 2}, {1, 1, 0}),
                                  File("b.csv", {"cow", "bee"}, {0}, {1})};
  EXPECT_THAT(*NumberClasses({{true, true, true}, {true}}, &files), ElementsAre("cat", "cow", "ox", "ant", "bee"));
  EXPECT_THAT(files[0].label, ElementsAre(2, -1, 0));
  EXPECT_THAT(files[0].prediction, ElementsAre(3, 3, 2));
  EXPECT_THAT(files[1].label, ElementsAre(1));
  EXPECT_THAT(files[1].prediction, ElementsAre(4));
}

TEST(NumberClasses, IgnoresNamesInRowsThatAreLeftOut) {
  std::vector<ScoreFile> files = {File("a.csv", {"ox", "cat"}, {0, 1})};
  EXPECT_THAT(*NumberClasses({{false, true}}, &files), ElementsAre("cat"));
  EXPECT_THAT(files[0].label, ElementsAre(0, 0));
}

TEST(NumberClasses, NumbersStay) {
  std::vector<ScoreFile> files = {File("a.csv", {}, {7, -1})};
  EXPECT_THAT(*NumberClasses({{true, true}}, &files), IsEmpty());
  EXPECT_THAT(files[0].label, ElementsAre(7, -1));
}

TEST(NumberClasses, AcceptsNumbersAmongNames) {
  std::vector<ScoreFile> files = {File("a.csv", {"ox"}, {0}), File("b.csv", {}, {-1})};
  EXPECT_THAT(*NumberClasses({{true}, {true}}, &files), ElementsAre("ox"));  // unknown samples have no class
  files.push_back(File("c.csv", {}, {0}));
  EXPECT_EQ(NumberClasses({{true}, {true}, {true}}, &files).status(),
            absl::InvalidArgumentError("c.csv: numbers the classes, and a.csv names them"));
  files = {File("a.csv", {"ox", "cat"}, {2})};
  EXPECT_EQ(NumberClasses({{true}}, &files).status(),
            absl::InvalidArgumentError("a.csv: class 2 is not one of the 2 that are named"));
}

TEST(NumberClasses, LogitsGiveTheOrder) {
  std::vector<ScoreFile> files = {File("a.csv", {"ox", "cat"}, {1}), File("b.csv", {"ox", "cat"}, {-1})};
  for (ScoreFile& file : files) file.num_outputs = 2;
  EXPECT_THAT(*NumberClasses({{true}, {true}}, &files), ElementsAre("ox", "cat"));
  EXPECT_THAT(files[0].label, ElementsAre(1));
  files[1].class_names = {"cat", "ox"};
  EXPECT_EQ(NumberClasses({{true}, {true}}, &files).status(),
            absl::InvalidArgumentError("b.csv: its logits are of cat, ox, but the logits of a.csv are of ox, cat"));
}

// -1 in an unsigned type is its largest value, unless it is a class.
TEST(ReadSampleSet, UnsignedLabels) {
  const auto labels = [](std::vector<uint8_t> values) {
    return NpyArray{"|u1", {static_cast<int64_t>(values.size())}, std::string(values.begin(), values.end())};
  };
  const auto error = [&](const NpzArrays& arrays, const SetRoles& roles = {}) {
    return ErrorOf({WriteArrays("a.npz", arrays)}, roles);
  };
  NpzArrays arrays = With(Scores(), "label", labels({0, 1, 255}));
  EXPECT_EQ(error(arrays),
            "a.npz: array 'label' holds 255, which is -1 (unknown) in an unsigned type: save it as int64, with -1 "
            "for unknown samples");
  EXPECT_EQ(error(With(arrays, "num_classes", Wholes({256}))), "");
  EXPECT_EQ(error(With(arrays, "prediction", Wholes({0, 0, 255}))), "");
  EXPECT_EQ(error(With(arrays, "label", labels({0, 254, 255}))), "");
  // A role says that they are unknown, whatever their labels.
  arrays = With(With(arrays, "group", Wholes({-1, -1, 0})), "group_names", MakeNpy({"far"}));
  SetRoles roles;
  roles.far = {"far"};
  EXPECT_EQ(error(arrays, roles), "");
}

TEST(ReadSampleSet, Scores) {
  ASSERT_OK_AND_ASSIGN(const SampleSet samples, ReadSampleSet({WriteArrays("a.npz", Scores())}));
  EXPECT_EQ(samples.num_samples, 3);
  EXPECT_EQ(samples.num_classes, 3);  // the largest prediction + 1
  EXPECT_THAT(samples.label, ElementsAre(0, 1, -1));
  EXPECT_THAT(samples.prediction, ElementsAre(0, 0, 2));
  EXPECT_THAT(samples.unknown_score, ElementsAre(0.1, 0.2, 0.3));
  EXPECT_THAT(samples.group, IsEmpty());
  EXPECT_TRUE(samples.Input().ok());
  EXPECT_EQ(ReadSampleSet({WriteArrays("b.npz", With(Scores(), "num_classes", Wholes({7})))})->num_classes, 7);
}

// Files that are declared unknown need no labels; all others do.
TEST(ReadSampleSet, AnUnknownFileNeedsNoLabels) {
  const std::string known = WriteArrays("known.npz", {{"label", Wholes({0, 1})}, {"logits", Matrix({2, 0, 0, 2}, 2)}});
  const std::string ood = WriteArrays("ood.npz", {{"logits", Matrix({2, 3, 4, 3, 0, 1}, 2)}});
  for (const SetRoles& roles : {SetRoles{{"ood"}, {}, {}}, SetRoles{{}, {"ood"}, {}}}) {
    ASSERT_OK_AND_ASSIGN(const SampleSet samples, ReadSampleSet({known, ood}, roles));
    EXPECT_THAT(samples.label, ElementsAre(0, 1, -1, -1, -1));
    EXPECT_THAT(samples.prediction, ElementsAre(0, 1, 1, 0, 1));
  }
  EXPECT_THAT(ErrorOf({known, ood}), HasSubstr("ood.npz: has no array 'label' (it has logits)"));
  std::string empty = WriteArrays("ood.npz", {{"logits", Matrix({}, 2)}});
  EXPECT_EQ(ErrorOf({known, empty}, {{"ood"}}), "ood.npz: array 'logits' is empty");
  // Without elements there is nothing to count.
  empty = WriteArrays("ood.npz", {{"logits", MakeNpy(std::vector<float>(), {int64_t{1} << 40, 0})}});
  EXPECT_THAT(ErrorOf({known, empty}, {{"ood"}}), HasSubstr("has no array 'label'"));
}

TEST(ReadSampleSet, LogitsGiveThePredictionAndTheNumberOfClasses) {
  ASSERT_OK_AND_ASSIGN(
      const SampleSet samples,
      ReadSampleSet({WriteArrays("a.npz", {{"label", Wholes({0, -1})}, {"logits", Matrix({1, 2, 0, 5, 4, 0}, 3)}})}));
  EXPECT_EQ(samples.num_classes, 3);
  EXPECT_THAT(samples.prediction, ElementsAre(1, 0));
  EXPECT_THAT(samples.unknown_score, IsEmpty());
}

// The same samples as .npz, .csv and .npy.
TEST(ReadSampleSet, FormatsAgree) {
  const std::vector<std::vector<std::string>> formats = {
      {WriteArrays("a.npz", Scores())},
      {WriteText("a.csv", "label,prediction,unknown_score\n0,0,0.1\n1,0,0.2\n-1,2,0.3\n")},
      {WriteText("label.npy", FormatNpy(Scores()["label"])),
       WriteText("prediction.npy", FormatNpy(Scores()["prediction"])),
       "unknown_score=" + WriteText("mine.npy", FormatNpy(Scores()["unknown_score"]))}};
  for (const std::vector<std::string>& files : formats) {
    ASSERT_OK_AND_ASSIGN(const SampleSet samples, ReadSampleSet(files));
    EXPECT_THAT(samples.label, ElementsAre(0, 1, -1));
    EXPECT_THAT(samples.prediction, ElementsAre(0, 0, 2));
    EXPECT_THAT(samples.unknown_score, ElementsAre(0.1, 0.2, 0.3));
  }
}

TEST(ReadSampleSet, GroupsAreThoseOfUnknownSamples) {
  NpzArrays arrays = {{"label", Wholes({0, -1, -1, -1})},
                      {"prediction", Wholes({0, 0, 0, 0})},
                      {"unknown_score", Reals({1, 2, 3, 4})},
                      {"group", Wholes({-1, 1, 0, -1})},
                      {"group_names", MakeNpy({"svhn", "cifar"})}};
  ASSERT_OK_AND_ASSIGN(const SampleSet samples,
                       ReadSampleSet({WriteArrays("a.npz", arrays)}, {{}, {"cifar"}, {"svhn"}}));
  EXPECT_THAT(samples.group, ElementsAre(0, 1, 0, 2));  // in the order of the names
  ASSERT_EQ(samples.groups.size(), 3);
  EXPECT_EQ(samples.groups[0].name, "svhn");
  EXPECT_EQ(samples.groups[0].distance, Distance::kFar);
  EXPECT_EQ(samples.groups[1].name, "cifar");
  EXPECT_EQ(samples.groups[1].distance, Distance::kNear);
  EXPECT_EQ(samples.groups[2].name, "other unknown");
  EXPECT_THAT(ErrorOf({Path("a.npz")}, {{"mnist"}}), HasSubstr("unknown group 'mnist'"));
  EXPECT_THAT(ErrorOf({Path("a.npz")}, {{"svhn"}, {"svhn"}}), HasSubstr("group 'svhn' has two roles"));
}

TEST(ReadSampleSet, ValuesOutOfRange) {
  const auto error = [](const NpzArrays& arrays) { return ErrorOf({WriteArrays("a.npz", arrays)}); };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(error(With(Scores(), "label", Wholes({0, -2, 1}))),
            "a.npz: array 'label', row 1: is -2; it must lie in 0 .. 2, or be -1 for unknown");
  EXPECT_EQ(error(With(With(Scores(), "num_classes", Wholes({3})), "label", Wholes({0, 1, int64_t{1} << 32}))),
            "a.npz: array 'label', row 2: is 4294967296; it must lie in 0 .. 2, or be -1 for unknown");
  EXPECT_EQ(
      error({{"label", Wholes({1, 2, -1})}, {"logits", Matrix({0, 3, 5, 1, 2, 2}, 2)}}),
      "a.npz: array 'label', row 1: is 2; it must lie in 0 .. 1, or be -1 for unknown: the labels seem to begin at "
      "1: subtract 1 from those of known samples");
  EXPECT_EQ(error({{"label", Wholes({1, 2, 0})}, {"logits", Matrix({0, 3, 5, 1, 2, 2}, 2)}}),
            "a.npz: array 'label', row 1: is 2; it must lie in 0 .. 1, or be -1 for unknown");
  EXPECT_EQ(error(With(Scores(), "prediction", Wholes({0, 0, -1}))),
            "a.npz: array 'prediction', row 2: is -1; it must lie in 0 .. 1");
  EXPECT_EQ(error(With(Scores(), "unknown_score", Reals({0, nan, 1}))), "a.npz: array 'unknown_score', row 1: is NaN");
  EXPECT_EQ(error({{"label", Wholes({0, 0})}, {"logits", Matrix({0, 1, 0, infinity}, 2)}}),
            "a.npz: array 'logits', row 1: is inf at output 1");
  EXPECT_EQ(error({{"label", Wholes({0, 0})}, {"logits", Matrix({0, 1, 0.25f, 0.75f}, 2)}}),
            "a.npz: the logits are softmax outputs (none is negative, each row sums to 1): save the network's outputs "
            "before the softmax, or provide unknown_score and prediction instead of logits");
  EXPECT_EQ(error({{"label", Wholes({0, 0})}, {"logits", Matrix({0, 1, -infinity, -infinity}, 2)}}),
            "a.npz: array 'logits', row 1: all are -inf");
  EXPECT_EQ(error(With(With(Scores(), "group", Wholes({-1, -1, 1})), "group_names", MakeNpy({"near"}))),
            "a.npz: array 'group', row 2: is 1; it must lie in 0 .. 0 (group_names), or be -1");
  EXPECT_EQ(error(With(Scores(), "group", Wholes({0, 0, int64_t{1} << 40}))),
            "a.npz: array 'group' holds the number 1099511627776");
}

TEST(ReadSampleSet, FilesMustAgree) {
  const std::string scores = WriteArrays("a.npz", Scores());
  const std::string logits = WriteArrays("b.npz", {{"label", Wholes({0})}, {"logits", Matrix({1, 2, 3}, 3)}});
  EXPECT_THAT(ErrorOf({scores, logits}), HasSubstr("b.npz: doesn't have as many logits per sample as "));
  const std::string label = WriteText("label.npy", FormatNpy(Wholes({0, 0, 0})));
  EXPECT_THAT(ErrorOf({scores, label}), HasSubstr("label.npy: array 'label' is in another file too"));
  EXPECT_THAT(ErrorOf({scores, logits, WriteText("features.npy", FormatNpy(Wholes({0})))}),
              HasSubstr("single arrays go with at most one other file, not with a.npz and b.npz"));
}

TEST(ReadSampleSet, ScoresAlone) {
  const std::vector<std::vector<std::string>> formats = {
      {WriteArrays("a.npz", {{"label", Wholes({0, 2, -1})}, {"unknown_score", Reals({0.1, 0.2, 0.3})}})},
      {WriteText("a.csv", ",Label,Unknown_Score\n0,0.0,0.1\n1,2.0,0.2\n2,,0.3\n")},
      {WriteText("a.tsv", "label\tunknown_score\n0\t0.1\n2\t0.2\nunknown\t0.3\n")}};
  for (const std::vector<std::string>& files : formats) {
    ASSERT_OK_AND_ASSIGN(const SampleSet samples, ReadSampleSet(files));
    EXPECT_THAT(samples.label, ElementsAre(0, 2, -1));
    EXPECT_THAT(samples.unknown_score, ElementsAre(0.1, 0.2, 0.3));
    EXPECT_THAT(samples.prediction, IsEmpty());
    EXPECT_EQ(samples.num_classes, 3);  // the largest label + 1
    EXPECT_FALSE(samples.Input()->has_predictions());
  }
  // OpenOOD's layout without pred.
  const std::string conf = WriteArrays("c.npz", {{"label", Wholes({0, -1})}, {"conf", Reals({0.9, 0.1})}});
  EXPECT_THAT(ReadSampleSet({conf})->unknown_score, ElementsAre(-0.9, -0.1));
  EXPECT_THAT(ErrorOf({WriteArrays("b.npz", Scores()), formats[0][0]}),
              HasSubstr("a.npz: has no prediction, unlike b.npz"));
}

// Equal numbers, or texts, of several files are one cluster.
TEST(ReadSampleSet, ClustersMayBeInSeveralFiles) {
  const NpzArrays one = {{"label", Wholes({0, 0})}, {"unknown_score", Reals({1, 2})}, {"cluster", Wholes({5, 6})}};
  NpzArrays two = one;
  two["cluster"] = MakeNpy(std::vector<std::string>{"6", "seven"});
  const std::string a = WriteArrays("a.npz", one), b = WriteArrays("b.npz", two);
  EXPECT_THAT(ReadSampleSet({a, b})->cluster, ElementsAre(0, 1, 1, 2));
  two.erase("cluster");
  EXPECT_EQ(ErrorOf({a, WriteArrays("b.npz", two)}), "b.npz: has no cluster, unlike a.npz");
  two["cluster"] = Reals({0.5, 1});
  EXPECT_THAT(ErrorOf({WriteArrays("b.npz", two)}), HasSubstr("array 'cluster'"));
}

// If only one of the files had it, rows beyond the array would be read.
TEST(ReadSampleSet, AllFilesOrNoneHaveMemberUncertainty) {
  const NpzArrays with = With(Scores(), "member_uncertainty", Matrix(std::vector<float>(9, 0.1F), 3));
  const std::string a = WriteArrays("a.npz", with), b = WriteArrays("b.npz", Scores());
  for (const auto& [first, second, text] : {std::tuple(a, b, "b.npz: has no member_uncertainty, unlike a.npz"),
                                            std::tuple(b, a, "a.npz: has member_uncertainty, unlike b.npz")}) {
    EXPECT_EQ(ErrorOf({first, second}), text);
  }
  ASSERT_OK_AND_ASSIGN(const SampleSet both, ReadSampleSet({a, WriteArrays("c.npz", with)}));
  EXPECT_EQ(both.member_uncertainty.size(), 18);
}

TEST(ReadSampleSet, AnyFileMayHaveTheHead) {
  const NpzArrays plain = {
      {"label", Wholes({0, 1})}, {"logits", Matrix({8, 10, 11, 14}, 2)}, {"features", Matrix({1, 2}, 1)}};
  const NpzArrays with = With(With(plain, "head_weight", Matrix({3, 4}, 1)), "head_bias", Reals({5, 6}));
  const std::string a = WriteArrays("a.npz", plain), b = WriteArrays("b.npz", with), c = WriteArrays("c.npz", with);
  for (const auto& files : {std::vector{b}, {a, b}, {b, a}, {a, b, c}}) {
    ASSERT_OK_AND_ASSIGN(const SampleSet samples, ReadSampleSet(files));
    EXPECT_THAT(samples.head_weight, ElementsAre(3, 4));
    EXPECT_THAT(samples.head_bias, ElementsAre(5, 6));
  }
  for (const NpzArrays& other : {With(with, "head_weight", Matrix({3, 5}, 1)), With(with, "head_bias", Reals({5, 7})),
                                 With(plain, "head_weight", Matrix({3, 4}, 1))}) {
    EXPECT_EQ(ErrorOf({a, b, WriteArrays("d.npz", other)}),
              "d.npz: its head (head_weight, head_bias) differs from the one in b.npz");
  }
  // The second file's rows are in another order than its features: [8, 10] is 1 * [3, 4] + [5, 6].
  EXPECT_THAT(ErrorOf({b, WriteArrays("e.npz", With(plain, "features", Matrix({2, 1}, 1)))}),
              HasSubstr("e.npz: for 2 of 2 samples, features * head_weight^T + head_bias is not logits: "));
  EXPECT_THAT(ErrorOf({WriteArrays("e.npz", With(with, "features", Matrix({2, 1}, 1)))}),
              HasSubstr("e.npz: for 2 of 2 samples"));
}

TEST(ReadSampleSet, GroupsMayBeNames) {
  const NpzArrays arrays = {{"label", Wholes({0, -1, -1, -1})},
                            {"prediction", Wholes({0, 0, 0, 0})},
                            {"unknown_score", Reals({0, 1, 2, 3})},
                            {"group", MakeNpy({"", "svhn", "textures", "svhn"})}};
  ASSERT_OK_AND_ASSIGN(const SampleSet samples, ReadSampleSet({WriteArrays("a.npz", arrays)}));
  ASSERT_EQ(samples.groups.size(), 2);
  EXPECT_EQ(samples.groups[0].name, "svhn");
  EXPECT_EQ(samples.groups[1].name, "textures");
  EXPECT_THAT(samples.group, ElementsAre(0, 0, 1, 0));
  EXPECT_EQ(ErrorOf({WriteArrays("a.npz", With(arrays, "group_names", MakeNpy({"svhn"})))}),
            "a.npz: array 'group' has names, and 'group_names' is for indices: leave 'group_names' out");
}

TEST(ReadSampleSet, LogitsMayHaveNamesOfClasses) {
  const NpzArrays arrays = {{"label", Wholes({0, 1, -1})},
                            {"logits", Matrix({2, 0, 0, 2, 1, 0}, 2)},
                            {"class_names", MakeNpy({"dog", "cat"})}};
  ASSERT_OK_AND_ASSIGN(const SampleSet samples, ReadSampleSet({WriteArrays("a.npz", arrays)}));
  EXPECT_THAT(samples.class_names, ElementsAre("dog", "cat"));
  EXPECT_THAT(samples.label, ElementsAre(0, 1, -1));
  EXPECT_EQ(ErrorOf({WriteArrays("a.npz", With(arrays, "class_names", MakeNpy({"dog"})))}),
            "a.npz: array 'class_names' has 1 names of 2 classes");
  EXPECT_EQ(ErrorOf({WriteArrays("a.npz", With(arrays, "class_names", MakeNpy({"dog", "dog"})))}),
            "a.npz: array 'class_names' has 'dog' twice");
  EXPECT_THAT(ErrorOf({WriteArrays("a.npz", With(arrays, "class_names", Wholes({0, 1})))}), HasSubstr("'class_names'"));
  // With an output for the unknown, the names are those of the classes.
  ASSERT_OK_AND_ASSIGN(
      const SampleSet extra,
      ReadSampleSet({WriteArrays("a.npz", With(With(With(arrays, "logits", Matrix({2, 0, 0, 0, 2, 0, 1, 0, 0}, 3)),
                                                    "num_classes", Wholes({2})),
                                               "label", Wholes({0, 1, -1})))}));
  EXPECT_THAT(extra.class_names, ElementsAre("dog", "cat"));
  EXPECT_EQ(ErrorOf({WriteArrays("a.npz", arrays),
                     WriteArrays("b.npz", With(arrays, "class_names", MakeNpy({"cat", "dog"})))}),
            "b.npz: its logits are of cat, dog, but the logits of a.npz are of dog, cat");
}

TEST(ReadSampleSet, ColumnsThatAreThereAreListed) {
  EXPECT_EQ(ErrorOf({WriteText("a.csv", ",y,Score\n0,1,0.5\n")}),
            "a.csv: has no column 'label' (it has (no name), y, Score); is it 'y'? rename that to 'label'");
  EXPECT_EQ(ErrorOf({WriteText("a.csv", "Label;msp\n0;0.5\n")}),
            "a.csv: has no column 'unknown_score' or 'logit_0' (it has Label, msp)");
}

// Classes of labels come first, so that methods on the same samples have the same labels; classes of unknown
// sets are ignored.
TEST(ReadSampleSet, NamesOfClasses) {
  const std::string known = WriteText("known.csv", "label,prediction,unknown_score\ndog,dog,1\ncat,bee,2\n,dog,3\n");
  const std::string other = WriteText("other.csv", "label,prediction,unknown_score\nbus,cat,4\n");
  SetRoles roles;
  roles.unknown = {"other"};
  ASSERT_OK_AND_ASSIGN(const SampleSet samples, ReadSampleSet({known, other}, roles));
  EXPECT_THAT(samples.class_names, ElementsAre("cat", "dog", "bee"));
  EXPECT_EQ(samples.num_classes, 3);
  EXPECT_THAT(samples.label, ElementsAre(1, 0, -1, -1));
  EXPECT_THAT(samples.prediction, ElementsAre(1, 2, 1, 0));

  ASSERT_OK_AND_ASSIGN(const SampleSet logits,
                       ReadSampleSet({WriteText("logits.csv", "label,logit_dog,logit_cat\ncat,1,2\ndog,4,3\n"),
                                      WriteText("more.csv", "label,logit_dog,logit_cat\nunknown,5,6\n")}));
  EXPECT_THAT(logits.class_names, ElementsAre("dog", "cat"));
  EXPECT_THAT(logits.label, ElementsAre(1, 0, -1));
  EXPECT_THAT(logits.prediction, ElementsAre(1, 0, 1));
}

TEST(ReadSampleSet, DistinguishesSeveralKnownSets) {
  const std::vector<std::string> files = {WriteText("plain.csv", "label,prediction,unknown_score\n0,0,0.1\n1,0,0.2\n"),
                                          WriteText("shifted.csv", "label,prediction,unknown_score\n1,1,0.4\n"),
                                          WriteText("other.csv", "label,prediction,unknown_score\n0,2,0.5\n")};
  SetRoles roles;
  roles.known = {"plain", "shifted"};
  roles.far = {"other"};
  ASSERT_OK_AND_ASSIGN(const SampleSet samples, ReadSampleSet(files, roles));
  EXPECT_THAT(samples.known_sets, ElementsAre("plain", "shifted"));
  EXPECT_THAT(samples.known_set, ElementsAre(0, 0, 1, -1));
  roles.known = {"plain"};
  EXPECT_THAT(ReadSampleSet(files, roles)->known_set, IsEmpty());
}

// Two known samples among unknown ones of the sets "near", "far", "near".
SampleSet FiveSamples() {
  SampleSet samples;
  samples.num_samples = 5;
  samples.num_classes = samples.num_outputs = 2;
  samples.label = {0, kUnknownLabel, kUnknownLabel, 1, kUnknownLabel};
  samples.group = {0, 0, 1, 0, 0};
  samples.groups = {{"near"}, {"far"}};
  samples.prediction = {0, 0, 1, 1, 0};
  samples.unknown_score = {0.1, 0.2, 0.3, 0.4, 0.5};
  samples.logits = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  return samples;
}

TEST(OnlyUnknownSet, KeepsKnownSamplesAndThoseOfTheSet) {
  ASSERT_OK_AND_ASSIGN(const SampleSet far, OnlyUnknownSet(FiveSamples(), "far"));
  EXPECT_EQ(far.num_samples, 3);
  EXPECT_THAT(far.label, ElementsAre(0, kUnknownLabel, 1));
  EXPECT_THAT(far.prediction, ElementsAre(0, 1, 1));
  EXPECT_THAT(far.unknown_score, ElementsAre(0.1, 0.3, 0.4));
  EXPECT_THAT(far.logits, ElementsAre(0, 1, 4, 5, 6, 7));
  EXPECT_THAT(far.features, IsEmpty());
  EXPECT_THAT(far.groups, IsEmpty());
  EXPECT_TRUE(far.Input().ok());
  EXPECT_EQ(OnlyUnknownSet(FiveSamples(), "near")->num_samples, 4);
}

// The score's own logits, which calibration uses.
TEST(OnlyUnknownSet, KeepsProbabilitiesOfTheScore) {
  SampleSet samples = FiveSamples();
  samples.probability_outputs = 3;
  for (int i = 0; i < 15; ++i) samples.probability_logits.push_back(static_cast<float>(i));
  ASSERT_OK_AND_ASSIGN(const SampleSet far, OnlyUnknownSet(samples, "far"));
  EXPECT_THAT(far.probability_logits, ElementsAre(0, 1, 2, 6, 7, 8, 9, 10, 11));
  EXPECT_EQ(far.probability_outputs, 3);
  EXPECT_EQ(far.Input()->num_outputs(), 3);
}

// The fields of samples other than scores.
TEST(OnlyUnknownSet, KeepsKnownSamples) {
  SampleSet samples = FiveSamples();
  samples.feature_dim = 1;
  samples.features = {0, 1, 2, 3, 4};
  samples.member_uncertainty = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4};
  samples.known_set = {0, -1, -1, 1, -1};
  samples.known_sets = {"clean", "blurred"};
  samples.path = "net.npz";  // errors about these samples name it
  samples.num_classes_given = true;
  ASSERT_OK_AND_ASSIGN(const SampleSet far, OnlyUnknownSet(samples, "far"));
  EXPECT_THAT(far.features, ElementsAre(0, 2, 3));
  EXPECT_THAT(far.member_uncertainty, ElementsAre(0, 0, 0, 2, 2, 2, 3, 3, 3));
  EXPECT_THAT(far.known_set, ElementsAre(0, -1, 1));
  EXPECT_THAT(far.known_sets, ElementsAre("clean", "blurred"));
  EXPECT_EQ(far.path, "net.npz");
  EXPECT_TRUE(far.num_classes_given);
}

TEST(OnlyUnknownSet, RefusesArraysThatAreNotOfAllSamples) {
  SampleSet samples = FiveSamples();
  samples.member_uncertainty = {0, 0, 0};
  EXPECT_EQ(std::string(OnlyUnknownSet(samples, "far").status().message()),
            "array 'member_uncertainty' has 3 values, not 15 for all samples");
  samples = FiveSamples();
  samples.group.pop_back();
  EXPECT_THAT(std::string(OnlyUnknownSet(samples, "far").status().message()), HasSubstr("array 'group' has 4 values"));
}

TEST(OnlyUnknownSet, Refuses) {
  EXPECT_THAT(std::string(OnlyUnknownSet(FiveSamples(), "fra").status().message()),
              HasSubstr("unknown group 'fra'; did you mean 'far'?"));
  SampleSet samples = FiveSamples();
  samples.group.clear();
  samples.groups.clear();
  EXPECT_THAT(std::string(OnlyUnknownSet(samples, "far").status().message()), HasSubstr("there is no group 'far'"));
}

}  // namespace
}  // namespace openset
