// A detector: a score, the samples that it is fitted to, and a threshold, in one file. It decides which outputs of a
// network are rejected as unknown.
//
// The file is an .npz: `detector` is a DetectorSpec as text. The arrays with "fit_" before their names are the outputs,
// in the layout of docs/eval.md, to which the score is fitted when the file is read. The same file and
// outputs give the same bits from the command, the C library and Python.
#ifndef OPENSET_TOOLS_EVALUATION_DETECTOR_H_
#define OPENSET_TOOLS_EVALUATION_DETECTOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/files/formats/npz.h"
#include "eval/files/sample_set.h"
#include "eval/scores/score.h"
#include "eval/thresholds/select_threshold.h"
#include "tools/evaluation/detector.pb.h"
#include "tools/evaluation/request.pb.h"
#include "tools/evaluation/requested.h"

namespace openset {

struct Detector {
  std::string path;  // for errors
  DetectorSpec spec;
  std::optional<SampleSet> fit;  // if the score is fitted, or the head is known
  // Set by FitDetector(): the score, fitted to `fit`. If it is null, ApplyDetector() fits the score at each call.
  std::shared_ptr<const Score> fitted;
};

// Chooses the threshold on the samples of `validation`, whose name in errors is `source`, with the score of the
// request, fitted to the samples of `read_fit` (may be null). `chosen`, unless null, becomes the threshold with its
// numbers. Errors: kInvalidArgument for an invalid request, with the flag, samples that lack what the score needs, or
// negated scores (higher_is_known), or for a rule with a guarantee if the score is fitted to validation samples;
// kFailedPrecondition, with `source`, if the validation samples lack what the rule
// needs, or no threshold meets its target; any error that a reader returns.
absl::StatusOr<Detector> MakeDetector(const ThresholdRequest& request, const std::string& source,
                                      const SampleReader& validation, const SampleReader& read_fit,
                                      ChosenThreshold* chosen = nullptr);

// Writes the file atomically. Errors: a write error (core/files/files.h).
absl::Status WriteDetector(const Detector& detector, const std::string& path);

// Errors: kNotFound; kDataLoss and kInvalidArgument, with the path, for a file that is not a detector, is of a later
// format, or has arrays that don't fit its spec.
absl::StatusOr<Detector> ReadDetector(const std::string& path);

// Fits the score, if it has to be, so that later decisions needn't. Errors: kInvalidArgument, with the score's name
// (FitScore() in eval/files/apply_score.h).
absl::Status FitDetector(Detector* detector);

struct Decided {
  std::vector<double> unknown_score;
  std::vector<int32_t> prediction;  // empty without logits or predictions
  std::vector<bool> rejected;
  int64_t num_rejected = 0;
  std::optional<ThresholdReport> report;  // if the outputs are labelled
  std::vector<std::string> hints;         // where the outputs are unlike those that the threshold was chosen on
};

// The decisions about outputs; their labels may all be unknown. Errors: kInvalidArgument, with the path of the outputs,
// if they have other numbers of outputs, features or classes, other class names, or another head than the detector's,
// if that head doesn't give their logits (CheckHead() in eval/files/same_network.h), or if they lack what the score
// needs (ApplyScore() in eval/files/apply_score.h).
absl::StatusOr<Decided> ApplyDetector(const Detector& detector, SampleSet outputs, bool has_labels);

// The spec, and what it says about new samples: lines for people.
std::string DetectorText(const DetectorSpec& spec);

}  // namespace openset

#endif  // OPENSET_TOOLS_EVALUATION_DETECTOR_H_
