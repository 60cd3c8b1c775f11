// The samples of one or more files, ready to be evaluated.
#ifndef OPENSET_EVAL_FILES_SAMPLE_SET_H_
#define OPENSET_EVAL_FILES_SAMPLE_SET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "eval/files/maybe_borrowed.h"
#include "eval/files/score_file.h"
#include "eval/metrics/evaluation_input.h"
#include "eval/metrics/groups.h"
#include "eval/scores/score.h"

namespace openset {

// What is known of the sets in the files, by name.
struct SetRoles {
  std::vector<std::string> unknown;  // all their samples are unknown, whatever their labels
  std::vector<std::string> near;     // so, and near the known classes
  std::vector<std::string> far;      // so, and far from them
  std::vector<std::string> known;    // their labels count as they are
  std::vector<std::string> skip;     // left out
};

// Empty: not known.
struct SampleSet {
  int64_t num_samples = 0;
  MaybeBorrowed<float> logits;  // [N, K]
  int64_t num_outputs = 0;
  MaybeBorrowed<float> features;  // [N, D]
  int64_t feature_dim = 0;
  std::vector<float> head_weight;
  std::vector<float> head_bias;
  std::vector<float> member_uncertainty;  // [N, 3]
  std::vector<int32_t> label;             // [N], 0 .. C-1, kUnknownLabel
  std::vector<int32_t> prediction;        // [N], 0 .. C-1, or C where a score says unknown; empty: not known
  MaybeBorrowed<double> unknown_score;
  // Of the score, if it has class probabilities of its own: calibration is measured by their softmax.
  std::vector<float> probability_logits;  // [N, probability_outputs]
  int64_t probability_outputs = 0;
  int32_t num_classes = 0;               // C
  std::vector<std::string> class_names;  // [C]; empty where files number the classes
  std::vector<int32_t> group;            // [N]; empty where the unknown samples are of one set and no roles were given
  std::vector<Group> groups;
  // Full-spectrum evaluation: where two or more sets are named as known, which of them a sample is of (-1: unknown, or
  // of no such set); else empty.
  std::vector<int32_t> known_set;  // [N]
  std::vector<std::string> known_sets;

  ScoreInput Outputs() const;
  // Refers to this. Precondition: unknown_score is set.
  absl::StatusOr<EvaluationInput> Input() const;
};

// The samples of all `files` (eval/files/score_file.h), in their order. Predictions that a file lacks are made from its
// logits. A set of unknown samples is a group; samples of no set are, among several files, of one named by their file.
// Without logits C is num_classes of the files, else the largest label or prediction + 1; with logits num_classes or K.
// Classes that tables name are numbered as class_names.h says. `prediction` is empty where
// files have none and no logits to make it from.
// Errors: those of ReadScoreFiles; kInvalidArgument with file, array and row for values that can't be: labels,
// predictions, groups out of range, NaN, logits of inf or that are probabilities; files that disagree in what they
// hold; roles of unknown sets; FD-Shifts files of several sets without a role for any.
absl::StatusOr<SampleSet> ReadSampleSet(const std::vector<std::string>& files, const SetRoles& roles = {},
                                        ScoreDirection direction = ScoreDirection::kHigherIsUnknown);

// Of files that are in memory already. If these borrow their arrays (maybe_borrowed.h), the result may refer to the
// same arrays, which must outlive it. Precondition: there is a file.
absl::StatusOr<SampleSet> MakeSampleSet(std::vector<ScoreFile> files, const SetRoles& roles);

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_SAMPLE_SET_H_
