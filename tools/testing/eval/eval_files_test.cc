// Files that users have for `openset eval`: one file of known and one of unknown samples, arrays with other names,
// logits that a score can't use.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/testing/eval/eval_fixture.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The largest logits are 2, 1, 0.5 and 0.1; labels are not needed if all samples are unknown.
TEST_F(EvalTest, AFileThatIsDeclaredUnknownNeedsNoLabels) {
  WriteArrays("known.npz", {{"label", Wholes({0, 1})}, {"logits", MakeNpy(std::vector<float>{2, 0, 0, 1}, {2, 2})}});
  WriteArrays("ood.npz", {{"logits", MakeNpy(std::vector<float>{0.5f, 0, 0, 0.1f}, {2, 2})}});
  const auto json = nlohmann::json::parse(
      Out({"eval", "known.npz", "ood.npz", "--unknown=ood", "--metrics=auroc", "--score=max_logit", "--format=json"}));
  EXPECT_EQ(json["n_known"], 2);
  EXPECT_EQ(json["n_unknown"], 2);
  EXPECT_EQ(json["metrics"]["auroc"]["value"], 1);
  EXPECT_THAT(Error({"eval", "known.npz", "ood.npz", "--metrics=auroc"}), HasSubstr("ood.npz: has no array 'label'"));
}

TEST_F(EvalTest, ArraysOfOtherNamesAreSuggested) {
  WriteArrays("labels.npz", {{"labels", Wholes({0, -1})}, {"unknown_score", Reals({1, 2})}});
  EXPECT_EQ(Error({"eval", "labels.npz"}),
            "openset: labels.npz: has no array 'label' (it has labels, unknown_score); is it 'labels'? rename that to "
            "'label'\n");
  WriteArrays("score.npz", {{"label", Wholes({0, -1})}, {"score", Reals({1, 2})}});
  EXPECT_THAT(Error({"eval", "score.npz"}),
              HasSubstr("is it 'score'? rename that to 'unknown_score', if larger is more "
                        "unknown"));
}

TEST_F(EvalTest, AnUnknownFormatListsAllFormats) {
  program_.Write("scores.csv", kScores);
  EXPECT_THAT(Error({"eval", "scores.csv", "--format=xml"}),
              HasSubstr("unknown format 'xml' (known: text, markdown, csv, json, latex)"));
  EXPECT_THAT(Error({"report", "quickstart", "--store=.", "--format=xml"}),
              HasSubstr("--format: unknown format 'xml'"));
}

// The largest logits are -0.011 on average, so ViM's factor would be negative.
TEST_F(EvalTest, VimExplainsWhyItCannotBeUsed) {
  std::vector<float> logits, features;
  std::vector<int64_t> label;
  for (int i = 0; i < 12; ++i) {
    label.push_back(i % 3);
    for (int c = 0; c < 3; ++c) logits.push_back(c == i % 3 ? -0.011f : -1.0f);
    for (int d = 0; d < 6; ++d) features.push_back(static_cast<float>(i * (d + 2) % 7));
  }
  WriteArrays("net.npz", {{"label", Wholes(label)},
                          {"logits", MakeNpy(logits, {12, 3})},
                          {"features", MakeNpy(features, {12, 6})},
                          {"head_weight", MakeNpy(std::vector<float>(18, 0.5f), {3, 6})},
                          {"head_bias", MakeNpy(std::vector<float>{0, 0, 0}, {3})}});
  EXPECT_EQ(
      Error({"eval", "net.npz", "--fit=net.npz", "--score=vim"}),
      "openset: score vim: ViM can't be used: this network's largest logits average -0.011 on the training samples, "
      "and the score needs a positive number. Train longer, or drop vim\n");
}

}  // namespace
}  // namespace openset
