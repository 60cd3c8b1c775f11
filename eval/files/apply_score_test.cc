#include "eval/files/apply_score.h"

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

// Two known samples and an unknown one, of two classes.
SampleSet Logits() {
  SampleSet samples;
  samples.num_samples = 3;
  samples.num_outputs = samples.num_classes = 2;
  samples.logits = {1, 2, 5, 4, 0, 0};
  samples.label = {0, 1, -1};
  return samples;
}

TEST(ApplyScore, OfTheLogits) {
  SampleSet samples = Logits();
  ScoreSpec spec;
  spec.mutable_max_logit();
  ASSERT_TRUE(ApplyScore(spec, nullptr, &samples).ok());
  EXPECT_THAT(samples.unknown_score, ElementsAre(-2, -5, 0));
}

TEST(ApplyScore, IsFittedOnKnownSamplesAlone) {
  SampleSet samples = Logits();
  ScoreSpec spec;
  spec.mutable_temperature_scaled_softmax();
  EXPECT_EQ(ApplyScore(spec, nullptr, &samples).message(),
            "score temperature_scaled_softmax: is fitted to outputs of known samples, and there are none: give the "
            "network's outputs for held-out samples (--fit=FILE; in Python, fit), or set temperature");
  SampleSet train = samples;
  ASSERT_TRUE(ApplyScore(spec, &train, &samples).ok());
  const std::vector<double> fitted = samples.unknown_score.Own();
  train.logits.Own()[4] = 100;  // of the unknown sample
  ASSERT_TRUE(ApplyScore(spec, &train, &samples).ok());
  EXPECT_EQ(samples.unknown_score, fitted);
  train.logits.Own()[0] = 100;
  ASSERT_TRUE(ApplyScore(spec, &train, &samples).ok());
  EXPECT_NE(samples.unknown_score, fitted);
}

// With the first output for the one class, and the second for the unknown.
TEST(ApplyScore, HintsAtAnOutputForTheUnknownThatIsTakenForAClass) {
  SampleSet samples = Logits();
  samples.num_classes = 1;
  samples.label = {0, 0, -1};
  ScoreSpec spec;
  spec.mutable_max_softmax();
  ASSERT_TRUE(ApplyScore(spec, nullptr, &samples).ok());
  EXPECT_THAT(samples.hints,
              ElementsAre(HasSubstr("the score max_softmax takes each of 2 outputs for a class, and there "
                                    "are 1: a sample looks known if the output for the unknown")));
  samples.hints.clear();
  spec.mutable_extra_output();
  ASSERT_TRUE(ApplyScore(spec, nullptr, &samples).ok());
  EXPECT_THAT(samples.hints, ::testing::IsEmpty());
}

// The p-values of -2, -5 and 0 among the known samples' -2 and -5: 1/3, 2/3 and 1/6.
TEST(ApplyScore, CombinesScoresByTheKnownSamples) {
  SampleSet samples = Logits();
  ScoreSpec spec;
  spec.mutable_combine()->add_score()->mutable_max_logit();
  EXPECT_THAT(ApplyScore(spec, nullptr, &samples).message(),
              HasSubstr("for training samples (--fit=FILE; in Python, fit)"));
  const SampleSet train = samples;
  ASSERT_TRUE(ApplyScore(spec, &train, &samples).ok());
  EXPECT_THAT(samples.unknown_score, ElementsAre(DoubleEq(2.0 / 3), DoubleEq(1.0 / 3), DoubleEq(5.0 / 6)));
  EXPECT_EQ(ScoreText(spec), "combine { score { max_logit { } } } of the logits");
  spec.mutable_combine()->add_score()->mutable_knn();
  EXPECT_EQ(ApplyScore(spec, &train, &samples).message(), "score combine: the samples have no features");
  spec.mutable_combine()->clear_score();
  EXPECT_EQ(ApplyScore(spec, &train, &samples).message(), "score.combine.score must not be empty");
}

TEST(ApplyScore, CombinesTheDisagreementOfPassesOfKnownSamples) {
  SampleSet samples = Logits();
  samples.member_uncertainty = {0.1f, 0, 0, 0.3f, 0, 0, 0.2f, 0, 0};
  ScoreSpec spec;
  spec.mutable_combine()->add_score()->mutable_mutual_information();
  SampleSet train = samples;
  train.label = {-1, 0, 1};
  ASSERT_TRUE(ApplyScore(spec, &train, &samples).ok());
  EXPECT_THAT(samples.unknown_score, ElementsAre(DoubleEq(1.0 / 6), DoubleEq(2.0 / 3), DoubleEq(1.0 / 3)));
}

