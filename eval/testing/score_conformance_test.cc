// Tests that every unknown score must pass.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/in_parallel.h"
#include "core/proto/traits.h"
#include "core/random.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "eval/scores/make_score.h"
#include "eval/scores/output_kind.h"
#include "eval/scores/score.pb.h"

namespace openset {
namespace {

// Properties of one score, beside what all scores have in common.
struct ScoreTraits {
  bool shift_changes_it = false;          // a constant added to all logits of a sample
  bool last_output_is_special = false;    // not a class like the others
  bool undecided_may_look_known = false;  // an undecided sample need not score higher than a confident one
  bool is_random = false;                 // draws for each class and feature: their order matters
};

constexpr int kOutputs = 5;
constexpr int kExtra = 3;
constexpr int kFeatures = 2 * kOutputs + kExtra;
// The features, once more as two stages' features.
constexpr int64_t kStages[] = {2 * kOutputs, kExtra};
constexpr int64_t kReversedStages[] = {kExtra, 2 * kOutputs};

// Outputs of a model whose features are max(z, 0), max(-z, 0) and some that its head, which computes z, ignores.
struct Outputs {
  std::vector<float> logits;
  std::vector<float> features;
  std::vector<float> perturbed;    // a tenth shorter
  bool reversed = false;           // the features
  std::vector<float> uncertainty;  // smaller if the logits differ more
  std::vector<float> weight = std::vector<float>(kOutputs * kFeatures, 0.0f);
  std::vector<float> bias = std::vector<float>(kOutputs, 0.0f);

  Outputs() {
    for (int c = 0; c < kOutputs; ++c) {
      weight[c * kFeatures + c] = 1;
      weight[c * kFeatures + kOutputs + c] = -1;
    }
  }

  int size() const { return static_cast<int>(logits.size()) / kOutputs; }

  void Add(const std::vector<float>& z, const std::vector<float>& extra) {
    logits.insert(logits.end(), z.begin(), z.end());
    for (const float value : z) features.push_back(std::max(value, 0.0f));
    for (const float value : z) features.push_back(std::max(-value, 0.0f));
    features.insert(features.end(), extra.begin(), extra.end());
    for (size_t i = perturbed.size(); i < features.size(); ++i) perturbed.push_back(0.9f * features[i]);
    const auto [low, high] = std::minmax_element(z.begin(), z.end());
    uncertainty.insert(uncertainty.end(), 3, 1 / (1 + *high - *low));
  }

  ScoreInput Input() const {
    ScoreInput input;
    input.num_samples = size();
    input.num_outputs = kOutputs;
    input.feature_dim = kFeatures;
    input.logits = logits;
    input.features = features;
    input.head_weight = weight;
    input.head_bias = bias;
    input.perturbed_features = perturbed;
    input.member_uncertainty = uncertainty;
    input.stage_values = features;
    input.stage_widths = reversed ? absl::MakeConstSpan(kReversedStages) : absl::MakeConstSpan(kStages);
    return input;
  }

  Outputs Row(int row) const {
    Outputs alone = *this;
    alone.logits.assign(logits.begin() + row * kOutputs, logits.begin() + (row + 1) * kOutputs);
    alone.features.assign(features.begin() + row * kFeatures, features.begin() + (row + 1) * kFeatures);
    alone.perturbed.assign(perturbed.begin() + row * kFeatures, perturbed.begin() + (row + 1) * kFeatures);
    alone.uncertainty.assign(uncertainty.begin() + row * 3, uncertainty.begin() + (row + 1) * 3);
    return alone;
  }

  // The classes in the opposite order. The features stay.
  Outputs Renumbered() const {
    Outputs renumbered = *this;
    for (int row = 0; row < size(); ++row) {
      std::reverse(renumbered.logits.begin() + row * kOutputs, renumbered.logits.begin() + (row + 1) * kOutputs);
    }
    for (int c = 0; c < kOutputs; ++c) {
      std::copy_n(weight.begin() + c * kFeatures, kFeatures,
                  renumbered.weight.begin() + (kOutputs - 1 - c) * kFeatures);
    }
    std::reverse(renumbered.bias.begin(), renumbered.bias.end());
    return renumbered;
  }

