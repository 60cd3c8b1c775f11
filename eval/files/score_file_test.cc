// The layouts of files, as ReadSampleSet() reads them.
#include "eval/files/score_file.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/files/files.h"
#include "core/files/formats/npz.h"
#include "core/testing/status_matchers.h"
#include "eval/files/sample_set.h"
#include "eval/testing/score_files.h"

namespace openset {
namespace {

TEST(ScoreFile, OpenOod) {
  // The labels of the second set are its own, so it is declared unknown.
  const std::string known =
      WriteArrays("cifar10.npz", {{"pred", Wholes({0, 1})}, {"conf", Reals({0.9, 0.8})}, {"label", Wholes({0, 1})}});
  const std::string unknown =
      WriteArrays("svhn.npz", {{"pred", Wholes({1, 1})}, {"conf", Reals({0.1, 0.2})}, {"label", Wholes({7, 3})}});
  const std::string third =
      WriteArrays("dtd.npz", {{"pred", Wholes({0})}, {"conf", Reals({0.3})}, {"label", Wholes({-1})}});
  ASSERT_OK_AND_ASSIGN(const SampleSet samples, ReadSampleSet({known, unknown, third}, {{}, {}, {"svhn"}}));
  EXPECT_THAT(samples.label, ElementsAre(0, 1, -1, -1, -1));
  EXPECT_THAT(samples.unknown_score, ElementsAre(-0.9, -0.8, -0.1, -0.2, -0.3));
  EXPECT_THAT(samples.group, ElementsAre(0, 0, 0, 0, 1));
  EXPECT_EQ(samples.groups[1].name, "dtd");
  EXPECT_EQ(samples.num_classes, 2);
}

TEST(ScoreFile, FdShifts) {
  // Two logits, label, data set: 0 validation, 1 test, 2 another data set with labels of its own.
  const std::string logits = WriteArrays("raw_logits.npz", {{"arr_0", Matrix({1, 0, 0, 0,  //
                                                                              2, 0, 1, 1,  //
                                                                              0, 3, 9, 2},
                                                                             4)}});
  EXPECT_THAT(ErrorOf({logits}), HasSubstr("raw_logits.npz: holds the data sets 0, 1, 2 by number"));
  SetRoles roles;
  roles.skip = {"0"};
  roles.unknown = {"2"};
  ASSERT_OK_AND_ASSIGN(const SampleSet samples, ReadSampleSet({logits}, roles));
  EXPECT_THAT(samples.label, ElementsAre(1, -1));
  EXPECT_THAT(samples.prediction, ElementsAre(0, 1));
  EXPECT_THAT(samples.logits, ElementsAre(2, 0, 0, 3));

  // What set 0 holds doesn't matter: it may be NaN, and the logits of the others are softmax outputs without it too.
  const float nan = std::numeric_limits<float>::quiet_NaN();
  ASSERT_OK_AND_ASSIGN(
      const SampleSet same,
      ReadSampleSet({WriteArrays("raw_logits.npz", {{"arr_0", Matrix({nan, 0, 0, 0, 2, 0, 1, 1, 0, 3, 9, 2}, 4)}})},
                    roles));
  EXPECT_THAT(same.prediction, ElementsAre(0, 1));
  EXPECT_THAT(same.logits, ElementsAre(2, 0, 0, 3));
  EXPECT_THAT(ErrorOf({WriteArrays("raw_logits.npz", {{"arr_0", Matrix({2, 0, 0, 0, 1, 0, 1, 1}, 4)}})},
                      {{}, {}, {}, {"1"}, {"0"}}),
              HasSubstr("raw_logits.npz: the logits are softmax outputs"));
  WriteArrays("raw_logits.npz", {{"arr_0", Matrix({1, 0, 0, 0, 2, 0, 1, 1, 0, 3, 9, 2}, 4)}});

  const std::string confidence = WriteArrays("external_confids.npz", {{"arr_0", Reals({5, 6, 7})}});
  EXPECT_THAT(ReadSampleSet({logits, confidence}, roles)->unknown_score, ElementsAre(-6, -7));
  EXPECT_THAT(ErrorOf({confidence}), HasSubstr("give raw_logits.npz or raw_output.npz of the same folder too"));

  const std::string output = WriteArrays("raw_output.npz", {{"arr_0", Matrix({0.25, 0.75, 1, 0}, 4)}});
  EXPECT_THAT(ReadSampleSet({output})->logits, ElementsAre(std::log(0.25f), std::log(0.75f)));
  EXPECT_THAT(ErrorOf({WriteArrays("raw_output.npz", {{"arr_0", Matrix({2, 0, 1, 0}, 4)}})}),
              HasSubstr("raw_output.npz: array 'arr_0' holds 2, no probability, in row 0"));
}

TEST(ScoreFile, RefusesFilesWithWrongEndings) {
  EXPECT_THAT(ErrorOf({Path("nowhere.npz")}), HasSubstr("nowhere.npz: No such file or directory"));
  EXPECT_THAT(ErrorOf({WriteText("a.txt", "x")}), HasSubstr("a.txt: files of scores end in .npz, .npy, .csv or .tsv"));
  EXPECT_EQ(ErrorOf({WriteText("text.npz", "label\n1\n")}), "text.npz: not an .npz archive");
  EXPECT_EQ(ErrorOf({WriteText("label.npy", "label\n1\n")}),
            "label.npy: not a .npy array: it does not start with the magic bytes");
  const std::string bytes = *ReadFile(WriteArrays("a.npz", Scores()));
  EXPECT_THAT(ErrorOf({WriteText("a.csv", bytes)}), HasSubstr("a.csv: is not text: byte "));
  EXPECT_THAT(ErrorOf({WriteText("mine.npy", FormatNpy(Wholes({1})))}), HasSubstr("write ARRAY="));
}

// Each message is the command that converts the file.
TEST(ScoreFile, NamesTheConversionOfOtherFormats) {
  EXPECT_EQ(ConversionText("my scores.parquet"),
            ": python3 -c \"import sys, pandas; f, to = sys.argv[1:]; pandas.read_parquet(f).to_csv(to, index=False)\" "
            "'my scores.parquet' 'my scores.csv' converts it");
  EXPECT_EQ(
      ConversionText("a's.PKL"),
      ": python3 -c \"import sys, numpy, pandas; f, to = sys.argv[1:]; numpy.savez(to, **pandas.read_pickle(f))\" "
      "'a'\\''s.PKL' 'a'\\''s.npz' converts it (a pickle runs code: only your own)");
  EXPECT_EQ(ConversionText("a.xyz"), "");
  EXPECT_THAT(
      ErrorOf({WriteText("a.json", "[]")}),
      HasSubstr("a.json: files of scores end in .npz, .npy, .csv or .tsv, not in .json: python3 -c \"import sys, "
                "pandas; "));
  const std::string folder = ::testing::TempDir() + "/some_scores";
  std::filesystem::create_directories(folder);
  EXPECT_THAT(ErrorOf({folder}), EndsWith("some_scores is a folder: name a file of scores in it"));
  for (const char* name : {"b.csv", "a.npz", "notes.md"}) std::ofstream(folder + "/" + name) << "x";
  EXPECT_THAT(ErrorOf({folder}), EndsWith("name a file of scores in it (it has a.npz, b.csv)"));
}

// Texts are indices in class_names, whatever their order there.
TEST(ScoreFile, TakesNamesOfClassesInArrays) {
  NpzArrays arrays = {{"label", MakeNpy(std::vector<std::string>{"dog", "cat", "Unknown", ""})},
                      {"logits", Matrix({2, 0, 0, 3, 1, 1, 1, 0}, 2)}};
  EXPECT_THAT(
      ErrorOf({WriteArrays("named.npz", arrays)}),
      HasSubstr("array 'label' holds texts, and there is no array 'class_names': add it, the names of all known "
                "classes in the order of the logits, as in numpy.savez(file, class_names=['cat', 'dog'], ...)"));
  arrays["class_names"] = MakeNpy(std::vector<std::string>{"dog", "cat"});
  arrays["prediction"] = MakeNpy(std::vector<std::string>{"cat", "cat", "dog", "dog"});
  const absl::StatusOr<SampleSet> samples = ReadSampleSet({WriteArrays("named.npz", arrays)});
  ASSERT_TRUE(samples.ok()) << samples.status();
  EXPECT_THAT(samples->label, ElementsAre(0, 1, -1, -1));
  EXPECT_THAT(samples->prediction, ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(samples->class_names, ElementsAre("dog", "cat"));
  arrays["label"] = MakeNpy(std::vector<std::string>{"dog", "cat", "wolf", ""});
  EXPECT_THAT(ErrorOf({WriteArrays("named.npz", arrays)}),
              HasSubstr("array 'label' row 2: 'wolf' is none of class_names; unknown samples have the label '' or "
                        "'unknown'"));
  // Finished scores: as in a table, the classes are numbered by their names.
  arrays["label"] = MakeNpy(std::vector<std::string>{"dog", "cat", "unknown", ""});
  arrays.erase("logits");
  arrays["unknown_score"] = Reals({1, 2, 3, 4});
  ASSERT_OK_AND_ASSIGN(const SampleSet scored, ReadSampleSet({WriteArrays("named.npz", arrays)}));
  EXPECT_THAT(scored.label, ElementsAre(1, 0, -1, -1));
  EXPECT_THAT(scored.prediction, ElementsAre(0, 0, 1, 1));
}

// Without the last three bytes, a comment's length and the high byte of an offset that are 0, nothing is lost.
TEST(ScoreFile, EveryTruncationIsAnErrorOrHarmless) {
  const std::string bytes = *ReadFile(WriteArrays("a.npz", Scores()));
  for (size_t size = 0; size + 3 < bytes.size(); ++size) {
    EXPECT_THAT(ErrorOf({WriteText("cut.npz", bytes.substr(0, size))}), HasSubstr("cut.npz: ")) << size;
  }
  for (size_t lost = 1; lost <= 3; ++lost) {
    const absl::StatusOr<SampleSet> samples =
        ReadSampleSet({WriteText("cut.npz", bytes.substr(0, bytes.size() - lost))});
    if (!samples.ok()) continue;
    EXPECT_THAT(samples->unknown_score, ElementsAre(0.1, 0.2, 0.3));
  }
}

// An array that no format uses may be corrupt, of objects, or larger than memory, because it is not inflated.
TEST(ScoreFile, LeavesOtherArraysAlone) {
  const std::string path = WriteArrays("a.npz", With(Scores(), "images", MakeNpy({"a text to find"})));
  std::string bytes = *ReadFile(path);
  const size_t at = bytes.find(std::string("t\0\0\0o\0\0\0", 8));
  ASSERT_NE(at, std::string::npos);
  bytes[at] ^= 1;
  WriteText("a.npz", bytes);
  EXPECT_EQ(ErrorOf({path}), "");
}

TEST(ScoreFile, ArraysOfOtherTypesAndShapes) {
  const auto error = [](const NpzArrays& arrays) { return ErrorOf({WriteArrays("a.npz", arrays)}); };
  EXPECT_EQ(error({{"labels", Wholes({0})}}),
            "a.npz: has no array 'label' (it has labels); is it 'labels'? rename that to 'label'");
  EXPECT_EQ(error({{"label", Wholes({0})}, {"score", Wholes({1})}}),
            "a.npz: has no array 'unknown_score' or 'logits' (it has label, score); is it 'score'? rename that to "
            "'unknown_score', if larger is more unknown");
  EXPECT_EQ(error({{"label", Wholes({0})}}), "a.npz: has no array 'unknown_score' or 'logits' (it has label)");
  EXPECT_EQ(error(With(Scores(), "label", Reals({0, 1, -1}))), "");  // PyTorch's default, say
  EXPECT_EQ(error(With(Scores(), "label", Reals({0, 0.5, -1}))),
            "a.npz: array 'label' holds 0.5 in row 1, not a whole number");
  EXPECT_EQ(error(With(Scores(), "unknown_score", MakeNpy({"a", "b", "c"}))),
            "a.npz: array 'unknown_score' holds '<U1', not numbers");
  EXPECT_EQ(error(With(Scores(), "unknown_score", Reals({0, 1}))),
            "a.npz: array 'unknown_score' has shape [2], expected [3]");
  EXPECT_EQ(error(With(Scores(), "logits", Reals({0, 1, 2}))),
            "a.npz: array 'logits' has shape [3], expected [3, any]");
  EXPECT_EQ(error({{"label", Wholes({})}, {"prediction", Wholes({})}, {"unknown_score", Reals({})}}),
            "a.npz: array 'label' is empty");
  EXPECT_EQ(error({{"label", Wholes({})}, {"logits", MakeNpy(std::vector<float>(), {0, 2})}}),
            "a.npz: array 'logits' is empty");
  EXPECT_EQ(error({{"label", Wholes({0})}, {"logits", Matrix({}, 1)}}),
            "a.npz: array 'logits' has shape [0, 1], expected [1, any]");
  EXPECT_THAT(error(With(Scores(), "label", {"|O", {3}, std::string(24, 'x')})),
              HasSubstr("a.npz: array 'label': array of Python objects"));
  EXPECT_THAT(error(With(Scores(), "label", {"<i8", {1000000000}, "12345678"})),
              HasSubstr("a.npz: array 'label': not a .npy array: its header (type <i8, shape 1000000000) asks for"));
  EXPECT_THAT(error(With(Scores(), "label", {"<c8", {3}, std::string(24, 'x')})),
              HasSubstr("a.npz: array 'label': array of type '<c8' is not supported"));
  EXPECT_EQ(error(With(Scores(), "num_classes", Wholes({0}))),
            "a.npz: array 'num_classes' is 0; it must lie in 1 .. 1000000");
  EXPECT_EQ(error(With(Scores(), "num_classes", Wholes({1000000000}))),
            "a.npz: array 'num_classes' is 1000000000; it must lie in 1 .. 1000000");
  EXPECT_EQ(error(With(Scores(), "label", Wholes({0, 1000000000, 0}))),
            "a.npz: array 'label', row 1: is 1000000000; classes are numbered from 0, below 1000000");
  EXPECT_EQ(error(With(Scores(), "num_classes", Wholes({}))),
            "a.npz: array 'num_classes' has shape [0], expected a single value");
}

TEST(ScoreFile, ScoresThatAreHigherForKnownSamples) {
  const std::string scores = WriteArrays("a.npz", Scores());
  const auto read = [](const std::string& file) { return ReadSampleSet({file}, {}, ScoreDirection::kHigherIsKnown); };
  EXPECT_THAT(read(scores)->unknown_score, ElementsAre(-0.1, -0.2, -0.3));
  EXPECT_THAT(std::string(read(WriteText("c.csv", "label,logit_0,logit_1\n0,1,2\n")).status().message()),
              HasSubstr("c.csv: has no column 'unknown_score' (it has label, logit_0, logit_1)"));
  const std::string conf =
      WriteArrays("c.npz", {{"label", Wholes({0})}, {"conf", Reals({0.9})}, {"pred", Wholes({0})}});
  EXPECT_THAT(std::string(read(conf).status().message()), HasSubstr("leave out --higher_is_known"));
}

}  // namespace
}  // namespace openset
