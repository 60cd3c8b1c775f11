#include "tools/evaluation/detector.h"

#include <utility>

#include "core/files/files.h"
#include "core/random.h"
#include "core/testing/status_matchers.h"
#include "eval/files/named_arrays.h"
#include "eval/files/score_file.h"
#include "eval/metrics/evaluation_input.h"

namespace openset {
namespace {

constexpr int64_t kClasses = 3, kDim = 4;

// Outputs of a linear head; unknown samples are in the middle.
NpzArrays MakeOutputs(uint64_t seed, int64_t n, int64_t classes = kClasses, double unknown_share = 0.25) {
  RandomStream random(seed, "outputs");
  std::vector<int64_t> label;
  std::vector<float> features, logits, weight, bias(classes);
  for (int64_t c = 0; c < classes; ++c) {
    for (int64_t d = 0; d < kDim; ++d) weight.push_back(c == d ? 2 : 0);
  }
  for (int64_t i = 0; i < n; ++i) {
    label.push_back(random.Uniform(0, 1) < unknown_share ? -1 : static_cast<int64_t>(random.Below(classes)));
    std::vector<float> x;
    for (int64_t d = 0; d < kDim; ++d) x.push_back(static_cast<float>(random.Normal() + (d == label.back() ? 3 : 0)));
    features.insert(features.end(), x.begin(), x.end());
    for (int64_t c = 0; c < classes; ++c) logits.push_back(2 * x[c]);
  }
  return {{"label", MakeNpy(label, {n})},
          {"features", MakeNpy(features, {n, kDim})},
          {"logits", MakeNpy(logits, {n, classes})},
          {"head_weight", MakeNpy(weight, {classes, kDim})},
          {"head_bias", MakeNpy(bias, {classes})}};
}

SampleReader ReaderOf(const std::string& name, NpzArrays arrays) {
  return
      [name, arrays = std::move(arrays)](const SetRoles& roles, ScoreDirection direction) -> absl::StatusOr<SampleSet> {
        absl::StatusOr<ScoreFile> file = ScoreFileOf(name, NamedArrays(name, arrays), direction);
        if (!file.ok()) return file.status();
        std::vector<ScoreFile> files;
        files.push_back(*std::move(file));
        return MakeSampleSet(std::move(files), roles);
      };
}

SampleSet SamplesOf(const std::string& name, const NpzArrays& arrays) {
  return *ReaderOf(name, arrays)({}, ScoreDirection::kHigherIsUnknown);
}

ThresholdRequest RequestOf(const std::string& score, const std::string& rule = "conformal", double target = 0.9) {
  ThresholdRequest request;
  request.mutable_samples()->set_score(score);
  request.set_rule(rule);
  request.set_target(target);
  return request;
}

std::string PathOf(const std::string& name) { return JoinPath(testing::TempDir(), name); }

// What is read back decides as the score and the threshold do, to the bit, whatever the score needs.
TEST(Detector, DecidesAsItsScoreAndThreshold) {
  const SampleReader validation = ReaderOf("validation", MakeOutputs(1, 400)),
                     fit = ReaderOf("fit", MakeOutputs(2, 300));
  for (const char* score : {"max_softmax", "energy { temperature: 2 }", "knn { k: 5 }", "mahalanobis",
                            "vim { principal_dim: 2 }", "react { percentile: 90 }", "dice { percentile: 50 }"}) {
    SCOPED_TRACE(score);
    ChosenThreshold chosen;
    ASSERT_OK_AND_ASSIGN(const Detector made, MakeDetector(RequestOf(score), "validation", validation, fit, &chosen));
    const std::string path = PathOf("detector.npz");
    ASSERT_TRUE(WriteDetector(made, path).ok());
    ASSERT_OK_AND_ASSIGN(const Detector read, ReadDetector(path));
    EXPECT_EQ(read.spec.threshold(), chosen.validation.threshold);

    const NpzArrays arrays = MakeOutputs(3, 1000);
    SampleOptions options;
    options.set_score(score);
    ASSERT_OK_AND_ASSIGN(const ScoredSamples scored, ScoreSamples(options, ReaderOf("new", arrays), fit));
    // The head is the detector's.
    NpzArrays without_head = arrays;
    without_head.erase("head_weight");
    without_head.erase("head_bias");
    ASSERT_OK_AND_ASSIGN(const Decided decided, ApplyDetector(read, SamplesOf("new", without_head), true));
    int64_t rejected = 0;
    for (int64_t i = 0; i < 1000; ++i) {
      ASSERT_EQ(decided.unknown_score[i], scored.samples.unknown_score[i]) << i;
      ASSERT_EQ(decided.rejected[i], scored.samples.unknown_score[i] > chosen.validation.threshold) << i;
      rejected += decided.rejected[i];
    }
    EXPECT_EQ(decided.num_rejected, rejected);
    EXPECT_EQ(decided.report->threshold, chosen.validation.threshold);
    // The same file again.
    ASSERT_TRUE(WriteDetector(read, PathOf("again.npz")).ok());
    EXPECT_EQ(*ReadFile(path), *ReadFile(PathOf("again.npz")));
  }
}

// What is fitted once decides as what is fitted for each call.
TEST(Detector, FittedOnce) {
  const SampleReader validation = ReaderOf("validation", MakeOutputs(1, 400)),
                     fit = ReaderOf("fit", MakeOutputs(2, 300));
  for (const char* score : {"energy", "knn { k: 5 }", "vim { principal_dim: 2 }", "openmax"}) {
    ASSERT_OK_AND_ASSIGN(Detector detector, MakeDetector(RequestOf(score), "validation", validation, fit));
    ASSERT_OK_AND_ASSIGN(const Decided each,
                         ApplyDetector(detector, SamplesOf("new", MakeOutputs(3, 50)), /*has_labels=*/false));
    ASSERT_TRUE(FitDetector(&detector).ok());
    EXPECT_EQ(detector.fitted != nullptr, std::string(score) != "energy");
    for (int call = 0; call < 2; ++call) {
      ASSERT_OK_AND_ASSIGN(const Decided once,
                           ApplyDetector(detector, SamplesOf("new", MakeOutputs(3, 50)), /*has_labels=*/false));
      EXPECT_EQ(once.unknown_score, each.unknown_score) << score;
      EXPECT_EQ(once.prediction, each.prediction) << score;
    }
  }
}

TEST(Detector, NeedsNoLabels) {
  ASSERT_OK_AND_ASSIGN(const Detector made, MakeDetector(RequestOf("max_logit"), "validation",
                                                         ReaderOf("validation", MakeOutputs(1, 400)), nullptr));
  NpzArrays outputs = MakeOutputs(4, 50);
  outputs["label"] = MakeNpy(std::vector<int64_t>(50, -1), {50});
  ASSERT_OK_AND_ASSIGN(const Decided decided, ApplyDetector(made, SamplesOf("new", outputs), false));
  EXPECT_FALSE(decided.report.has_value());
  EXPECT_EQ(decided.prediction.size(), 50);
}

TEST(Detector, RefusesOutputsOfAnotherNetwork) {
  ASSERT_OK_AND_ASSIGN(const Detector made,
                       MakeDetector(RequestOf("vim { principal_dim: 2 }"), "validation",
                                    ReaderOf("validation", MakeOutputs(1, 400)), ReaderOf("fit", MakeOutputs(2, 300))));
  const auto error = [&](const NpzArrays& outputs) {
    return std::string(ApplyDetector(made, SamplesOf("new.npz", outputs), true).status().message());
  };
  EXPECT_THAT(error(MakeOutputs(3, 100, kClasses - 1)),
              HasSubstr("new.npz: has 2 logits per sample, and validation was made for 3: it is of another network"));
  EXPECT_THAT(
      error({{"label", MakeNpy(std::vector<int64_t>{0, -1}, {2})},
             {"unknown_score", MakeNpy(std::vector<double>{0.5, 1}, {2})}}),
      HasSubstr("new.npz: has no logits, from which validation computes its own score: finished scores can't be"));
  NpzArrays outputs = MakeOutputs(3, 100);
  std::vector<float> logits = *ToFloat(outputs["logits"]);
  for (size_t i = 0; i < logits.size(); ++i) logits[i] += static_cast<float>(i % 3 + 1);
  outputs["logits"] = MakeNpy(logits, {100, 3});
  outputs["head_bias"] = MakeNpy(std::vector<float>{1, 2, 3}, {3});
  EXPECT_THAT(error(outputs), HasSubstr("is not the detector's"));
  // Without a head, the detector's tells them apart.
  outputs.erase("head_weight");
  outputs.erase("head_bias");
  EXPECT_THAT(error(outputs),
              AllOf(HasSubstr("new.npz: for "), HasSubstr(", with the head of validation, is not logits: "
                                                          "they are outputs of another network")));
  outputs = MakeOutputs(3, 100);
  outputs.erase("features");
  outputs.erase("head_weight");
  outputs.erase("head_bias");
  EXPECT_THAT(error(outputs), HasSubstr("new.npz: has no features, which the score of validation reads"));
  outputs = MakeOutputs(3, 100);
  outputs["num_classes"] = MakeNpy(std::vector<int64_t>{2}, {1});
  for (const char* name : {"label"}) outputs[name] = MakeNpy(std::vector<int64_t>(100, 0), {100});
  EXPECT_THAT(error(outputs), HasSubstr("has 2 known classes, and validation was made for 3"));
}

// The head is kept for scores that don't read it, too: two logits are exchanged.
TEST(Detector, RefusesClassesInAnotherOrder) {
  ASSERT_OK_AND_ASSIGN(const Detector made, MakeDetector(RequestOf("max_logit"), "validation",
                                                         ReaderOf("validation", MakeOutputs(1, 400)), nullptr));
  const std::string path = PathOf("with_head.npz");
  ASSERT_TRUE(WriteDetector(made, path).ok());
  ASSERT_OK_AND_ASSIGN(const Detector read, ReadDetector(path));
  NpzArrays outputs = MakeOutputs(3, 100);
  outputs.erase("head_weight");
  outputs.erase("head_bias");
  EXPECT_TRUE(ApplyDetector(read, SamplesOf("new.npz", outputs), true).ok());
  std::vector<float> logits = *ToFloat(outputs["logits"]);
  for (size_t i = 0; i < logits.size(); i += 3) std::swap(logits[i], logits[i + 1]);
  outputs["logits"] = MakeNpy(logits, {100, 3});
  EXPECT_THAT(std::string(ApplyDetector(read, SamplesOf("new.npz", outputs), true).status().message()),
              AllOf(HasSubstr("of 100 samples"), HasSubstr("with the head of "), HasSubstr("in another order")));
}

// The score is fitted to a copy of the validation samples.
TEST(Detector, RefusesAGuaranteeForSamplesOfTheFit) {
  const SampleReader validation = ReaderOf("validation.npz", MakeOutputs(1, 400)),
                     copy = ReaderOf("copy.npz", MakeOutputs(1, 400)), other = ReaderOf("fit.npz", MakeOutputs(2, 400));
  for (const char* rule : {"conformal", "risk_guaranteed"}) {
    const ThresholdRequest request = RequestOf("knn { k: 5 }", rule, 0.6);
    EXPECT_THAT(std::string(MakeDetector(request, "validation.npz", validation, copy).status().message()),
                AllOf(HasSubstr("validation.npz: "),
                      HasSubstr(" of 400 samples are among those that the score is fitted "
                                "to, for which the rule "),
                      HasSubstr(rule)));
    EXPECT_TRUE(MakeDetector(request, "validation.npz", validation, other).ok());
  }
  EXPECT_TRUE(MakeDetector(RequestOf("knn { k: 5 }", "known_accepted"), "validation.npz", validation, copy).ok());
  EXPECT_TRUE(MakeDetector(RequestOf("energy"), "validation.npz", validation, copy).ok());  // nothing is fitted
}

// 0.9 of four known samples is all of them; of the two unknown ones, one has a smaller logit than each.
TEST(Detector, SaysWhatWasAcceptedOfKnownAndUnknownSamples) {
  const NpzArrays arrays = {{"label", MakeNpy(std::vector<int64_t>{0, 1, 0, 1, -1, -1}, {6})},
                            {"logits", MakeNpy(std::vector<float>{5, 0, 0, 4, 3, 0, 0, 2, 1, 0, 9, 0}, {6, 2})}};
  ASSERT_OK_AND_ASSIGN(const Detector made, MakeDetector(RequestOf("max_logit", "known_accepted"), "validation",
                                                         ReaderOf("validation", arrays), nullptr));
  EXPECT_THAT(
      DetectorText(made.spec),
      HasSubstr("on 4 known and 2 unknown samples, of which 100.0 % of the known ones were accepted, and 50.0 % of "
                "the unknown ones rejected\n"));
  DetectorSpec without = made.spec;  // as written before
  without.clear_validation_known_accepted();
  EXPECT_THAT(DetectorText(without), HasSubstr("unknown samples, of which 83.3 % were accepted\n"));
}

// Three of four samples are unknown, where one of four was.
TEST(Detector, HintsIfMoreAreRejectedThanChanceExplains) {
  ASSERT_OK_AND_ASSIGN(const Detector made, MakeDetector(RequestOf("max_logit"), "validation",
                                                         ReaderOf("validation", MakeOutputs(1, 400)), nullptr));
  EXPECT_TRUE(ApplyDetector(made, SamplesOf("same", MakeOutputs(5, 400)), true)->hints.empty());
  ASSERT_OK_AND_ASSIGN(const Decided other,
                       ApplyDetector(made, SamplesOf("other", MakeOutputs(6, 400, kClasses, 0.75)), true));
  ASSERT_EQ(other.hints.size(), 1);
  EXPECT_THAT(other.hints[0], HasSubstr("% of these samples are rejected, and of the validation samples"));
}

TEST(Detector, OfAScoreOfOnesOwn) {
  NpzArrays validation = {{"label", MakeNpy(std::vector<int64_t>{0, 0, 0, 0}, {4})},
                          {"unknown_score", MakeNpy(std::vector<double>{0.1, 0.2, 0.3, 0.4}, {4})}};
  ASSERT_OK_AND_ASSIGN(const Detector made, MakeDetector(RequestOf("", "known_accepted", 0.75), "validation",
                                                         ReaderOf("validation", validation), nullptr));
  EXPECT_FALSE(made.spec.has_score());
  validation["unknown_score"] = MakeNpy(std::vector<double>{0.31, 0.3, 0.2, 9}, {4});
  ASSERT_OK_AND_ASSIGN(const Decided decided, ApplyDetector(made, SamplesOf("new", validation), true));
  EXPECT_EQ(decided.rejected, (std::vector<bool>{true, false, false, true}));
  EXPECT_THAT(std::string(ApplyDetector(made, SamplesOf("new", MakeOutputs(1, 10)), true).status().message()),
              AllOf(HasSubstr("new"), HasSubstr("logits")));
}

// A file that is not a detector, is of a later format, or was changed.
TEST(Detector, RefusesOtherFiles) {
  const std::string path = PathOf("wrong.npz");
  const auto error = [&](const NpzArrays& arrays) {
    EXPECT_TRUE(WriteNpz(path, arrays).ok());
    const absl::Status status = ReadDetector(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(path));
    return std::string(status.message());
  };
  const auto text = [](const std::string& spec) {
    return NpzArrays{{"detector", MakeNpy(std::vector<std::string>{spec})}};
  };
  EXPECT_EQ(ReadDetector(PathOf("no_such_file.npz")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(error(MakeOutputs(1, 10)), HasSubstr("is not a detector"));
  EXPECT_THAT(error(text("format: 2 threshold: 1 rule: 'risk'")), HasSubstr("is of format 2"));
  EXPECT_THAT(error(text("format: 1 threshold: nan rule: 'risk'")), HasSubstr("threshold: must be a number"));
  EXPECT_THAT(error(text("format: 1 rule: 'risk'")), HasSubstr("threshold: must be set"));
  EXPECT_THAT(error(text("format: 1 threshold: 1 rule: 'risk' num_outputs: 3 num_classes: 3 score { knn {} }")),
              HasSubstr("its score is fitted, and the samples for that are missing"));
  EXPECT_THAT(error(text("nonsense")), HasSubstr("detector"));
  NpzArrays arrays = text("format: 1 threshold: 1 rule: 'risk' num_outputs: 2 num_classes: 2 score { knn {} }");
  for (const auto& [name, array] : MakeOutputs(1, 30)) arrays["fit_" + name] = array;
  EXPECT_THAT(error(arrays), HasSubstr("its arrays have other numbers of outputs and classes than it says"));
}

}  // namespace
}  // namespace openset
