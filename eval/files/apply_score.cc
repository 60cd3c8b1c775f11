#include "eval/files/apply_score.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "core/proto/traits.h"
#include "core/status_macros.h"
#include "eval/files/same_network.h"
#include "eval/metrics/evaluation_input.h"
#include "eval/scores/make_score.h"
#include "eval/scores/output_kind.h"
#include "google/protobuf/text_format.h"

namespace openset {
namespace {

// Precondition: a member of the spec is set.
std::string MemberOf(const ScoreSpec& spec) {
  const google::protobuf::OneofDescriptor* kind = ScoreSpec::descriptor()->FindOneofByName("kind");
  return spec.GetReflection()->GetOneofFieldDescriptor(spec, kind)->name();
}

void AppendRow(absl::Span<const float> from, int64_t row, int64_t width, std::vector<float>* to) {
  to->insert(to->end(), from.begin() + row * width, from.begin() + (row + 1) * width);
}

std::string ClassOf(const SampleSet& samples, int64_t output) {
  return output < static_cast<int64_t>(samples.class_names.size()) ? samples.class_names[output]
                                                                   : absl::StrCat("number ", output);
}

// Whether the logits and labels of `train` mean the same classes as in `samples`. Without logits, labels only tell
// training samples apart.
absl::Status CheckSameClasses(const SampleSet& train, const SampleSet& samples) {
  if (train.logits.empty()) return absl::OkStatus();
  const auto differ = [&](absl::string_view what, absl::string_view of_train, absl::string_view of_samples) {
    return absl::InvalidArgumentError(absl::StrCat(train.path, ", which the score is fitted to: ", what, " ", of_train,
                                                   ", but ", samples.path, "'s is ", of_samples));
  };
  if (train.num_outputs != samples.num_outputs) {
    return differ("its number of logits per sample is", absl::StrCat(train.num_outputs),
                  absl::StrCat(samples.num_outputs));
  }
  if (train.num_classes != samples.num_classes) {
    return differ("its num_classes is", absl::StrCat(train.num_classes), absl::StrCat(samples.num_classes));
  }
  for (int64_t k = 0; k < train.num_outputs; ++k) {
    if (ClassOf(train, k) == ClassOf(samples, k)) continue;
    return differ(absl::StrCat("the class of its logit ", k, " is"), ClassOf(train, k), ClassOf(samples, k));
  }
  return absl::OkStatus();
}

// "2 (dog), 3".
std::string ClassesText(const SampleSet& samples, const std::vector<int32_t>& classes) {
  std::vector<std::string> texts;
  for (const int32_t c : classes) {
    texts.push_back(c < static_cast<int32_t>(samples.class_names.size())
                        ? absl::StrCat(c, " (", samples.class_names[c], ")")
                        : absl::StrCat(c));
    if (texts.size() == 10 && classes.size() > 10) return absl::StrCat(absl::StrJoin(texts, ", "), " ...");
  }
  return absl::StrJoin(texts, ", ");
}

// Each known class of the samples needs some to fit to if the score is fitted to each; otherwise there is a hint.
absl::Status CheckFittedClasses(const SampleSet& train, bool each_class, SampleSet* samples) {
  if (train.logits.empty()) return absl::OkStatus();  // its labels may number the classes in another order
  std::vector<bool> in_train(samples->num_classes), in_samples(samples->num_classes);
  for (const int32_t label : samples->label) {
    if (label != kUnknownLabel) in_samples[label] = true;
  }
  for (const int32_t label : train.label) {
    if (label >= 0 && label < samples->num_classes) in_train[label] = true;
  }
  std::vector<int32_t> missing, unseen;
  for (int32_t c = 0; c < samples->num_classes; ++c) {
    if (!in_train[c]) (in_samples[c] ? missing : unseen).push_back(c);
  }
  if (each_class && !unseen.empty()) {
    samples->hints.push_back(
        absl::StrCat(train.path, " has no sample of ", unseen.size(), " of ", samples->num_classes,
                     " classes, and the score is fitted to each class: it knows nothing of these"));
  }
  if (missing.empty()) return absl::OkStatus();
  const std::string what = absl::StrCat(train.path, ", which the score is fitted to, has no sample of class ",
                                        ClassesText(*samples, missing), ", and ", samples->path, " has some");
  if (each_class) return absl::InvalidArgumentError(absl::StrCat(what, ": the score is fitted to each class"));
  samples->hints.push_back(what);
  return absl::OkStatus();
}

// ", or set clip", if a field makes the fit unnecessary.
std::string InsteadOfFit(const ScoreSpec& spec) {
  const google::protobuf::FieldDescriptor* const arm =
      spec.GetReflection()->GetOneofFieldDescriptor(spec, spec.GetDescriptor()->FindOneofByName("kind"));
  const google::protobuf::Descriptor* const fields = arm->message_type();
  for (int f = 0; f < fields->field_count(); ++f) {
    if (fields->field(f)->options().GetExtension(traits_unless_set).fit()) {
      return absl::StrCat(", or set ", fields->field(f)->name());
    }
  }
  return "";
}

absl::Status CheckLevelOf(const ScoreSpec& spec, const SampleSet& samples) {
  if (samples.log_probabilities.empty()) return absl::OkStatus();
  return Annotate(CheckLevel(spec, OutputKind::kLogProbabilities), samples.log_probabilities);
}

}  // namespace

std::string ScoreText(const ScoreSpec& spec) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string printed;
  printer.PrintToString(spec, &printed);
  absl::string_view score = absl::StripTrailingAsciiWhitespace(printed);
  absl::ConsumeSuffix(&score, " { }");  // without settings
  const Traits needs = TraitsOf(spec);
  return absl::StrCat(score, needs.member_uncertainty() ? " of member_uncertainty"
                             : needs.features()         ? " of logits and features"
                                                        : " of the logits");
}

