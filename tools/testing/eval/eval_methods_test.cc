// openset eval --as=methods: several methods in one table and one plot.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/formats/npz.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/testing/eval/eval_fixture.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class EvalMethodsTest : public EvalTest {
 protected:
  // a.npz: AUROC 3/4, all predictions correct; b.npz: only scores, AUROC 1.
  EvalMethodsTest() {
    WriteArrays("a.npz", {{"label", Wholes({0, 1, -1, -1})},
                          {"prediction", Wholes({0, 1, 0, 1})},
                          {"unknown_score", Reals({0.1, 0.4, 0.2, 0.9})}});
    WriteArrays("b.npz", {{"label", Wholes({0, 1, -1, -1})}, {"unknown_score", Reals({1, 2, 3, 4})}});
  }

  std::string Methods(std::vector<std::string> more) const {
    more.insert(more.begin(), {"eval", "a.npz", "b.npz", "--as=methods", "--metrics=auroc,accuracy"});
    return Out(more);
  }
};

TEST_F(EvalMethodsTest, OneTable) {
  EXPECT_EQ(Methods({}),
            "a: a.npz, unknown score: that of the file\n"
            "b: b.npz, unknown score: that of the file\n"
            "2 known samples of 2 classes, 2 unknown samples (known : unknown = 1 : 1)\n"
            "\n"
            "metric         a       b  unit  better     label\n"
            "------------------------------------------------\n"
            "auroc      75.00  100.00     %  higher     AUROC\n"
            "accuracy  100.00       -     %  higher  accuracy\n"
            "\n"
            "absent of b: accuracy (no predictions)\n");
}

TEST_F(EvalMethodsTest, EachMethodHasTheSameNumbersAlone) {
  const auto json = nlohmann::json::parse(Methods({"--format=json", "--ci", "--replicates=200"}));
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(json["methods"][name],
              nlohmann::json::parse(Out({"eval", absl::StrCat(name, ".npz"), "--metrics=auroc,accuracy",
                                         "--format=json", "--ci", "--replicates=200"})))
        << name;
  }
  EXPECT_THAT(Methods({"--format=csv"}), AllOf(HasSubstr("\na,all,auroc,0.75,"), HasSubstr("\nb,all,auroc,1,")));
  EXPECT_THAT(Methods({"--format=markdown"}), HasSubstr("| auroc    |  75.00 | 100.00 |"));
}

// The energy of the logits 0 and 0 is -log 2, that of 0 and log 3 is -log 4.
TEST_F(EvalMethodsTest, TheScoreOfEachSampleIsWritten) {
  WriteArrays("logits.npz",
              {{"label", Wholes({0, -1})},
               {"logits", MakeNpy(std::vector<float>{0, 0, 0, static_cast<float>(std::log(3))}, {2, 2})}});
  Out({"eval", "logits.npz", "--score=energy", "--sample_scores=scores.npz"});
  const NpzArrays written = ReadNpz(JoinPath(program_.folder(), "scores.npz")).value();
  const std::vector<double> scores = ToDouble(written.at("unknown_score")).value();
  ASSERT_EQ(scores.size(), 2);
  EXPECT_NEAR(scores[0], -std::log(2), 1e-6);
  EXPECT_NEAR(scores[1], -std::log(4), 1e-6);
  EXPECT_EQ(ToInt64(written.at("prediction")).value(), (std::vector<int64_t>{0, 1}));

  EXPECT_THAT(Error({"eval", "a.npz", "b.npz", "--as=methods", "--sample_scores=scores.npz"}),
              HasSubstr("--sample_scores: goes with one method"));
}

TEST_F(EvalMethodsTest, LatexAndCurvesInOnePicture) {
  EXPECT_THAT(Methods({"--curves=c", "--format=latex"}),
              AllOf(HasSubstr("auroc & 75.00 & 100.00 & \\% & higher & AUROC \\\\\n"),
                    HasSubstr("% absent of b: accuracy (no predictions)\n")));
  EXPECT_THAT(Methods({"--rows=method", "--format=latex"}),
              AllOf(HasSubstr("method & AUROC, \\% & accuracy, \\% \\\\\n"), HasSubstr("b & 100.00 & - \\\\\n")));
  const std::string roc = program_.Read("c/roc.svg");
  EXPECT_THAT(roc, AllOf(HasSubstr("a (AUROC 75.00 %)"), HasSubstr("b (AUROC 100.00 %)")));
  EXPECT_THAT(program_.Read("c/roc.csv"), AllOf(HasSubstr("\na,0.1"), HasSubstr("\nb,2,0,1\n")));
  EXPECT_THAT(program_.Read("c/oscr.csv"), AllOf(HasSubstr("\na,"), Not(HasSubstr("\nb,"))));
  EXPECT_THAT(program_.Read("c/index.html"), HasSubstr("100.00"));
}

// A method's samples may be in several files, for example one for each set of unknown samples.
TEST_F(EvalMethodsTest, SetsOfUnknownSamples) {
  program_.Write("known.csv", "label,unknown_score\n0,1\n1,3\n");
  program_.Write("svhn.csv", "label,unknown_score\n,2\n,4\n");
  program_.Write("dtd.csv", "label,unknown_score\n,5\n");
  const auto json = nlohmann::json::parse(
      Out({"eval", "known.csv,svhn.csv,dtd.csv", "b.npz", "--as=methods", "--metrics=auroc", "--format=json"}));
  EXPECT_EQ(json["methods"]["known+svhn+dtd"]["groups"]["svhn"]["metrics"]["auroc"]["value"], 0.75);
  EXPECT_EQ(json["methods"]["known+svhn+dtd"]["groups"]["dtd"]["metrics"]["auroc"]["value"], 1.0);
  EXPECT_EQ(json["methods"]["b"]["metrics"]["auroc"]["value"], 1.0);
}

TEST_F(EvalMethodsTest, BadInput) {
  const auto error = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"eval", "a.npz", "--as=methods"};
    words.insert(words.end(), more.begin(), more.end());
    return Error(words);
  };
  EXPECT_EQ(error({"a.npz"}), "openset: --as=methods: a.npz is given twice\n");
  EXPECT_THAT(error({"nowhere.npz"}), HasSubstr("nowhere.npz: No such file or directory"));
  EXPECT_THAT(error({"--classes=c.csv"}), HasSubstr("--classes: goes with one method"));
  EXPECT_THAT(error({"--rows=metrics"}), HasSubstr("--rows: unknown value 'metrics'; did you mean 'metric'?"));
  EXPECT_THAT(Error({"eval", "a.npz", "--rows=method"}), HasSubstr("it goes with --as=methods"));
  EXPECT_THAT(Error({"eval", "a.npz", "--as=method"}), HasSubstr("unknown value 'method'; did you mean 'methods'?"));
}

}  // namespace
}  // namespace openset
