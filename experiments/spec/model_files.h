// Finds the files that a model's spec names.
#ifndef OPENSET_EXPERIMENTS_SPEC_MODEL_FILES_H_
#define OPENSET_EXPERIMENTS_SPEC_MODEL_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/proto/proto_rules.h"
#include "models/model.pb.h"

namespace openset {

// Makes the paths of model.weights and model.torch_script absolute (relative paths start at `folder`; "data:PATH" is
// unchanged), and computes the SHA-256 if the spec has none. A missing file with a SHA-256 is not a problem, because
// its results may be in the store. Weights with "{split}" are left to ResolveSplitFiles(). Problems, each with the
// field's path below MethodSpec: a missing file, a large file that contains no weights
// (core/files/formats/header_check.h), an invalid SHA-256 or one that doesn't match the file, "data:" without a
// SHA-256, split_sha256 without "{split}".
std::vector<FieldProblem> ResolveModelFiles(const std::string& folder, ModelSpec* model);

// Whether each split has its own weights, that is, whether the file's name contains "{split}".
bool IsOfSplit(const ModelSpec& model);

// Extends split_sha256 to the largest of `splits` and fills in the digests of the files of these splits; unknown
// digests of other splits stay "". Does nothing for models without "{split}". Problems: those of ResolveModelFiles(),
// for each digest. Precondition: ResolveModelFiles() had no problem with the model.
std::vector<FieldProblem> ResolveSplitFiles(const std::vector<int>& splits, ModelSpec* model);

// Returns the model for a split, with "{split}" replaced and with that split's file and digest. Precondition: the split
// was passed to ResolveSplitFiles().
ModelSpec ModelOfSplit(const ModelSpec& model, int split);

// Returns the path of the file. A plain path is returned unchanged; "data:PATH" is looked up in the folders in order.
// Errors: kNotFound, with the folders.
absl::StatusOr<std::string> FindModelFile(const std::string& file, const std::vector<std::string>& data_folders);

// Checks that the files of a model that will be run exist. Errors: kNotFound, with the file.
absl::Status CheckModelFiles(const ModelSpec& model, const std::vector<std::string>& data_folders);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_MODEL_FILES_H_