absl::StatusOr<std::unique_ptr<Score>> FitScore(const ScoreSpec& spec, const SampleSet& train) {
  OPENSET_ASSIGN_OR_RETURN(std::unique_ptr<Score> score, MakeScore(spec));
  std::vector<float> logits, features, member_uncertainty;
  std::vector<int32_t> label;
  for (int64_t row = 0; row < train.num_samples; ++row) {
    if (train.label[row] == kUnknownLabel) continue;
    AppendRow(train.logits, row, train.num_outputs, &logits);
    AppendRow(train.features, row, train.feature_dim, &features);
    if (!train.member_uncertainty.empty()) AppendRow(train.member_uncertainty, row, 3, &member_uncertainty);
    label.push_back(train.label[row]);
  }
  ScoreInput outputs = train.Outputs();
  outputs.num_samples = label.size();
  outputs.logits = logits;
  outputs.features = features;
  outputs.member_uncertainty = member_uncertainty;
  OPENSET_RETURN_IF_ERROR(Annotate(score->Fit(outputs, label), absl::StrCat("score ", MemberOf(spec))));
  return score;
}

absl::Status ApplyScore(const ScoreSpec& spec, const SampleSet* train, SampleSet* samples, const Score* fitted) {
  const auto annotated = [&](const absl::Status& status) {
    return Annotate(status, absl::StrCat("score ", MemberOf(spec)));
  };
  const Traits needs = TraitsOf(spec);
  if (samples->logits.empty()) return annotated(absl::InvalidArgumentError("the samples have no logits"));
  if (needs.features() && samples->features.empty()) {
    return annotated(absl::InvalidArgumentError("the samples have no features"));
  }
  if (needs.head() && samples->head_weight.empty()) {
    return annotated(absl::InvalidArgumentError("there is no head_weight"));
  }
  OPENSET_RETURN_IF_ERROR(annotated(CheckLevelOf(spec, *samples)));
  if (needs.fit()) {
    if (train == nullptr) {
      return annotated(absl::InvalidArgumentError(absl::StrCat(
          "is fitted to outputs of known samples, and there are none: give the network's outputs for ",
          needs.calibrates() ? "held-out" : "training", " samples (--fit=FILE; in Python, fit)", InsteadOfFit(spec))));
    }
    OPENSET_RETURN_IF_ERROR(annotated(CheckSameClasses(*train, *samples)));
    OPENSET_RETURN_IF_ERROR(annotated(CheckSameNetwork(*train, *samples)));
    OPENSET_RETURN_IF_ERROR(annotated(CheckLevelOf(spec, *train)));
    OPENSET_RETURN_IF_ERROR(annotated(CheckFittedClasses(*train, needs.each_class(), samples)));
    samples->hints.insert(samples->hints.end(), train->hints.begin(), train->hints.end());
  }
  std::unique_ptr<Score> made;
  if (fitted == nullptr) {
    OPENSET_ASSIGN_OR_RETURN(made, needs.fit() ? FitScore(spec, *train) : MakeScore(spec));
  }
  const Score* const score = fitted != nullptr ? fitted : made.get();
  if (const std::string text = ExtraOutputText(spec, samples->num_outputs, samples->num_classes); !text.empty()) {
    samples->hints.push_back(absl::StrCat("the score ", MemberOf(spec), " ", text));
  }
  absl::StatusOr<std::vector<double>> unknown_score = score->Compute(samples->Outputs());
  if (!unknown_score.ok()) return annotated(unknown_score.status());
  samples->unknown_score = *std::move(unknown_score);
  absl::StatusOr<std::optional<std::vector<int32_t>>> said =
      score->Predictions(samples->Outputs(), samples->num_classes);
  if (!said.ok()) return annotated(said.status());
  if (said->has_value()) samples->prediction = **std::move(said);
  absl::StatusOr<std::optional<ProbabilityLogits>> own = score->Probabilities(samples->Outputs());
  if (!own.ok()) return annotated(own.status());
  samples->probability_logits.clear();
  samples->probability_outputs = 0;
  if (own->has_value()) {
    samples->probability_logits = std::move((*own)->logits);
    samples->probability_outputs = (*own)->num_outputs;
  }
  return absl::OkStatus();
}

}  // namespace openset
