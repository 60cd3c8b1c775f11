// A detector: a score, the samples that it is fitted to, and a threshold, in one file. It decides which outputs of a
// network are rejected as unknown.
//
// The file is an .npz: `detector` is a DetectorSpec as text, and the arrays with "fit_" before their names are those of
// docs/eval.md to which the score is fitted each time that the file is read. The same file and outputs give the same
// bits from the command, the C library and Python.
#ifndef OPENSET_TOOLS_EVALUATION_DETECTOR_H_
#define OPENSET_TOOLS_EVALUATION_DETECTOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/files/formats/npz.h"
#include "eval/files/sample_set.h"
#include "eval/thresholds/select_threshold.h"
#include "tools/evaluation/detector.pb.h"
#include "tools/evaluation/request.pb.h"
#include "tools/evaluation/requested.h"

namespace openset {

struct Detector {
  std::string path;  // for errors
  DetectorSpec spec;
  std::optional<SampleSet> fit;  // if the score is fitted, or needs the head
};

// Chooses the threshold on the samples of `validation`, whose name in errors is `source`, with the score of the
// request, fitted to those of `read_fit` (may be null). `chosen`, unless null, becomes the threshold with its numbers.
// Errors: those of ScoreSamples() and ChooseThreshold().
absl::StatusOr<Detector> MakeDetector(const ThresholdRequest& request, const std::string& source,
                                      const SampleReader& validation, const SampleReader& read_fit,
                                      ChosenThreshold* chosen = nullptr);

// Writes the file atomically. Errors: kUnavailable.
absl::Status WriteDetector(const Detector& detector, const std::string& path);

// Errors: kNotFound; kDataLoss and kInvalidArgument, with the path, for a file that is not a detector, is of a later
// format, or has arrays that don't fit its spec.
absl::StatusOr<Detector> ReadDetector(const std::string& path);

struct Decided {
  std::vector<double> unknown_score;
  std::vector<int32_t> prediction;  // empty without logits or predictions
  std::vector<bool> rejected;
  int64_t num_rejected = 0;
  std::optional<ThresholdReport> report;  // if the outputs are labelled
  std::vector<std::string> hints;         // where the outputs are unlike those that the threshold was chosen on
};

// The decisions about outputs; their labels may all be unknown. Errors, kInvalidArgument with the path of the outputs:
// other numbers of outputs, features or classes, or other names, than the detector's; another head; those of
// ApplyScore().
absl::StatusOr<Decided> ApplyDetector(const Detector& detector, SampleSet outputs, bool has_labels);

// The spec, and what it says about new samples: lines for people.
std::string DetectorText(const DetectorSpec& spec);

}  // namespace openset

#endif  // OPENSET_TOOLS_EVALUATION_DETECTOR_H_
