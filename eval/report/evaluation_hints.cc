#include "eval/report/evaluation_hints.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "eval/files/csv_arrays.h"
#include "eval/metrics/auroc.h"

namespace openset {
namespace {

// The number of known samples whose prediction is a class.
struct ClosedSet {
  int64_t samples = 0;
  int64_t correct = 0;
};

bool Counts(const EvaluationInput& input, int64_t sample) {
  return !input.IsUnknown(sample) && input.prediction()[sample] < input.num_classes();
}

ClosedSet ClosedSetOf(const EvaluationInput& input) {
  ClosedSet closed;
  if (!input.has_predictions() || !input.has_classes()) return closed;
  for (int64_t i = 0; i < input.num_samples(); ++i) {
    if (!Counts(input, i)) continue;
    ++closed.samples;
    closed.correct += input.IsCorrect(i);
  }
  return closed;
}

std::optional<ClassOrder> BetterOrderOf(const EvaluationInput& input) {
  std::map<std::pair<int, int>, int64_t> counts;
  for (int64_t i = 0; i < input.num_samples(); ++i) {
    if (Counts(input, i)) ++counts[{input.label()[i], input.prediction()[i]}];
  }
  std::vector<LabelledPredictions> list;
  for (const auto& [pair, samples] : counts) list.push_back({pair.first, pair.second, samples});
  return BetterOrder(list, input.num_classes());
}

// How often each class is a label, and whether it is predicted.
struct UseOfClasses {
  std::vector<int64_t> labels;
  std::vector<bool> predicted;
  std::vector<int32_t> labelled;  // the classes that are labels, in order
};

UseOfClasses UseOf(const EvaluationInput& input) {
  UseOfClasses use;
  use.labels.resize(input.num_classes());
  use.predicted.resize(input.num_classes());
  for (int64_t i = 0; i < input.num_samples(); ++i) {
    if (!input.IsUnknown(i)) ++use.labels[input.label()[i]];
    if (input.has_predictions() && input.prediction()[i] < input.num_classes()) {
      use.predicted[input.prediction()[i]] = true;
    }
  }
  for (int32_t c = 0; c < input.num_classes(); ++c) {
    if (use.labels[c] > 0) use.labelled.push_back(c);
  }
  return use;
}

std::string ClassText(const SampleSet& samples, int32_t c) {
  if (c < static_cast<int32_t>(samples.class_names.size())) return absl::StrCat("'", samples.class_names[c], "'");
  return absl::StrCat(c);
}

// A label that is no class but marks unknown samples, unlike -1; "" if none seems to.
std::string OtherMarkText(const SampleSet& samples, const EvaluationInput& input, const UseOfClasses& use) {
  constexpr char kAdvice[] = ": if it stands for unknown samples, write -1 (in a table also 'unknown' or nothing)";
  std::vector<int32_t> never;  // labels that are never predicted
  for (const int32_t c : use.labelled) {
    const bool is_named = c < static_cast<int32_t>(samples.class_names.size());
    if (use.predicted[c] && input.num_unknown() > 0) continue;
    if (is_named && LooksUnknown(samples.class_names[c])) {
      return absl::StrCat("label ", ClassText(samples, c), " counts as a known class, of ", use.labels[c], " samples",
                          kAdvice);
    }
    if (!use.predicted[c]) never.push_back(c);
  }
  if (input.num_unknown() > 0 || use.labelled.size() < 2) return "";
  if (input.has_predictions()) {
    const bool at_an_end = never.size() == 1 && (!samples.class_names.empty() || never[0] == use.labelled.front() ||
                                                 never[0] == use.labelled.back());
    if (!at_an_end) return "";
    return absl::StrCat("no sample is unknown, and label ", ClassText(samples, never[0]), " (", use.labels[never[0]],
                        use.labels[never[0]] == 1 ? " sample" : " samples", ") is never predicted", kAdvice);
  }
  // 255, 999 ...
  const int32_t last = use.labelled.back(), next = use.labelled[use.labelled.size() - 2];
  if (!samples.class_names.empty() || use.labelled.size() < 3 || last < 9 || last < 2 * (next + 1)) return "";
  return absl::StrCat("no sample is unknown, and label ", last, " (", use.labels[last],
                      " samples) is far above the others, of which ", next, " is the largest", kAdvice);
}

// The last output has no samples, and num_classes doesn't say whether it is a class.
bool LooksLikeExtraOutput(const SampleSet& samples, const EvaluationInput& input, const UseOfClasses& use) {
  return samples.num_outputs == input.num_classes() && !samples.num_classes_given && input.num_classes() > 2 &&
         static_cast<int32_t>(use.labelled.size()) == input.num_classes() - 1 &&
         use.labelled.back() == input.num_classes() - 2;
}

// Labels that are 1 .. C-1, in files that only count their classes; "" otherwise, or if class 0 is predicted as often
// as a network does that knows it.
std::string BeginsAtOneText(const SampleSet& samples, const EvaluationInput& input, const UseOfClasses& use) {
  const int32_t classes = input.num_classes();
  const bool begins_at_one =
      use.labelled.size() >= 2 && use.labelled.front() == 1 && static_cast<int32_t>(use.labelled.size()) == classes - 1;
  if (!begins_at_one || samples.num_outputs > 0 || samples.num_classes_given || !samples.class_names.empty()) return "";
  const std::string begin =
      absl::StrCat("the labels of known samples are 1 .. ", classes - 1, ", and classes are numbered from 0: ");
  if (!use.predicted[0]) {
    return absl::StrCat(begin,
                        "class 0 counts as a known class without samples; if your classes begin at 1, subtract 1 ",
                        "from the labels of known samples", input.has_predictions() ? " and from all predictions" : "",
                        "; if class 0 has no samples here, add num_classes = ", classes, " (an array, or a column)");
  }
  if (use.predicted[classes - 1]) return "";
  int64_t plain = 0, shifted = 0, known = 0;
  for (int64_t i = 0; i < input.num_samples(); ++i) {
    if (input.IsUnknown(i)) continue;
    ++known;
    plain += input.prediction()[i] == input.label()[i];
    shifted += input.prediction()[i] == input.label()[i] - 1;
  }
  if (shifted <= plain) return "";
  return absl::StrFormat(
      "%sthe predictions begin at 0, and accuracy is %.1f %%, but %.1f %% if 1 is subtracted from the labels of known "
      "samples: subtract it",
      begin, 100.0 * plain / known, 100.0 * shifted / known);
}

// Labels 0 and 1 for known and unknown: no sample is unknown, and nothing else suggests two classes.
bool LooksBinary(const EvaluationInput& input) {
  if (input.num_unknown() > 0 || (input.has_predictions() && input.num_classes() <= 2)) return false;
  bool zero = false, one = false;
  for (const int32_t label : input.label()) {
    if (label != 0 && label != 1) return false;
    (label == 0 ? zero : one) = true;
  }
  return zero && one;
}

std::string BelowHalfText(double auroc, ScoreOrigin origin) {
  const std::string text = absl::StrFormat("AUROC is %.1f %%: %s; ", 100 * auroc, kBelowHalfText);
  switch (origin) {
    case ScoreOrigin::kFile:
      return absl::StrCat(text,
                          "larger means more unknown here, and a file whose scores are larger for known samples takes "
                          "--higher_is_known");
    case ScoreOrigin::kFileNegated:
      return absl::StrCat(text, "are they larger for known samples in the file, as --higher_is_known says?");
    case ScoreOrigin::kOutputs:
      return absl::StrCat(
          text,
          "are the samples of label -1 (and of the sets that --unknown, --near and --far name) the unknown "
          "ones, and are label and logits of the same samples?");
  }
  return text;
}

}  // namespace

std::string OrderText(const ClassOrder& order) {
  constexpr size_t kMost = 6;
  std::vector<std::string> places;
  bool more = false;
  for (size_t label = 0; label < order.prediction_of.size(); ++label) {
    if (order.prediction_of[label] == label) continue;
    more = places.size() == kMost;
    if (more) break;
    places.push_back(absl::StrCat("label ", label, " is prediction ", order.prediction_of[label]));
  }
  return absl::StrCat(absl::StrJoin(places, ", "), more ? " ..." : "");
}

std::string NearChanceText(int64_t correct, int64_t samples, int classes) {
  return absl::StrFormat("accuracy is %.1f %% on %d known samples, no better than guessing among %d classes",
                         100.0 * static_cast<double>(correct) / static_cast<double>(samples), samples, classes);
}

std::string OtherOrderText(const ClassOrder& order) {
  return absl::StrFormat("accuracy is %.1f %%, and %.1f %% with the known classes in another order",
                         100 * order.plain_accuracy, 100 * order.accuracy);
}

std::vector<std::string> EvaluationHints(const SampleSet& samples, const RankedInput& ranked, ScoreOrigin origin) {
  const EvaluationInput& input = ranked.input();
  std::vector<std::string> hints = samples.hints;
  const ClosedSet closed = ClosedSetOf(input);
  const UseOfClasses use = UseOf(input);
  const bool has_classes = input.has_classes() && input.loss().empty();
  const std::string begins_at_one = has_classes ? BeginsAtOneText(samples, input, use) : "";
  // With four of five right, no other order gains a fifth.
  std::optional<ClassOrder> order;
  if (closed.samples > 0 && closed.correct < 0.8 * closed.samples) order = BetterOrderOf(input);
  if (!begins_at_one.empty()) {
    hints.push_back(begins_at_one);
  } else if (order.has_value()) {
    hints.push_back(absl::StrCat(OtherOrderText(*order), " (", OrderText(*order),
                                 "): number the labels as the network's outputs are, by the split that it was trained "
                                 "on"));
  } else if (closed.samples > 0 && IsNearChance(closed.correct, closed.samples, input.num_classes())) {
    hints.push_back(absl::StrCat(NearChanceText(closed.correct, closed.samples, input.num_classes()),
                                 ": are label and ", input.logits().empty() ? "prediction" : "logits",
                                 " of the same samples in the same order, and is label c the network's output c?"));
  }
  if (const std::string mark = has_classes ? OtherMarkText(samples, input, use) : ""; !mark.empty()) {
    hints.push_back(mark);
  } else if (has_classes && LooksBinary(input)) {
    hints.push_back(
        "no -1 among the labels, only 0 and 1: is 1 your unknown? Here a label is a known class, and -1 is unknown");
  }
  if (LooksLikeExtraOutput(samples, input, use)) {
    const int32_t last = input.num_classes() - 1;
    hints.push_back(absl::StrCat("no sample has label ", ClassText(samples, last), ", of the last of ",
                                 input.num_classes(),
                                 " outputs, which counts as a known class: if it is for unknown "
                                 "samples, add num_classes = ",
                                 last, " (an array, or a column)"));
  }
  const MetricResult auroc = Auroc(ranked);
  if (auroc.value.has_value() && IsBelowHalf(*auroc.value, input.num_known(), input.num_unknown())) {
    hints.push_back(BelowHalfText(*auroc.value, origin));
  }
  return hints;
}

}  // namespace openset
