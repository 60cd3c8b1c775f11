// The files that a model's spec names.
#ifndef OPENSET_EXPERIMENTS_SPEC_MODEL_FILES_H_
#define OPENSET_EXPERIMENTS_SPEC_MODEL_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/proto/proto_rules.h"
#include "models/model.pb.h"

namespace openset {

// Makes the paths of model.weights and model.torch_script absolute, `folder` being where relative ones start
// ("data:PATH" stays), and sets the SHA-256 of those that have none. A file that is not there and has a SHA-256 is no
// problem: its results may be in the store. Weights with "{split}" are left for ResolveSplitFiles(). Problems, with the
// field's path below MethodSpec: a file that is not there, a large one that is no file of weights
// (core/files/formats/header_check.h), a SHA-256 that is none or is not the file's, "data:" without
// a SHA-256, split_sha256 without "{split}".
std::vector<FieldProblem> ResolveModelFiles(const std::string& folder, ModelSpec* model);

// Whether the weights are those of a split: their file has "{split}".
bool IsOfSplit(const ModelSpec& model);

// Makes split_sha256 as long as the largest of `splits` asks for, with the digests of the files of these splits; those
// of others stay "" if they are not known. For models without "{split}" nothing is done. Problems: those of
// ResolveModelFiles(), a digest each.
// Precondition: ResolveModelFiles() had no problem with the model.
std::vector<FieldProblem> ResolveSplitFiles(const std::vector<int>& splits, ModelSpec* model);

// The model for a split: without "{split}", with that split's file and digest. Precondition: the split was among those
// of ResolveSplitFiles().
ModelSpec ModelOfSplit(const ModelSpec& model, int split);

// The path of the file: a path is unchanged; "data:PATH" is below the first of the folders that has it. Errors:
// kNotFound, with the folders.
absl::StatusOr<std::string> FindModelFile(const std::string& file, const std::vector<std::string>& data_folders);

// Whether the files are there, for a model that is to be run. Errors: kNotFound, with the file.
absl::Status CheckModelFiles(const ModelSpec& model, const std::vector<std::string>& data_folders);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_MODEL_FILES_H_
