// The samples of one or more files, ready to be evaluated: numbers for the names of classes, and groups of unknown
// samples.
#ifndef OPENSET_EVAL_FILES_SAMPLE_SET_H_
#define OPENSET_EVAL_FILES_SAMPLE_SET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "eval/files/named_arrays.h"
#include "eval/files/score_file.h"
#include "eval/metrics/evaluate.h"
#include "eval/metrics/evaluation_input.h"
#include "eval/scores/score.h"

namespace openset {

// ---- Converts the names of classes in tables to numbers.

// Converts the labels and predictions of all files to indices into the result: the names in the order of the logits or,
// without logits, the names of the kept rows' labels, sorted, followed by those that are only predicted, sorted, so
// that methods on the same samples get the same labels. Doesn't change rows that are not kept (`keep` [files][N]). If
// no file names its classes, returns nothing and changes nothing. Errors, kInvalidArgument with the file: some files
// name the classes of kept rows and others number them; an index without a name; logits for other classes than the
// first file that names them has.
absl::StatusOr<std::vector<std::string>> NumberClasses(const std::vector<std::vector<bool>>& keep,
                                                       std::vector<ScoreFile>* files);

// ---- The samples of one or more files, ready to be evaluated.

// The roles of the sets in the files, by name.
struct SetRoles {
  std::vector<std::string> unknown;  // all their samples are unknown, whatever their labels
  std::vector<std::string> near;     // unknown, near the known classes
  std::vector<std::string> far;      // unknown, far from them
  std::vector<std::string> known;    // their labels are used as they are
  std::vector<std::string> skip;     // left out, whatever their values
};

// Fields that are not known are empty.
struct SampleSet {
  std::string path;  // of the first file, for errors
  int64_t num_samples = 0;
  MaybeBorrowed<float> logits;  // [N, K]
  int64_t num_outputs = 0;
  std::string log_probabilities;  // the first file whose logits are log-probabilities (eval/scores/output_kind.h)
  MaybeBorrowed<float> features;  // [N, D]
  int64_t feature_dim = 0;
  std::vector<float> head_weight;
  std::vector<float> head_bias;
  std::vector<float> member_uncertainty;  // [N, 3]
  std::vector<int32_t> label;             // [N], 0 .. C-1, kUnknownLabel
  std::vector<int32_t> prediction;        // [N], 0 .. C-1, or C if a score decides "unknown"; empty if not known
  // [N], instead of predictions: the loss of a known sample's answer, in [0, 1].
  std::vector<float> loss;
  // False: the file says which answers are right (`correct`); `prediction` is the label for these and C for others.
  bool has_classes = true;
  MaybeBorrowed<double> unknown_score;
  // The score's own class probabilities, if it has any: calibration uses their softmax.
  std::vector<float> probability_logits;  // [N, probability_outputs]
  int64_t probability_outputs = 0;
  int32_t num_classes = 0;               // C
  bool num_classes_given = false;        // by the files, rather than counted
  std::vector<std::string> class_names;  // [C]; empty if files number the classes
  std::vector<int32_t> group;            // [N]; empty if there is one set of unknown samples and no roles were given
  std::vector<Group> groups;
  std::vector<int64_t>
      cluster;  // [N]; empty if no file has clusters. Equal numbers or texts in several files are one cluster.
  // Full-spectrum evaluation: if two or more sets are known, the index of each sample's set among them (-1 for unknown
  // samples and other sets); otherwise empty.
  std::vector<int32_t> known_set;  // [N]
  std::vector<std::string> known_sets;
  // Likely mistakes in the files, for users to check.
  std::vector<std::string> hints;

  ScoreInput Outputs() const;
  // Refers to this object. Precondition: unknown_score is set.
  absl::StatusOr<EvaluationInput> Input() const;
};

// Returns the samples of all `files` (eval/files/score_file.h), in their order. If a file has no predictions, they are
// computed from its logits; `prediction` is empty if it has no logits either. Each set of unknown samples is a group.
// If there are several files, samples without a set belong to a set with the name of their file. C is num_classes of
// the files; if they have none, K with logits, otherwise the largest label or prediction + 1. Named classes are
// numbered by NumberClasses(). Any of the files may have the head (head_weight, head_bias). Errors: as
// ReadScoreFiles(); kInvalidArgument also, with file, array and row, for invalid values: labels, predictions or groups
// out of range, a `correct` that is not 0 or 1, NaN, logits that are infinite or probabilities, also rounded or in
// percent; logits that are not of the file's features and head (CheckHead() in eval/files/same_network.h); files with
// different arrays, or heads that differ; roles of unknown sets; FD-Shifts files of several sets
// without any role; two sets of OpenOOD or FD-Shifts with known labels, of which one has no role; labels of an unsigned
// type that are -1 in it.
absl::StatusOr<SampleSet> ReadSampleSet(const std::vector<std::string>& files, const SetRoles& roles = {},
                                        ScoreDirection direction = ScoreDirection::kHigherIsUnknown);

// The same for files in memory. If they borrow their arrays (MaybeBorrowed), the result may refer to the same arrays,
// which must outlive it. Precondition: there is a file.
absl::StatusOr<SampleSet> MakeSampleSet(std::vector<ScoreFile> files, const SetRoles& roles);
// For one file.
absl::StatusOr<SampleSet> SampleSetOf(ScoreFile file, const SetRoles& roles = {});

// ---- Selects one of several groups of unknown samples.

// All known samples and the unknown samples of one group, in their order, without groups. Errors: kInvalidArgument if
// the samples have no groups, for an unknown group, with the names of the groups, and for an array that does not have a
// row for each sample.
absl::StatusOr<SampleSet> OnlyUnknownSet(SampleSet samples, const std::string& set);

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_SAMPLE_SET_H_