// klm compares samples with the training samples of the class that is predicted, by its number.
TEST(ApplyScore, RefusesToFitToOtherClasses) {
  ScoreSpec spec;
  spec.mutable_klm();
  SampleSet samples = Logits();
  samples.path = "test.csv";
  samples.class_names = {"dog", "cat"};
  SampleSet train = samples;
  train.path = "fit.csv";
  EXPECT_TRUE(ApplyScore(spec, &train, &samples).ok());
  const auto error = [&] {
    const absl::Status status = ApplyScore(spec, &train, &samples);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  train.class_names = {"cat", "dog"};
  EXPECT_EQ(error(),
            "score klm: fit.csv, which the score is fitted to: the class of its logit 0 is cat, but test.csv's is "
            "dog");
  train.class_names.clear();
  EXPECT_THAT(error(), HasSubstr("the class of its logit 0 is number 0, but test.csv's is dog"));
  train.class_names = samples.class_names;
  train.num_classes = 1;
  EXPECT_THAT(error(), HasSubstr("its num_classes is 1, but test.csv's is 2"));
  train.num_outputs = 1;
  EXPECT_THAT(error(), HasSubstr("its number of logits per sample is 1, but test.csv's is 2"));

  // Features alone have no order of classes.
  SampleSet features = Logits();
  features.feature_dim = 1;
  features.features = {1, 2, 3};
  train = features;
  train.logits = {};
  train.num_outputs = 0;
  train.class_names = {"cat", "dog"};
  spec.mutable_knn()->set_k(1);
  EXPECT_TRUE(ApplyScore(spec, &train, &features).ok());
}

TEST(ApplyScore, RefusesLogProbabilitiesIfTheLevelIsRead) {
  SampleSet samples = Logits();
  samples.log_probabilities = "a.npz";
  ScoreSpec spec;
  spec.mutable_energy();
  EXPECT_THAT(ApplyScore(spec, nullptr, &samples).message(), HasSubstr("score energy: a.npz: these are log-prob"));
  spec.mutable_max_softmax();
  EXPECT_TRUE(ApplyScore(spec, nullptr, &samples).ok());
  SampleSet train = samples;
  samples.log_probabilities.clear();
  train.log_probabilities = "fit.npz";
  spec.mutable_openmax();
  EXPECT_THAT(ApplyScore(spec, &train, &samples).message(), HasSubstr("score openmax: fit.npz: these are log-prob"));
}

TEST(ApplyScore, NeedsSamplesOfEachClassToFitToEach) {
  SampleSet samples = Logits();
  samples.path = "test.csv";
  SampleSet train = samples;
  train.path = "fit.csv";
  train.label = {0, 0, -1};
  train.hints = {"of the fit"};
  ScoreSpec spec;
  spec.mutable_openmax();
  EXPECT_EQ(
      ApplyScore(spec, &train, &samples).message(),
      "score openmax: fit.csv, which the score is fitted to, has no sample of class 1, and test.csv has some: the "
      "score is fitted to each class");
  spec.mutable_temperature_scaled_softmax();
  ASSERT_TRUE(ApplyScore(spec, &train, &samples).ok());
  EXPECT_THAT(samples.hints,
              ElementsAre("fit.csv, which the score is fitted to, has no sample of class 1, and test.csv has some",
                          "of the fit"));
}

// Outputs of a network that neither file has a sample of.
TEST(ApplyScore, HintsAtClassesThatAreFittedToNothing) {
  SampleSet samples;
  samples.path = "test.csv";
  samples.num_samples = 4;
  samples.num_outputs = samples.num_classes = 3;
  samples.logits = {5, 0, 0, 4, 0, 1, 0, 5, 0, 1, 4, 0};
  samples.label = {0, 0, 1, 1};
  SampleSet train = samples;
  train.path = "fit.csv";
  ScoreSpec spec;
  spec.mutable_openmax();
  const absl::Status status = ApplyScore(spec, &train, &samples);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(samples.hints, ElementsAre("fit.csv has no sample of 1 of 3 classes, and the score is fitted to each "
                                         "class: it knows nothing of these"));
  samples.hints.clear();
  spec.mutable_energy();
  ASSERT_TRUE(ApplyScore(spec, &train, &samples).ok());
  EXPECT_THAT(samples.hints, IsEmpty());
}

TEST(ApplyScore, NamesMissingArrays) {
  const auto error = [](const ScoreSpec& spec, SampleSet samples) {
    const SampleSet train = samples;
    return std::string(ApplyScore(spec, &train, &samples).message());
  };
  ScoreSpec spec;
  spec.mutable_energy();
  EXPECT_EQ(error(spec, SampleSet()), "score energy: the samples have no logits");
  spec.mutable_knn();
  EXPECT_EQ(error(spec, Logits()), "score knn: the samples have no features");
  spec.mutable_ash();
  SampleSet features = Logits();
  features.feature_dim = 1;
  features.features = {1, 2, 3};
  EXPECT_EQ(error(spec, features), "score ash: there is no head_weight");
  spec.mutable_mutual_information();
  EXPECT_THAT(error(spec, Logits()), HasSubstr("score mutual_information: the score needs member_uncertainty"));
}

// Fitted to another network's outputs, the score would measure nothing.
TEST(ApplyScore, RefusesToFitToAnotherNetwork) {
  SampleSet samples;  // logits are 3 f and 4 f
  samples.path = "test.npz";
  samples.num_samples = 3;
  samples.num_outputs = samples.num_classes = 2;
  samples.feature_dim = 1;
  samples.features = {1, 2, 3};
  samples.logits = {3, 4, 6, 8, 9, 12};
  samples.head_weight = {3, 4};
  samples.label = {1, 1, -1};
  SampleSet train = samples;
  train.path = "fit.npz";
  train.label = {0, 1, 1};
  ScoreSpec spec;
  spec.mutable_knn()->set_k(1);
  EXPECT_TRUE(ApplyScore(spec, &train, &samples).ok());
  train.head_weight = {3, 5};
  EXPECT_EQ(ApplyScore(spec, &train, &samples).message(),
            "score knn: fit.npz: its head (head_weight, head_bias) differs from the one in test.npz: give outputs of "
            "the same "
            "network");
}

TEST(ScoreText, WithTheSettingsThatAreGiven) {
  ScoreSpec spec;
  spec.mutable_max_logit();
  EXPECT_EQ(ScoreText(spec), "max_logit of the logits");
  spec.mutable_energy()->set_temperature(2);
  EXPECT_EQ(ScoreText(spec), "energy { temperature: 2 } of the logits");
  spec.mutable_knn()->set_k(3);
  EXPECT_EQ(ScoreText(spec), "knn { k: 3 } of logits and features");
  spec.mutable_mutual_information();
  EXPECT_EQ(ScoreText(spec), "mutual_information of member_uncertainty");
}

}  // namespace
}  // namespace openset
