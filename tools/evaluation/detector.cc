#include "tools/evaluation/detector.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/files/digest.h"
#include "core/process/build_info.h"
#include "core/proto/text_proto.h"
#include "core/proto/traits.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "eval/files/apply_score.h"
#include "eval/files/named_arrays.h"
#include "eval/files/same_network.h"
#include "eval/metrics/ranked_input.h"
#include "eval/report/threshold_report.h"

namespace openset {
namespace {

constexpr int kFormat = 1;
constexpr char kSpecArray[] = "detector", kFitPrefix[] = "fit_";

template <typename T>
void Hash(const T& values, Sha256* digest) {
  const auto bytes = values.size() * sizeof(*values.data());
  digest->Update(absl::StrCat(bytes, "\n"));
  digest->Update(absl::string_view(reinterpret_cast<const char*>(values.data()), bytes));
}

std::string DigestOf(const SampleSet& samples) {
  Sha256 digest;
  Hash(samples.label, &digest);
  Hash(samples.logits, &digest);
  Hash(samples.features, &digest);
  Hash(samples.unknown_score, &digest);
  return ToHex(digest.Finish());
}

// The rows of known samples, and the head, as arrays of a file of outputs.
NpzArrays FitArrays(const SampleSet& fit) {
  NpzArrays arrays;
  std::vector<int64_t> label;
  std::vector<float> logits, features, member_uncertainty;
  const auto add = [](const auto& from, int64_t row, int64_t width, std::vector<float>* to) {
    if (!from.empty()) to->insert(to->end(), from.begin() + row * width, from.begin() + (row + 1) * width);
  };
  for (int64_t row = 0; row < fit.num_samples; ++row) {
    if (fit.label[row] == kUnknownLabel) continue;
    label.push_back(fit.label[row]);
    add(fit.logits, row, fit.num_outputs, &logits);
    add(fit.features, row, fit.feature_dim, &features);
    add(fit.member_uncertainty, row, 3, &member_uncertainty);
  }
  const auto n = static_cast<int64_t>(label.size());
  const auto put = [&](const char* name, const std::vector<float>& values, std::vector<int64_t> shape) {
    if (!values.empty()) arrays[absl::StrCat(kFitPrefix, name)] = MakeNpy(values, std::move(shape));
  };
  put("logits", logits, {n, fit.num_outputs});
  put("features", features, {n, fit.feature_dim});
  put("member_uncertainty", member_uncertainty, {n, 3});
  put("head_weight", fit.head_weight, {fit.num_outputs, fit.feature_dim});
  put("head_bias", fit.head_bias, {fit.num_outputs});
  arrays[absl::StrCat(kFitPrefix, "label")] = MakeNpy(label, {n});
  arrays[absl::StrCat(kFitPrefix, "num_classes")] = MakeNpy(std::vector<int64_t>{fit.num_classes}, {1});
  return arrays;
}

absl::Status Invalid(const std::string& path, absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", problem));
}

// Adds the detector's head to outputs that have none, and checks that it gives their logits.
absl::Status TakeHead(const Detector& detector, SampleSet* outputs) {
  if (!detector.fit.has_value() || detector.fit->head_weight.empty()) return absl::OkStatus();
  if (outputs->head_weight.empty() && outputs->head_bias.empty()) {
    outputs->head_weight = detector.fit->head_weight;
    outputs->head_bias = detector.fit->head_bias;
    if (!outputs->log_probabilities.empty()) return absl::OkStatus();
    return CheckHead(outputs->Outputs(), outputs->path, detector.path);
  }
  if (outputs->head_weight == detector.fit->head_weight && outputs->head_bias == detector.fit->head_bias) {
    return absl::OkStatus();
  }
  return Invalid(outputs->path, "its head (head_weight, head_bias) is not the detector's: it is of another network");
}

absl::Status CheckFits(const Detector& detector, const SampleSet& outputs) {
  const DetectorSpec& spec = detector.spec;
  const auto differ = [&](absl::string_view what, int64_t of_outputs, int64_t of_detector) {
    return Invalid(outputs.path, absl::StrCat("has ", of_outputs, " ", what, ", and ", detector.path, " was made for ",
                                              of_detector, ": it is of another network"));
  };
  if (outputs.num_outputs == 0 && spec.num_outputs() > 0) {
    return Invalid(outputs.path, absl::StrCat("has no logits, from which ", detector.path,
                                              " computes its own score: finished scores can't be used"));
  }
  if (outputs.num_outputs != spec.num_outputs()) {
    return differ("logits per sample", outputs.num_outputs, spec.num_outputs());
  }
  // Features that the score doesn't read may be absent.
  const bool reads_features = spec.has_score() && TraitsOf(spec.score()).features();
  if (reads_features && outputs.feature_dim == 0) {
    return Invalid(outputs.path, absl::StrCat("has no features, which the score of ", detector.path, " reads"));
  }
  if (outputs.feature_dim != spec.feature_dim() && outputs.feature_dim > 0 && spec.feature_dim() > 0) {
    return differ("features a sample", outputs.feature_dim, spec.feature_dim());
  }
  if (outputs.num_outputs > 0 && outputs.num_classes != spec.num_classes()) {
    return differ("known classes", outputs.num_classes, spec.num_classes());
  }
  const std::vector<std::string> names(spec.class_name().begin(), spec.class_name().end());
  if (!names.empty() && !outputs.class_names.empty() && outputs.num_outputs > 0 && outputs.class_names != names) {
    return Invalid(outputs.path, absl::StrCat("its classes are ", absl::StrJoin(outputs.class_names, ", "),
                                              ", and the detector's ", absl::StrJoin(names, ", ")));
  }
  if (!spec.has_score() && outputs.unknown_score.empty()) {
    return Invalid(outputs.path, "has no unknown_score, on which the detector's threshold was chosen");
  }
  return absl::OkStatus();
}

// A hint for a share of rejected samples that chance does not explain: more than 5 standard errors above the validation
// samples' share.
std::string ShareHint(const DetectorSpec& spec, int64_t rejected, int64_t n) {
  const double expected = 1 - spec.validation_accepted();
  const double seen = static_cast<double>(rejected) / static_cast<double>(n);
  const double validation = static_cast<double>(spec.validation_known() + spec.validation_unknown());
  const double variance = std::max(expected * (1 - expected), 1 / validation) * (1 / validation + 1.0 / n);
  if (n < 20 || validation < 20 || seen - expected <= 5 * std::sqrt(variance)) return "";
  return absl::StrFormat(
      "%.1f %% of these samples are rejected, and of the validation samples %.1f %% were: there are more unknown ones, "
      "or "
      "the known ones have changed, in which case the guarantee doesn't hold",
      100 * seen, 100 * expected);
}

}  // namespace

absl::StatusOr<Detector> MakeDetector(const ThresholdRequest& request, const std::string& source,
                                      const SampleReader& validation, const SampleReader& read_fit,
                                      ChosenThreshold* chosen) {
  OPENSET_ASSIGN_OR_RETURN(const RequestedRule rule, RequestedThreshold(request));
  OPENSET_ASSIGN_OR_RETURN(const ScoredSamples scored, ScoreSamples(request.samples(), validation, read_fit));
  OPENSET_ASSIGN_OR_RETURN(const EvaluationInput input, scored.samples.Input());
  const RankedInput ranked(input);
  OPENSET_ASSIGN_OR_RETURN(ChosenThreshold threshold, ChooseThreshold(rule, request, source, scored, ranked));
  if (scored.origin == ScoreOrigin::kFileNegated) {
    return absl::InvalidArgumentError(
        "--higher_is_known: a detector's outputs have an unknown_score, larger = more unknown; negate the scores");
  }

  Detector detector;
  detector.path = source;
  DetectorSpec& spec = detector.spec;
  const SampleSet& samples = scored.samples;
  spec.set_format(kFormat);
  if (scored.origin == ScoreOrigin::kOutputs) {
    OPENSET_ASSIGN_OR_RETURN(
        *spec.mutable_score(),
        ParseScore("--score", request.samples().score().empty() ? "max_softmax" : request.samples().score()));
  }
  spec.set_threshold(threshold.validation.threshold);
  spec.set_rule(threshold.rule);
  if (threshold.target.has_value()) spec.set_target(*threshold.target);
  if (threshold.delta.has_value()) spec.set_delta(*threshold.delta);
  spec.set_guarantee(GuaranteeText(threshold));
  spec.set_num_classes(samples.num_classes);
  for (const std::string& name : samples.class_names) spec.add_class_name(name);
  spec.set_num_outputs(static_cast<int32_t>(samples.num_outputs));
  spec.set_feature_dim(static_cast<int32_t>(samples.feature_dim));
  spec.set_validation_known(threshold.validation.total.known());
  spec.set_validation_unknown(threshold.validation.total.unknown);
  spec.set_validation_known_accepted(threshold.validation.accepted.known());
  spec.set_validation_accepted(static_cast<double>(threshold.validation.accepted.all()) /
                               threshold.validation.total.all());
  spec.set_validation_sha256(DigestOf(samples));
  spec.set_version(Version());
  const Traits needs = spec.has_score() ? TraitsOf(spec.score()) : Traits();
  if (needs.fit()) {
    OPENSET_ASSIGN_OR_RETURN(detector.fit, read_fit({}, ScoreDirection::kHigherIsUnknown));
    spec.set_fit_samples(detector.fit->num_samples);
    spec.set_fit_sha256(DigestOf(*detector.fit));
  }
  if (!samples.head_weight.empty() && (!detector.fit.has_value() || detector.fit->feature_dim == samples.feature_dim)) {
    // The head of the validation outputs: scores are computed by it, and it tells outputs of another network.
    if (!detector.fit.has_value()) {
      detector.fit.emplace();
      detector.fit->num_outputs = samples.num_outputs;
      detector.fit->feature_dim = samples.feature_dim;
      detector.fit->num_classes = samples.num_classes;
    }
    detector.fit->head_weight = samples.head_weight;
    detector.fit->head_bias = samples.head_bias;
  }
  if (chosen != nullptr) *chosen = std::move(threshold);
  return detector;
}

absl::Status WriteDetector(const Detector& detector, const std::string& path) {
  NpzArrays arrays;
  if (detector.fit.has_value()) arrays = FitArrays(*detector.fit);
  arrays[kSpecArray] = MakeNpy(std::vector<std::string>{ToText(detector.spec)});
  return WriteNpzAtomically(path, arrays);
}

absl::StatusOr<Detector> ReadDetector(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(NpzArrays arrays, ReadNpz(path));
  Detector detector;
  detector.path = path;
  const auto text = arrays.find(kSpecArray);
  if (text == arrays.end()) {
    return Invalid(path, "is not a detector: it has no array 'detector' (`openset detector save` writes such files)");
  }
  const absl::StatusOr<std::vector<std::string>> texts = ToTexts(text->second);
  if (!texts.ok() || texts->size() != 1) return Invalid(path, "array 'detector' is not one text");
  OPENSET_ASSIGN_OR_RETURN(const TextSource source,
                           ParseTextProto(texts->front(), absl::StrCat(path, ": detector"), &detector.spec));
  if (detector.spec.format() > kFormat) {
    return Invalid(path, absl::StrCat("is of format ", detector.spec.format(), ", and this openset (", Version(),
                                      ") reads ", kFormat, ": take a newer openset"));
  }
  OPENSET_RETURN_IF_ERROR(CheckRules(detector.spec, source));
  NpzArrays fit;
  for (auto& [name, array] : arrays) {
    absl::string_view below = name;
    if (absl::ConsumePrefix(&below, kFitPrefix)) fit[std::string(below)] = std::move(array);
  }
  const Traits needs = detector.spec.has_score() ? TraitsOf(detector.spec.score()) : Traits();
  if (fit.empty()) {
    if (needs.fit() || needs.head()) return Invalid(path, "its score is fitted, and the samples for that are missing");
    return detector;
  }
  SampleSet& samples = detector.fit.emplace();
  const auto label = fit.find("label");
  if (label != fit.end() && label->second.size() > 0) {
    OPENSET_ASSIGN_OR_RETURN(ScoreFile file,
                             ScoreFileOf(path, NamedArrays(path, fit), ScoreDirection::kHigherIsUnknown));
    OPENSET_ASSIGN_OR_RETURN(samples, SampleSetOf(std::move(file)));
  } else {
    // A head alone.
    samples.num_outputs = detector.spec.num_outputs();
    samples.feature_dim = detector.spec.feature_dim();
    samples.num_classes = detector.spec.num_classes();
    const NamedArrays named(path, fit);
    OPENSET_RETURN_IF_ERROR(
        named.Read("head_weight", {samples.num_outputs, samples.feature_dim}, &ToFloat, &samples.head_weight));
    if (named.Has("head_bias")) {
      OPENSET_RETURN_IF_ERROR(named.Read("head_bias", {samples.num_outputs}, &ToFloat, &samples.head_bias));
    }
  }
  samples.path = path;
  samples.class_names.assign(detector.spec.class_name().begin(), detector.spec.class_name().end());
  if (samples.num_outputs != detector.spec.num_outputs() || samples.num_classes != detector.spec.num_classes()) {
    return Invalid(path, "its arrays have other numbers of outputs and classes than it says");
  }
  return detector;
}

absl::Status FitDetector(Detector* detector) {
  const DetectorSpec& spec = detector->spec;
  if (!spec.has_score() || !TraitsOf(spec.score()).fit()) return absl::OkStatus();
  OPENSET_ASSIGN_OR_RETURN(detector->fitted, FitScore(spec.score(), *detector->fit));
  return absl::OkStatus();
}

absl::StatusOr<Decided> ApplyDetector(const Detector& detector, SampleSet outputs, bool has_labels) {
  OPENSET_RETURN_IF_ERROR(CheckFits(detector, outputs));
  OPENSET_RETURN_IF_ERROR(TakeHead(detector, &outputs));
  const DetectorSpec& spec = detector.spec;
  if (outputs.class_names.empty() && outputs.num_outputs > 0) {
    outputs.class_names.assign(spec.class_name().begin(), spec.class_name().end());
  }
  if (spec.has_score()) {
    const bool is_fitted = TraitsOf(spec.score()).fit();
    OPENSET_RETURN_IF_ERROR(
        ApplyScore(spec.score(), is_fitted ? &*detector.fit : nullptr, &outputs, detector.fitted.get()));
  }
  Decided decided;
  decided.unknown_score.assign(outputs.unknown_score.begin(), outputs.unknown_score.end());
  decided.prediction.assign(outputs.prediction.begin(), outputs.prediction.end());
  for (const double score : decided.unknown_score) {
    decided.rejected.push_back(score > spec.threshold());
    decided.num_rejected += decided.rejected.back();
  }
  decided.hints = outputs.hints;
  const auto n = static_cast<int64_t>(decided.rejected.size());
  if (const std::string hint = ShareHint(spec, decided.num_rejected, n); !hint.empty()) decided.hints.push_back(hint);
  if (has_labels) {
    OPENSET_ASSIGN_OR_RETURN(const EvaluationInput input, outputs.Input());
    decided.report = DescribeThreshold(spec.threshold(), RankedInput(input));
  }
  return decided;
}

namespace {

// "95.0 % of the known ones were accepted, and 71.2 % of the unknown ones rejected".
std::string AcceptedText(const DetectorSpec& spec) {
  const auto known = static_cast<double>(spec.validation_known()),
             unknown = static_cast<double>(spec.validation_unknown());
  if (!spec.has_validation_known_accepted() || known == 0 || unknown == 0) {
    return absl::StrFormat("%.1f %% were accepted", 100 * spec.validation_accepted());
  }
  const auto accepted = static_cast<double>(spec.validation_known_accepted());
  const double unknown_accepted = std::max(0.0, spec.validation_accepted() * (known + unknown) - accepted);
  return absl::StrFormat("%.1f %% of the known ones were accepted, and %.1f %% of the unknown ones rejected",
                         100 * accepted / known, 100 * (1 - unknown_accepted / unknown));
}

}  // namespace

std::string DetectorText(const DetectorSpec& spec) {
  std::string text =
      absl::StrCat("score      ", spec.has_score() ? ScoreText(spec.score()) : "unknown_score of the outputs", "\n",
                   "threshold  ", FullPrecision(spec.threshold()), ": samples with a larger score are rejected\n",
                   "rule       ", OneLine(spec.rule()));
  if (spec.has_target()) absl::StrAppend(&text, ", target ", spec.target());
  if (spec.has_delta()) absl::StrAppend(&text, ", delta ", spec.delta());
  absl::StrAppend(&text, ", on ", spec.validation_known(), " known and ", spec.validation_unknown(),
                  " unknown samples, of which ", AcceptedText(spec), "\n");
  absl::StrAppend(&text, "outputs    ", spec.num_outputs(), " logits of ", spec.num_classes(), " known classes");
  if (spec.feature_dim() > 0) absl::StrAppend(&text, ", ", spec.feature_dim(), " features");
  if (spec.class_name_size() > 0) absl::StrAppend(&text, ": ", OneLine(absl::StrJoin(spec.class_name(), ", ")));
  if (spec.has_fit_samples()) absl::StrAppend(&text, "\nfitted to  ", spec.fit_samples(), " samples");
  absl::StrAppend(&text, "\nmade by    openset ", OneLine(spec.version()), "\n\n", OneLine(spec.guarantee()), "\n");
  return text;
}

}  // namespace openset