  // The features in the opposite order. The logits stay.
  Outputs WithReversedFeatures() const {
    Outputs reversed = *this;
    reversed.reversed = true;
    for (std::vector<float>* rows : {&reversed.features, &reversed.perturbed, &reversed.weight}) {
      for (auto row = rows->begin(); row != rows->end(); row += kFeatures) std::reverse(row, row + kFeatures);
    }
    return reversed;
  }

  Outputs Shifted(float by) const {
    Outputs shifted = *this;
    for (float& logit : shifted.logits) logit += by;
    for (float& value : shifted.bias) value += by;
    return shifted;
  }
};

std::vector<float> RandomExtra(RandomStream* random) {
  std::vector<float> extra(kExtra);
  for (float& value : extra) value = static_cast<float>(random->Uniform());
  return extra;
}

// Row r has class r % kOutputs, whose logit is larger by 5; few are misclassified.
Outputs TrainingOutputs(int rows = 200) {
  RandomStream random(8, "training");
  Outputs outputs;
  for (int row = 0; row < rows; ++row) {
    std::vector<float> z(kOutputs);
    for (float& logit : z) logit = static_cast<float>(2 * random.Normal());
    z[row % kOutputs] += 5;
    outputs.Add(z, RandomExtra(&random));
  }
  return outputs;
}

std::vector<int32_t> TrainingLabels(int rows = 200) {
  std::vector<int32_t> labels(rows);
  for (int row = 0; row < rows; ++row) labels[row] = row % kOutputs;
  return labels;
}

Outputs TestOutputs() {
  RandomStream random(8, "logits");
  Outputs outputs;
  for (int row = 0; row < 20; ++row) {
    std::vector<float> z(kOutputs);
    for (float& logit : z) logit = static_cast<float>(3 * random.Normal());
    outputs.Add(z, RandomExtra(&random));
  }
  for (const float extreme : {1000.0f, -1000.0f}) {
    outputs.Add(std::vector<float>(kOutputs, extreme), RandomExtra(&random));
    outputs.Add({extreme, 0, 0, 0, 0}, RandomExtra(&random));
    outputs.Add({extreme, -extreme, 0, 1, 2}, RandomExtra(&random));
  }
  return outputs;
}

std::unique_ptr<Score> FittedScore(const ScoreSpec& spec, const Outputs& train, const std::vector<int32_t>& labels) {
  std::unique_ptr<Score> score = MakeScore(spec).value();
  const absl::Status status = score->Fit(train.Input(), labels);
  EXPECT_TRUE(status.ok()) << status;
  return score;
}

absl::StatusCode FitAndCompute(const ScoreSpec& spec, const ScoreInput& input) {
  const std::unique_ptr<Score> score = MakeScore(spec).value();
  const absl::Status fit = score->Fit(input, TrainingLabels());
  return fit.ok() ? score->Compute(input).status().code() : fit.code();
}

void CheckRefusals(const ScoreSpec& spec, const Score& score) {
  const Traits needs = TraitsOf(spec);
  const Outputs outputs = TestOutputs();
  const auto code = [&score](const ScoreInput& input) { return score.Compute(input).status().code(); };
  Outputs nan = outputs;
  nan.logits[7] = std::numeric_limits<float>::quiet_NaN();
  nan.features[kFeatures + 7] = std::numeric_limits<float>::quiet_NaN();
  std::fill_n(nan.uncertainty.begin() + 3, 3, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(code(nan.Input()), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(score.Compute(nan.Input()).status().message(), HasSubstr("row 1"));
  ScoreInput wrong = outputs.Input();
  ++wrong.num_samples;
  EXPECT_EQ(code(wrong), absl::StatusCode::kInvalidArgument);
  wrong = outputs.Input();
  wrong.logits = {};
  wrong.features = {};
  wrong.member_uncertainty = {};
  wrong.stage_values = {};
  EXPECT_EQ(code(wrong), absl::StatusCode::kInvalidArgument);
  if (needs.features() && (needs.fit() || needs.head())) {
    wrong = outputs.Input();
    wrong.feature_dim = kFeatures - 1;
    wrong.features = wrong.features.first(wrong.num_samples * wrong.feature_dim);
    wrong.perturbed_features = wrong.perturbed_features.first(wrong.num_samples * wrong.feature_dim);
    EXPECT_EQ(code(wrong), absl::StatusCode::kInvalidArgument);
  }
  // The score works without inputs that it does not need, and fails without those that it needs.
  const Outputs train = TrainingOutputs();
  ScoreInput headless = train.Input();
  headless.head_weight = {};
  headless.head_bias = {};
  EXPECT_EQ(FitAndCompute(spec, headless), needs.head() ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kOk);
  ScoreInput unperturbed = train.Input();
  unperturbed.perturbed_features = {};
  EXPECT_EQ(FitAndCompute(spec, unperturbed),
            needs.perturbed() ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kOk);
  ScoreInput featureless = headless;
  featureless.feature_dim = 0;
  featureless.features = {};
  EXPECT_EQ(FitAndCompute(spec, featureless),
            needs.features() ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kOk);
  ScoreInput of_one_pass = train.Input();
  of_one_pass.member_uncertainty = {};
  EXPECT_EQ(FitAndCompute(spec, of_one_pass),
            needs.member_uncertainty() ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kOk);
  ScoreInput stageless = train.Input();
  stageless.stage_values = {};
  EXPECT_EQ(FitAndCompute(spec, stageless), needs.stage_means() || needs.stage_states() || needs.stage_grams()
                                                ? absl::StatusCode::kInvalidArgument
                                                : absl::StatusCode::kOk);
  const absl::Status unfitted = MakeScore(spec).value()->Compute(outputs.Input()).status();
  EXPECT_EQ(unfitted.code(), needs.fit() ? absl::StatusCode::kFailedPrecondition : absl::StatusCode::kOk);
}

// Needs.logit_level says whether the score, or what it is fitted to, changes with constants that are added to the
// stored logits of each sample. The features, from which some scores compute logits, stay.
void CheckLevel(const ScoreSpec& spec) {
  const auto moved = [](Outputs outputs) {
    for (size_t i = 0; i < outputs.logits.size(); ++i) {
      outputs.logits[i] += 0.5f * static_cast<float>(1 + i / kOutputs % 5);
    }
    return outputs;
  };
  const Outputs train = TrainingOutputs(), test = TestOutputs();
  const std::vector<int32_t> labels = TrainingLabels();
  const std::unique_ptr<Score> score = FittedScore(spec, train, labels);
  const std::vector<double> scores = score->Compute(test.Input()).value();
  const std::vector<double> of_moved = score->Compute(moved(test).Input()).value();
  const std::vector<double> of_moved_fit = FittedScore(spec, moved(train), labels)->Compute(test.Input()).value();
  bool changes = false;
  for (int row = 0; row < 20; ++row) {  // the others have logits of +-1000
    const double rounding = 1e-5 * std::max(1.0, std::abs(scores[row]));
    changes |= std::abs(of_moved[row] - scores[row]) > rounding;
    changes |= std::abs(of_moved_fit[row] - scores[row]) > rounding;
  }
  EXPECT_EQ(TraitsOf(spec).logit_level(), changes);
}

// Fits and scores more samples than one thread's piece of work.
std::vector<double> ScoresOfMany(const ScoreSpec& spec) {
  constexpr int kMany = 1500;
  const Outputs many = TrainingOutputs(kMany);
  return FittedScore(spec, many, TrainingLabels(kMany))->Compute(many.Input()).value();
}

// On a machine with one CPU, there is nothing to compare.
void CheckThreads(const ScoreSpec& spec) {
  LimitThreads(1);
  const std::vector<double> alone = ScoresOfMany(spec);
  LimitThreads(std::numeric_limits<int>::max());
  EXPECT_EQ(ScoresOfMany(spec), alone);
}

// Logits and features as large as a float may be: the score is finite, or an error names the row.
void CheckHugeOutputs(const Score& score) {
  const float huge = std::numeric_limits<float>::max();
  for (const std::vector<float>& z : {std::vector<float>(kOutputs, huge),
                                      std::vector<float>(kOutputs, -huge),
                                      {huge, 0, 0, 0, 0},
                                      {-huge, 0, 0, 0, 0},
                                      {huge, -huge, 0, 1, 2},
                                      {1, 2, 3, 4, 5}}) {
    for (const float extra : {0.5f, huge}) {
      SCOPED_TRACE(absl::StrCat("logits ", z[0], ", ", z[1], " ...; features ", extra));
      Outputs outputs;
      outputs.Add({6, 0, 0, 0, 0}, {0.5, 0.5, 0.5});
      outputs.Add(z, std::vector<float>(kExtra, extra));
      const absl::StatusOr<std::vector<double>> scores = score.Compute(outputs.Input());
      if (scores.ok()) {
        EXPECT_TRUE(std::isfinite((*scores)[0]) && std::isfinite((*scores)[1])) << (*scores)[1];
      } else {
        EXPECT_THAT(scores, IsInvalidArgument("row 1"));
      }
      outputs.perturbed.back() = std::numeric_limits<float>::infinity();
      const absl::Status perturbed = score.Compute(outputs.Input()).status();
      if (!perturbed.ok()) {
        EXPECT_THAT(perturbed.message(), HasSubstr("row 1"));
      }
    }
  }
}

// One output and one class: the score is finite, or refused.
void CheckOneOutput(const ScoreSpec& spec) {
  RandomStream random(8, "one output");
  const int rows = 60, dim = 2 + kExtra;
  std::vector<float> logits, features;
  for (int row = 0; row < rows; ++row) {
    logits.push_back(static_cast<float>(3 * random.Normal()));
    features.insert(features.end(), {std::max(logits[row], 0.0f), std::max(-logits[row], 0.0f)});
    for (const float value : RandomExtra(&random)) features.push_back(value);
  }
  const std::vector<float> weight = {1, -1, 0, 0, 0}, bias = {0}, uncertainty(3 * rows, 0.25f);
  const std::vector<int64_t> widths = {2, kExtra};
  ScoreInput input;
  input.num_samples = rows;
  input.num_outputs = 1;
  input.feature_dim = dim;
  input.logits = logits;
  input.features = input.perturbed_features = input.stage_values = features;
  input.head_weight = weight;
  input.head_bias = bias;
  input.member_uncertainty = uncertainty;
  input.stage_widths = widths;
  const std::unique_ptr<Score> score = MakeScore(spec).value();
  if (const absl::Status fit = score->Fit(input, std::vector<int32_t>(rows, 0)); !fit.ok()) {
    EXPECT_EQ(fit.code(), absl::StatusCode::kInvalidArgument) << fit;
    return;
  }
  const absl::StatusOr<std::vector<double>> scores = score->Compute(input);
  if (!scores.ok()) {
    EXPECT_EQ(scores.status().code(), absl::StatusCode::kInvalidArgument) << scores.status();
    return;
  }
  for (int row = 0; row < rows; ++row) EXPECT_TRUE(std::isfinite((*scores)[row])) << row << ": " << (*scores)[row];
}

// The last logit of each sample smaller by 3, with its row of the head.
void CheckOutputsBeyondClasses(const ScoreSpec& spec) {
  const auto scores = [&](float by) {
    Outputs outputs = TrainingOutputs();
    for (size_t i = kOutputs - 1; i < outputs.logits.size(); i += kOutputs) outputs.logits[i] -= by;
    for (size_t i = outputs.weight.size() - kFeatures; i < outputs.weight.size(); ++i) outputs.weight[i] -= by;
    outputs.bias.back() -= by;
    return FittedScore(spec, outputs, TrainingLabels())->Compute(outputs.Input()).value();
  };
  const bool reads_it = scores(0) != scores(3);
  EXPECT_EQ(reads_it, TakesOutputsForClasses(spec) || TraitsOf(spec).extra_output());
}

// On random logits and on logits of +-1000, with features and a head that produces the logits: there is one finite
// score per sample, which doesn't depend on the other samples or the number of threads; renumbering classes and
// features changes nothing; a confident sample similar to the training samples scores lower than an undecided one
// unlike them; NaN and wrong shapes are refused with kInvalidArgument, NaN with its row, as are missing features or a
// missing head if the score needs them; a score that must be fitted says so; one whose needs say so, and no other,
// reads the level of the logits, and one that TakesOutputsForClasses(), and no other, depends on each. On logits and
// features as large as a float may be, the score is finite, or an error names the row; so it is on outputs of one
// class, or they are refused.
void CheckScore(const ScoreSpec& spec, const ScoreTraits& traits) {
  SCOPED_TRACE(spec.ShortDebugString());
  const Outputs train = TrainingOutputs();
  const std::vector<int32_t> labels = TrainingLabels();
  const std::unique_ptr<Score> score = FittedScore(spec, train, labels);
  std::vector<int32_t> renumbered_labels = labels;
  for (int32_t& label : renumbered_labels) label = kOutputs - 1 - label;
  const std::unique_ptr<Score> renumbered_score = FittedScore(spec, train.Renumbered(), renumbered_labels);

  const Outputs outputs = TestOutputs();
  const std::vector<double> scores = score->Compute(outputs.Input()).value();
  ASSERT_EQ(scores.size(), outputs.size());
  const std::vector<double> renumbered = renumbered_score->Compute(outputs.Renumbered().Input()).value();
  const std::unique_ptr<Score> reversed_score = FittedScore(spec, train.WithReversedFeatures(), labels);
  const std::vector<double> reversed = reversed_score->Compute(outputs.WithReversedFeatures().Input()).value();
  const Outputs shifted_outputs = outputs.Shifted(0.25f);
  const std::vector<double> shifted = score->Compute(shifted_outputs.Input()).value();
  for (int row = 0; row < scores.size(); ++row) {
    SCOPED_TRACE(row);
    EXPECT_TRUE(std::isfinite(scores[row]));
    EXPECT_EQ(score->Compute(outputs.Row(row).Input()).value()[0], scores[row]);
    if (!traits.last_output_is_special && !traits.is_random) {
      EXPECT_NEAR(renumbered[row], scores[row], 1e-9 * (1 + std::abs(scores[row])));
    }
    if (row < 20 && !traits.is_random) {
      EXPECT_NEAR(reversed[row], scores[row], 1e-9 * (1 + std::abs(scores[row])));
    }
    if (row < 20 && !traits.shift_changes_it) {
      EXPECT_NEAR(shifted[row], scores[row], 1e-5 * std::max(1.0, std::abs(scores[row])));
    }
  }
  Outputs pair;
  pair.Add({6, 0, 0, 0, 0}, {0.5, 0.5, 0.5});
  pair.Add({1, 1, 1, 1, 1}, {6, 6, 6});
  const std::vector<double> of_pair = score->Compute(pair.Input()).value();
  if (!traits.undecided_may_look_known) {
    EXPECT_LT(of_pair[0], of_pair[1]) << "larger must mean more unknown";
  }
  EXPECT_TRUE(score->Compute(Outputs().Input()).value().empty());
  CheckHugeOutputs(*score);
  CheckOneOutput(spec);
  CheckThreads(spec);
  CheckLevel(spec);
  CheckOutputsBeyondClasses(spec);
  CheckRefusals(spec, *score);
}

// Of the members of ScoreSpec that have any.
std::map<std::string, ScoreTraits> TraitsOfMembers() {
  std::map<std::string, ScoreTraits> traits;
  traits["max_logit"].shift_changes_it = true;
  traits["energy"].shift_changes_it = true;
  traits["edl_vacuity"].shift_changes_it = true;
  traits["edl_probability"].shift_changes_it = true;
  traits["react"].shift_changes_it = true;
  traits["openmax"].shift_changes_it = true;
  traits["vim"].shift_changes_it = true;
  traits["ash"].shift_changes_it = true;
  traits["dice"].shift_changes_it = true;
  traits["weiper_kld"].is_random = true;
  traits["scale"].shift_changes_it = true;
  traits["adascale"].shift_changes_it = true;
  traits["nnguide"].shift_changes_it = true;
  traits["extra_output"].last_output_is_special = true;
  traits["neg_label"].last_output_is_special = true;
  // Where all probabilities are equal the gradient is 0, and all states are 1/2, as for features that are 0.
  traits["nac"].undecided_may_look_known = true;
  traits["postmax"].shift_changes_it = true;
  traits["ghost"].shift_changes_it = true;
  traits["vra"].shift_changes_it = true;
  traits["lts"].shift_changes_it = true;
  // Features that the head ignores scale its logits.
  traits["lts"].undecided_may_look_known = true;
  traits["weighted_energy"].shift_changes_it = true;
  traits["class_anchor"].shift_changes_it = true;
  // Its values are none of the logits' own.
  traits["nac_stages"].undecided_may_look_known = true;
  traits["combine"].shift_changes_it = true;
  return traits;
}

TEST(ScoreConformance, HoldsForEveryMember) {
  std::map<std::string, ScoreTraits> traits = TraitsOfMembers();
  const google::protobuf::OneofDescriptor* kind = ScoreSpec::descriptor()->FindOneofByName("kind");
  for (int i = 0; i < kind->field_count(); ++i) {
    ScoreSpec spec;
    ScoreSpec::GetReflection()->MutableMessage(&spec, kind->field(i));
    if (spec.has_gl_mcm()) spec.mutable_gl_mcm()->set_places(0);
    if (spec.has_cooked()) spec.mutable_cooked()->set_classifiers(1);
    if (spec.has_combine()) {
      spec.mutable_combine()->add_score()->mutable_energy();
      spec.mutable_combine()->add_score()->mutable_knn();
    }
    CheckScore(spec, traits[kind->field(i)->name()]);
  }
  EXPECT_EQ(traits.size(), kind->field_count()) << "a line above names no member";
}

TEST(ScoreConformance, HoldsForOtherForms) {
  ScoreTraits shift_changes_it;
  shift_changes_it.shift_changes_it = true;
  for (const char* text : {
           "react { clip: 5 }",
           "openmax { tail: 2 alpha: 1 rank_weight: 0.5 }",
           "openmax { distance: COSINE translation: 1 }",
           "ash { variant: P percentile: 60 }",
           "ash { variant: B percentile: 90 }",
           "dice { percentile: 0 }",
           "vim { principal_dim: 0 }",
           "gen { top: 1 }",
           "gen { top: 2 }",
           "knn { k: 1 }",
           "edl_vacuity { evidence: SOFTPLUS }",
           "temperature_scaled_softmax { temperature: 2 }",
           "fdbd { normaliser: NORM }",
           "scale { percentile: 0 }",
           "adascale { variant: L k1: 50 k2: 20 }",
           "adascale { min_percentile: 60 max_percentile: 95 k1: 50 k2: 20 }",
           "nnguide { k: 3 share: 1 }",
           "relation { power: 4 threshold: 0 }",
           "residual { principal_dim: 9 }",
           "combood { k: 1 ridge: 0.01 }",
           "vra { low_percentile: 10 thresholds: OVERALL low: CLIP shift: 0.5 }",
           "lts { percentile: 0 }",
           "weighted_energy { weight: [3, 3, 3, 3, 3] }",
           "combine { score { knn {} } score { max_softmax {} } }",
           "ssd { clusters: CLASSES }",
           "gmm { ridge: 0.1 }",
           "mcm { temperature: 0.01 }",
           "gl_mcm { places: 0 temperature: 0.5 }",
           "cooked { classifiers: 1 last_temperature: 0.5 value: ENTROPY }",
           "gradient_uncertainty { bias: false }",
           "mahalanobis_ensemble { weight: [2, 2] }",
           "combine { score { max_logit {} } score { max_softmax {} } rule: FISHER }",
           "combine { score { vim {} } score { combine { score { energy {} } } } rule: STOUFFER }",
       }) {
    CheckScore(Parsed<ScoreSpec>(text), shift_changes_it);
  }
}

}  // namespace

}  // namespace openset
