// The files that a model's spec names.
#ifndef OPENSET_EXPERIMENTS_SPEC_MODEL_FILES_H_
#define OPENSET_EXPERIMENTS_SPEC_MODEL_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/proto/proto_rules.h"
#include "models/model.pb.h"

namespace openset {

// Makes the paths of model.weights and model.torch_script absolute, `folder` being where relative ones start, and sets
// the SHA-256 of those that have none. A file that is not there and has a SHA-256 is no problem: its results may be in
// the store. Problems, with the field's path below MethodSpec: a file that is not there, a SHA-256 that is none or is
// not the file's.
std::vector<FieldProblem> ResolveModelFiles(const std::string& folder, ModelSpec* model);

// Whether the files are there, for a model that is to be run. Errors: kNotFound, with the file.
absl::Status CheckModelFiles(const ModelSpec& model);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_MODEL_FILES_H_
