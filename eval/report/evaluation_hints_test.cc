#include "eval/report/evaluation_hints.h"

#include "core/testing/status_matchers.h"
#include "eval/testing/golden.h"

namespace openset {
namespace {

// 30 known samples of each of three classes, of which label c is called (c + shift) mod 3, but every tenth is called c,
// and 60 unknown samples. Known ones have the scores 0 ... 89, unknown ones all `unknown`.
Samples Shifted(int shift, double unknown) {
  Samples samples;
  samples.num_classes = 3;
  for (int i = 0; i < 150; ++i) {
    const bool known = i < 90;
    samples.label.push_back(known ? i % 3 : -1);
    samples.prediction.push_back(known && i % 10 == 0 ? i % 3 : (i + shift) % 3);
    samples.unknown_score.push_back(known ? i : unknown);
  }
  return samples;
}

std::vector<std::string> HintsOf(const Samples& samples, ScoreOrigin origin = ScoreOrigin::kFile) {
  return EvaluationHints(SampleSet(), RankedInput(samples.Input()), origin);
}

TEST(EvaluationHints, NoneForPlausibleResults) { EXPECT_THAT(HintsOf(Shifted(0, 100)), IsEmpty()); }

// 9 of 90 are right; with label c for prediction c + 1 the 81 others.
TEST(EvaluationHints, ClassesInAnotherOrder) {
  EXPECT_THAT(
      HintsOf(Shifted(1, 100)),
      ElementsAre("accuracy is 10.0 %, and 90.0 % with the known classes in another order (label 0 is prediction "
                  "1, label 1 is prediction 2, label 2 is prediction 0): number the labels as the network's outputs "
                  "are, by the split that it was trained on"));
}

TEST(EvaluationHints, NoBetterThanGuessing) {
  Samples samples = Shifted(0, 100);
  for (int i = 0; i < 90; ++i) samples.prediction[i] = i / 3 % 3;  // each label has ten of each
  EXPECT_THAT(
      HintsOf(samples),
      ElementsAre("accuracy is 33.3 % on 90 known samples, no better than guessing among 3 classes: are label and "
                  "prediction of the same samples in the same order, and is label c the network's output c?"));
  samples.num_outputs = 3;
  samples.logits.assign(450, 0);
  EXPECT_THAT(HintsOf(samples), ElementsAre(HasSubstr("are label and logits of the same samples")));
  // Predictions that are the unknown class say nothing of the order: 30 of the 30 others are right.
  for (int i = 0; i < 90; ++i) samples.prediction[i] = i < 60 ? 3 : i % 3;
  EXPECT_THAT(HintsOf(samples), IsEmpty());
}

// All unknown scores are below all known ones: AUROC 0. At 44.5, half of the known samples are below: 50 %.
TEST(EvaluationHints, ScoresOfTheOtherDirection) {
  EXPECT_THAT(HintsOf(Shifted(0, -1)),
              ElementsAre(AllOf(StartsWith("AUROC is 0.0 %: known samples have the larger unknown scores; "),
                                EndsWith("a file whose scores are larger for known samples takes --higher_is_known"))));
  EXPECT_THAT(HintsOf(Shifted(0, -1), ScoreOrigin::kFileNegated),
              ElementsAre(EndsWith("are they larger for known samples in the file, as --higher_is_known says?")));
  EXPECT_THAT(HintsOf(Shifted(0, -1), ScoreOrigin::kOutputs), ElementsAre(HasSubstr("are the samples of label -1")));
  EXPECT_THAT(HintsOf(Shifted(0, 44.5)), IsEmpty());
  EXPECT_THAT(HintsOf(Shifted(1, -1)).size(), 2);
}

TEST(EvaluationHints, KnownSamplesAlone) {
  Samples samples = Shifted(0, 100);
  samples.label.resize(90);
  samples.prediction.resize(90);
  samples.unknown_score.resize(90);
  EXPECT_THAT(HintsOf(samples), IsEmpty());
}

TEST(EvaluationHints, ScoresAlone) {
  Samples samples = Shifted(1, -1);
  samples.prediction.clear();
  EXPECT_THAT(HintsOf(samples), ElementsAre(StartsWith("AUROC is 0.0 %")));
}

// 0 = known and 1 = unknown, as for scikit-learn.
TEST(EvaluationHints, LabelsOfZeroAndOne) {
  Samples samples;
  samples.num_classes = 2;
  for (int i = 0; i < 20; ++i) {
    samples.label.push_back(i % 2);
    samples.unknown_score.push_back(i % 2);
  }
  EXPECT_THAT(HintsOf(samples), ElementsAre(StartsWith("no -1 among the labels, only 0 and 1: is 1 your unknown?")));
  // Also with predictions of three classes, but not of the two.
  samples.prediction.assign(20, 0);
  for (int i = 0; i < 20; ++i) samples.prediction[i] = i % 2;
  EXPECT_THAT(HintsOf(samples), IsEmpty());
  samples.num_classes = 3;
  EXPECT_THAT(HintsOf(samples), ElementsAre(HasSubstr("is 1 your unknown?")));
  // One -1 is enough to know the convention; a third label too.
  samples.prediction.clear();
  samples.label[0] = 2;
  EXPECT_THAT(HintsOf(samples), IsEmpty());
  samples.label[0] = -1;
  samples.unknown_score[0] = 5;
  EXPECT_THAT(HintsOf(samples), IsEmpty());
}

// Known samples of the classes 0 to 2, predicted as such, and six whose label is `mark`.
Samples Marked(int mark, bool with_predictions = true) {
  Samples samples = Shifted(0, 100);
  samples.num_classes = 256;
  for (int i = 90; i < 150; ++i) samples.label[i] = mark;
  if (!with_predictions) samples.prediction.clear();
  return samples;
}

TEST(EvaluationHints, OtherMarksOfUnknownSamples) {
  EXPECT_THAT(HintsOf(Marked(255)),
              ElementsAre(HasSubstr("no sample is unknown, and label 255 (60 samples) is never predicted: if it stands "
                                    "for unknown samples, write -1")));
  EXPECT_THAT(HintsOf(Marked(255, /*with_predictions=*/false)),
              ElementsAre(HasSubstr("label 255 (60 samples) is far above the others, of which 2 is the largest")));
  // A fourth class; and one more that nothing predicts, so that the network may just be bad at them.
  EXPECT_THAT(HintsOf(Marked(3, /*with_predictions=*/false)), IsEmpty());
  Samples two = Marked(255);
  two.label[149] = 77;
  EXPECT_THAT(HintsOf(two), IsEmpty());
  two.label[149] = -1;
  two.label[148] = 255;
  EXPECT_THAT(HintsOf(two), IsEmpty());  // with an unknown sample, the convention is known
}

TEST(EvaluationHints, NamesThatMarkUnknownSamples) {
  SampleSet named;
  named.class_names = {"ant", "bee", "cat", "OOD"};
  Samples samples = Marked(3);
  samples.num_classes = 4;
  const auto hints = [&] { return EvaluationHints(named, RankedInput(samples.Input()), ScoreOrigin::kFile); };
  EXPECT_THAT(hints(), ElementsAre(StartsWith("label 'OOD' counts as a known class, of 60 samples: ")));
  samples.label[149] = -1;
  EXPECT_THAT(hints(), ElementsAre(StartsWith("label 'OOD' counts as a known class, of 59 samples: ")));
  samples.prediction[0] = 3;  // so it is a class
  EXPECT_THAT(hints(), IsEmpty());
}

TEST(EvaluationHints, AnOutputWithoutSamples) {
  SampleSet outputs;
  outputs.num_outputs = 4;
  Samples samples = Shifted(0, 100);
  samples.num_classes = 4;
  const auto hints = [&] { return EvaluationHints(outputs, RankedInput(samples.Input()), ScoreOrigin::kOutputs); };
  EXPECT_THAT(hints(), ElementsAre(StartsWith("no sample has label 3, of the last of 4 outputs")));
  outputs.num_classes_given = true;
  EXPECT_THAT(hints(), IsEmpty());
  outputs.num_classes_given = false;
  outputs.num_outputs = samples.num_classes = 5;  // two without samples
  EXPECT_THAT(hints(), IsEmpty());
}

// Labels 1, 2, 3 are four classes, of which class 0 has no samples.
TEST(EvaluationHints, LabelsThatBeginAtOne) {
  Samples samples = Shifted(0, 100);
  samples.num_classes = 4;
  for (int i = 0; i < 90; ++i) ++samples.label[i];
  // The predictions are right of labels from 0, and of those from 1 none is.
  EXPECT_THAT(
      HintsOf(samples),
      ElementsAre("the labels of known samples are 1 .. 3, and classes are numbered from 0: the predictions begin "
                  "at 0, and accuracy is 0.0 %, but 100.0 % if 1 is subtracted from the labels of known samples: "
                  "subtract it"));
  for (int32_t& prediction : samples.prediction) ++prediction;
  EXPECT_THAT(
      HintsOf(samples),
      ElementsAre("the labels of known samples are 1 .. 3, and classes are numbered from 0: class 0 counts as a "
                  "known class without samples; if your classes begin at 1, subtract 1 from the labels of known "
                  "samples and from all predictions; if class 0 has no samples here, add num_classes = 4 (an "
                  "array, or a column)"));
  SampleSet given;
  given.num_classes_given = true;
  EXPECT_THAT(EvaluationHints(given, RankedInput(samples.Input()), ScoreOrigin::kFile), IsEmpty());
  // A network that knows class 0 predicts it now and then.
  samples.prediction[0] = 0;
  EXPECT_THAT(HintsOf(samples), IsEmpty());
  samples.prediction.clear();
  EXPECT_THAT(HintsOf(samples), ElementsAre(HasSubstr("subtract 1 from the labels of known samples; if class 0")));
}

TEST(EvaluationHints, AreThoseOfTheSamplesToo) {
  SampleSet samples;
  samples.hints = {"a.npz: as found when it was read"};
  EXPECT_THAT(EvaluationHints(samples, RankedInput(Shifted(0, 100).Input()), ScoreOrigin::kFile),
              ElementsAre("a.npz: as found when it was read"));
}

TEST(OrderText, NamesAtMostSix) {
  ClassOrder order;
  for (int c = 0; c < 8; ++c) order.prediction_of.push_back((c + 1) % 8);
  EXPECT_THAT(OrderText(order),
              AllOf(StartsWith("label 0 is prediction 1, "), EndsWith("label 5 is prediction 6 ...")));
  order.prediction_of = {1, 0, 2};
  EXPECT_EQ(OrderText(order), "label 0 is prediction 1, label 1 is prediction 0");
}

}  // namespace
}  // namespace openset
