// Finds the files that a model's spec names.
#ifndef OPENSET_EXPERIMENTS_SPEC_MODEL_FILES_H_
#define OPENSET_EXPERIMENTS_SPEC_MODEL_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/proto/proto_rules.h"
#include "models/model.pb.h"

namespace openset {

// Whether the model's trainings and inferences work on arrays alone, without a network and LibTorch: outputs that were
// computed elsewhere, and heads that are fitted to features (experiments/arrays/array_actions.h).
bool UsesArraysOnly(const ModelSpec& model);
// Whether it is a head that is fitted to features.
bool IsFittedHead(const ModelSpec& model);

// Makes the paths of model.weights, model.torch_script and model.outputs absolute (relative ones start at `folder`;
// "data:PATH" is unchanged) and sets missing SHA-256s. A missing file whose SHA-256 is given is not a problem, because
// its results may be in the store. Names with "{split}" or "{seed}" are left to ResolveSplitFiles(). Problems, with the
// field's path below MethodSpec: a missing file, a file that has no weights or has another format's name
// (core/files/formats/header_check.h), weights that need code (core/files/formats/torch_file.h), a SHA-256 that is
// invalid or not the file's, "data:" without a SHA-256, split_sha256 without "{split}".
std::vector<FieldProblem> ResolveModelFiles(const std::string& folder, ModelSpec* model);

// Whether the files differ between splits, or outputs between seeds: their path contains "{split}" or "{seed}".
bool IsOfSplit(const ModelSpec& model);
bool IsOfSeed(const ModelSpec& model);

// Of weights: extends split_sha256 to the largest of `splits` and sets the digests of the files of these splits;
// unknown digests of other splits are "". Of outputs: sets of_trial for these splits and seeds. Does nothing for names
// without "{split}" and "{seed}". Problems: as ResolveModelFiles(), one for each digest.
// Precondition: ResolveModelFiles() had no problem with the model.
std::vector<FieldProblem> ResolveSplitFiles(const std::vector<int>& splits, const std::vector<uint64_t>& seeds,
                                            ModelSpec* model);

// Returns the model for a split and a seed: its files and digests replace "{split}" and "{seed}". Precondition:
// ResolveSplitFiles() was called for both.
ModelSpec ModelOfSplit(const ModelSpec& model, int split, uint64_t seed);

// The model with its validation outputs instead of its outputs for the test samples. Precondition:
// model.outputs.validation_file is set, and ModelOfSplit() was called.
ModelSpec OnValidationFile(const ModelSpec& model);

// The path of the file: a path is unchanged; "data:PATH" is below the first of the folders that has it. Errors:
// kNotFound, with the folders.
absl::StatusOr<std::string> FindModelFile(const std::string& file, const std::vector<std::string>& data_folders);

// Checks that the files of a model that will run exist. Errors: kNotFound, with the file.
absl::Status CheckModelFiles(const ModelSpec& model, const std::vector<std::string>& data_folders);

// Leaves only the name of each file with an absolute path, for records, which others read. Returns these paths.
std::vector<std::string> KeepFileNames(ModelSpec* model);

// The opposite: sets the path of each file that is not where its path says. It is in the first of these folders that
// has a file of that name with its SHA-256. Errors: kNotFound, with the file, its SHA-256 and what to do.
absl::Status FindFilesByName(const std::vector<std::string>& folders, ModelSpec* model);

// The names and digests of a model's files, for messages: "net.npz (SHA-256 53f2...)"; "" if it has none.
std::string FilesText(const ModelSpec& model);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_MODEL_FILES_H_
