#include "experiments/spec/model_files.h"

#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/files/digest_cache.h"
#include "core/files/files.h"
#include "core/files/formats/header_check.h"
#include "core/files/formats/torch_file.h"
#include "core/logging.h"
#include "core/status_macros.h"
#include "core/text/hex.h"

namespace openset {
namespace {

constexpr absl::string_view kData = "data:";
constexpr absl::string_view kSplit = "{split}";

std::string FileOfSplit(const std::string& file, int split) {
  return absl::StrReplaceAll(file, {{kSplit, absl::StrCat(split)}});
}

// Compares the given digest ("" for none) with the file's, or sets it. `file` is absolute or relative to the data
// folders. `check` is for a file that must be hashed.
void ResolveDigest(const std::string& file, const std::string& file_path, const std::string& digest_path,
                   absl::Status (*check)(const std::string& path), std::string* given,
                   std::vector<FieldProblem>* problems) {
  if (!given->empty() && !IsSha256(*given)) {
    problems->push_back({digest_path, "must be 64 digits of 0-9 and a-f"});
    return;
  }
  if (absl::StartsWith(file, kData)) {
    if (!given->empty()) return;
    problems->push_back({file_path, absl::StrCat(file,
                                                 " is searched for in the data folders when it is needed: "
                                                 "identify the file by its SHA-256")});
    return;
  }
  if (!FileExists(file) && !given->empty()) return;
  absl::StatusOr<std::string> sha256 = DigestCache::OfUser().Sha256Hex(file, check);
  if (!sha256.ok()) {
    problems->push_back({file_path, std::string(sha256.status().message())});
  } else if (given->empty()) {
    *given = *std::move(sha256);
  } else if (*given != *sha256) {
    problems->push_back(
        {digest_path, absl::StrCat("that of ", file, " is ", *sha256, ": restore the original file, or correct this")});
  }
}

std::string Absolute(const std::string& folder, const std::string& file) {
  if (absl::StartsWith(file, kData)) return file;
  std::error_code error;
  return std::filesystem::absolute(std::filesystem::path(folder) / file, error).lexically_normal().string();
}

// Weights are read without running code, unlike networks.
absl::Status CheckWeights(const std::string& path) {
  OPENSET_RETURN_IF_ERROR(CheckWeightsFile(path));
  return CheckRunsNoCode(path);
}

// `Spec` has a file and its sha256.
template <typename Spec>
void Resolve(const std::string& path, absl::Status (*check)(const std::string& path), Spec* spec,
             std::vector<FieldProblem>* problems) {
  std::string sha256 = spec->sha256();
  ResolveDigest(spec->file(), path + ".file", path + ".sha256", check, &sha256, problems);
  if (!sha256.empty()) spec->set_sha256(std::move(sha256));
}

void ResolveWeights(const std::string& folder, WeightsSpec* weights, std::vector<FieldProblem>* problems) {
  const std::string path = "model.weights";
  for (int s = 0; s < weights->split_sha256_size(); ++s) {
    if (weights->split_sha256(s).empty() || IsSha256(weights->split_sha256(s))) continue;
    problems->push_back({absl::StrCat(path, ".split_sha256[", s, "]"), "must be 64 digits of 0-9 and a-f"});
  }
  if (weights->has_sha256() && !IsSha256(weights->sha256())) {
    problems->push_back({path + ".sha256", "must be 64 digits of 0-9 and a-f"});
  }
  if (!weights->has_file() || !problems->empty()) return;
  weights->set_file(Absolute(folder, weights->file()));
  if (!absl::StrContains(weights->file(), kSplit)) {
    if (weights->split_sha256_size() > 0) {
      problems->push_back({path + ".split_sha256", "is for a file with {split} in its name"});
    }
    Resolve(path, &CheckWeights, weights, problems);
  } else if (weights->has_sha256()) {
    problems->push_back({path + ".sha256", "is for one file; with {split} there is one for each split: split_sha256"});
  }
}

}  // namespace

std::vector<FieldProblem> ResolveModelFiles(const std::string& folder, ModelSpec* model) {
  std::vector<FieldProblem> problems;
  if (model->has_weights()) ResolveWeights(folder, model->mutable_weights(), &problems);
  if (model->has_torch_script()) {
    TorchScriptSpec* script = model->mutable_torch_script();
    const std::string path = "model.torch_script";
    if (script->has_file()) {
      script->set_file(Absolute(folder, script->file()));
      Resolve(path, &CheckWeightsHeader, script, &problems);
    } else if (script->has_sha256() && !IsSha256(script->sha256())) {
      problems.push_back({path + ".sha256", "must be 64 digits of 0-9 and a-f"});
    }
  }
  return problems;
}

bool IsOfSplit(const ModelSpec& model) { return absl::StrContains(model.weights().file(), kSplit); }

std::vector<FieldProblem> ResolveSplitFiles(const std::vector<int>& splits, ModelSpec* model) {
  std::vector<FieldProblem> problems;
  if (!IsOfSplit(*model)) return problems;
  WeightsSpec* weights = model->mutable_weights();
  for (const int split : splits) {
    while (weights->split_sha256_size() <= split) weights->add_split_sha256();
    ResolveDigest(FileOfSplit(weights->file(), split), "model.weights.file",
                  absl::StrCat("model.weights.split_sha256[", split, "]"), &CheckWeights,
                  weights->mutable_split_sha256(split), &problems);
  }
  return problems;
}

ModelSpec ModelOfSplit(const ModelSpec& model, int split) {
  ModelSpec of_split = model;
  if (!IsOfSplit(model)) return of_split;
  WeightsSpec* weights = of_split.mutable_weights();
  CHECK(split < weights->split_sha256_size() && !weights->split_sha256(split).empty());
  weights->set_file(FileOfSplit(weights->file(), split));
  weights->set_sha256(weights->split_sha256(split));
  weights->clear_split_sha256();
  return of_split;
}

absl::StatusOr<std::string> FindModelFile(const std::string& file, const std::vector<std::string>& data_folders) {
  absl::string_view path = file;
  if (!absl::ConsumePrefix(&path, kData)) {
    if (FileExists(file)) return file;
    return absl::NotFoundError(absl::StrCat("no such file: ", file));
  }
  for (const std::string& folder : data_folders) {
    std::string found = JoinPath(folder, path);
    if (FileExists(found)) return found;
  }
  return absl::NotFoundError(
      absl::StrCat("no such file in the data folders (", absl::StrJoin(data_folders, ", "), "): ", path));
}

absl::Status CheckModelFiles(const ModelSpec& model, const std::vector<std::string>& data_folders) {
  if (model.has_weights()) OPENSET_RETURN_IF_ERROR(FindModelFile(model.weights().file(), data_folders).status());
  if (model.has_torch_script()) OPENSET_RETURN_IF_ERROR(FindModelFile(model.torch_script().file(), {}).status());
  return absl::OkStatus();
}

}  // namespace openset
