#include "experiments/spec/model_files.h"

#include <filesystem>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/files/digest_cache.h"
#include "core/files/files.h"
#include "core/files/formats/header_check.h"
#include "core/files/formats/npz.h"
#include "core/files/formats/torch_file.h"
#include "core/logging.h"
#include "core/status_macros.h"
#include "core/text/hex.h"
#include "core/text/one_line.h"

namespace openset {
namespace {

constexpr absl::string_view kData = "data:";
constexpr absl::string_view kSplit = "{split}";
constexpr absl::string_view kSeed = "{seed}";

std::string FileOfSplit(const std::string& file, int split, uint64_t seed = 0) {
  return absl::StrReplaceAll(file, {{kSplit, absl::StrCat(split)}, {kSeed, absl::StrCat(seed)}});
}

bool HasPlace(const std::string& file) { return absl::StrContains(file, kSplit) || absl::StrContains(file, kSeed); }

bool HasPlaces(const OutputsSpec& outputs) {
  return HasPlace(outputs.file()) || HasPlace(outputs.fit_file()) || HasPlace(outputs.validation_file());
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
    problems->push_back({digest_path, absl::StrCat(file, " has the SHA-256 ", *sha256,
                                                   ": restore the original file, or correct this")});
  }
}

std::string Absolute(const std::string& folder, const std::string& file) {
  if (absl::StartsWith(file, kData)) return file;
  return AbsolutePath(JoinPath(folder, file));
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

// Notes what a file of outputs has; `is_first`: no other file of the model was looked at. What one file lacks, the
// model lacks.
void NoteArrays(const std::string& file, bool is_first, OutputsSpec* outputs) {
  const absl::StatusOr<std::vector<std::string>> names = NpzNames(file);
  if (!names.ok()) return;  // a table, or a file that is not here; reading it says what is wrong
  const auto has = [&](const char* name) { return absl::c_linear_search(*names, name); };
  outputs->set_features(has("features") && (is_first || outputs->features()));
  outputs->set_head(has("features") && has("head_weight") && (is_first || outputs->head()));
}

// Sets the digest of a file of outputs; `field` is "file" and so on.
void ResolveOutputsFile(const std::string& field, const std::string& file, std::string* sha256,
                        std::vector<FieldProblem>* problems) {
  const std::string path = absl::StrCat("model.outputs.", field);
  ResolveDigest(file, path, absl::StrReplaceAll(path, {{"file", "sha256"}}), nullptr, sha256, problems);
}

void ResolveOutputs(const std::string& folder, OutputsSpec* outputs, std::vector<FieldProblem>* problems) {
  if (!outputs->has_file()) return;
  outputs->set_file(Absolute(folder, outputs->file()));
  if (outputs->has_fit_file()) outputs->set_fit_file(Absolute(folder, outputs->fit_file()));
  if (outputs->has_validation_file()) outputs->set_validation_file(Absolute(folder, outputs->validation_file()));
  for (const auto& [field, file] : {std::pair{"file", outputs->file()},
                                    {"fit_file", outputs->fit_file()},
                                    {"validation_file", outputs->validation_file()}}) {
    if (!absl::StartsWith(file, kData)) continue;
    problems->push_back({absl::StrCat("model.outputs.", field), "must be a path, not one of the data folders"});
  }
  if (outputs->has_validation_file() && !absl::EndsWith(absl::AsciiStrToLower(outputs->validation_file()), ".npz")) {
    problems->push_back({"model.outputs.validation_file", "must be an .npz, which says its groups and classes"});
  }
  if (!problems->empty()) return;
  if (HasPlaces(*outputs)) {
    if (outputs->has_sha256() || outputs->has_fit_sha256() || outputs->has_validation_sha256()) {
      problems->push_back({"model.outputs.sha256", "is for one file, and {split} or {seed} names several"});
    }
    return;
  }
  std::string sha256 = outputs->sha256();
  ResolveOutputsFile("file", outputs->file(), &sha256, problems);
  if (!sha256.empty()) outputs->set_sha256(sha256);
  NoteArrays(outputs->file(), /*is_first=*/true, outputs);
  if (outputs->has_fit_file()) {
    std::string fit_sha256 = outputs->fit_sha256();
    ResolveOutputsFile("fit_file", outputs->fit_file(), &fit_sha256, problems);
    if (!fit_sha256.empty()) outputs->set_fit_sha256(fit_sha256);
  }
  if (!outputs->has_validation_file()) return;
  std::string validation_sha256 = outputs->validation_sha256();
  ResolveOutputsFile("validation_file", outputs->validation_file(), &validation_sha256, problems);
  if (!validation_sha256.empty()) outputs->set_validation_sha256(validation_sha256);
  NoteArrays(outputs->validation_file(), /*is_first=*/false, outputs);
}

// Adds the digests of the files of a split and a seed, unless they are there.
void ResolveOutputsOfTrial(int split, uint64_t seed, OutputsSpec* outputs, std::vector<FieldProblem>* problems) {
  OutputsDigest* digest = nullptr;
  for (OutputsDigest& known : *outputs->mutable_of_trial()) {
    if (known.split() == split && known.seed() == seed) digest = &known;
  }
  const bool is_first = outputs->of_trial().empty();
  if (digest == nullptr) {
    digest = outputs->add_of_trial();
    digest->set_split(split);
    digest->set_seed(seed);
  }
  const std::string file = FileOfSplit(outputs->file(), split, seed);
  ResolveOutputsFile("file", file, digest->mutable_sha256(), problems);
  if (outputs->has_fit_file()) {
    ResolveOutputsFile("fit_file", FileOfSplit(outputs->fit_file(), split, seed), digest->mutable_fit_sha256(),
                       problems);
  }
  NoteArrays(file, is_first, outputs);
  if (!outputs->has_validation_file()) return;
  const std::string validation_file = FileOfSplit(outputs->validation_file(), split, seed);
  ResolveOutputsFile("validation_file", validation_file, digest->mutable_validation_sha256(), problems);
  NoteArrays(validation_file, /*is_first=*/false, outputs);
}

// The file and its SHA-256 of each field of the model that names one.
struct NamedFile {
  std::string* file;
  std::string sha256;
};

std::vector<NamedFile> FilesOf(ModelSpec* model) {
  std::vector<NamedFile> files;
  if (model->weights().has_file()) {
    files.push_back({model->mutable_weights()->mutable_file(), model->weights().sha256()});
  }
  if (model->torch_script().has_file()) {
    files.push_back({model->mutable_torch_script()->mutable_file(), model->torch_script().sha256()});
  }
  if (!model->has_outputs()) return files;
  OutputsSpec* const outputs = model->mutable_outputs();
  if (outputs->has_file()) files.push_back({outputs->mutable_file(), outputs->sha256()});
  if (outputs->has_fit_file()) files.push_back({outputs->mutable_fit_file(), outputs->fit_sha256()});
  if (outputs->has_validation_file()) {
    files.push_back({outputs->mutable_validation_file(), outputs->validation_sha256()});
  }
  return files;
}

std::string NameOf(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::string FileText(const NamedFile& named) {
  return absl::StrCat(OneLine(NameOf(*named.file)), " (SHA-256 ", OneLine(named.sha256), ")");
}

}  // namespace

bool IsFittedHead(const ModelSpec& model) {
  return model.has_features() && model.features().fitted_case() != FeaturesSpec::FITTED_NOT_SET;
}

ModelSpec OnValidationFile(const ModelSpec& model) {
  ModelSpec on_validation = model;
  OutputsSpec* outputs = on_validation.mutable_outputs();
  outputs->set_file(model.outputs().validation_file());
  outputs->set_sha256(model.outputs().validation_sha256());
  outputs->clear_validation_file();
  outputs->clear_validation_sha256();
  return on_validation;
}

bool UsesArraysOnly(const ModelSpec& model) { return model.has_outputs() || IsFittedHead(model); }

std::vector<FieldProblem> ResolveModelFiles(const std::string& folder, ModelSpec* model) {
  std::vector<FieldProblem> problems;
  if (model->has_outputs()) ResolveOutputs(folder, model->mutable_outputs(), &problems);
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

bool IsOfSplit(const ModelSpec& model) {
  return absl::StrContains(model.weights().file(), kSplit) || HasPlaces(model.outputs());
}

bool IsOfSeed(const ModelSpec& model) {
  const OutputsSpec& outputs = model.outputs();
  return absl::StrContains(outputs.file(), kSeed) || absl::StrContains(outputs.fit_file(), kSeed) ||
         absl::StrContains(outputs.validation_file(), kSeed);
}

std::vector<FieldProblem> ResolveSplitFiles(const std::vector<int>& splits, const std::vector<uint64_t>& seeds,
                                            ModelSpec* model) {
  std::vector<FieldProblem> problems;
  if (!IsOfSplit(*model)) return problems;
  if (model->has_outputs()) {
    for (const int split : splits) {
      for (const uint64_t seed : seeds) ResolveOutputsOfTrial(split, seed, model->mutable_outputs(), &problems);
    }
    return problems;
  }
  WeightsSpec* weights = model->mutable_weights();
  for (const int split : splits) {
    while (weights->split_sha256_size() <= split) weights->add_split_sha256();
    ResolveDigest(FileOfSplit(weights->file(), split), "model.weights.file",
                  absl::StrCat("model.weights.split_sha256[", split, "]"), &CheckWeights,
                  weights->mutable_split_sha256(split), &problems);
  }
  return problems;
}

ModelSpec ModelOfSplit(const ModelSpec& model, int split, uint64_t seed) {
  ModelSpec of_split = model;
  if (!IsOfSplit(model)) return of_split;
  if (model.has_outputs()) {
    OutputsSpec* outputs = of_split.mutable_outputs();
    outputs->set_file(FileOfSplit(outputs->file(), split, seed));
    if (outputs->has_fit_file()) outputs->set_fit_file(FileOfSplit(outputs->fit_file(), split, seed));
    const auto found = absl::c_find_if(model.outputs().of_trial(), [&](const OutputsDigest& digest) {
      return digest.split() == split && digest.seed() == seed;
    });
    CHECK(found != model.outputs().of_trial().end());
    outputs->set_sha256(found->sha256());
    if (outputs->has_fit_file()) outputs->set_fit_sha256(found->fit_sha256());
    if (outputs->has_validation_file()) {
      outputs->set_validation_file(FileOfSplit(outputs->validation_file(), split, seed));
      outputs->set_validation_sha256(found->validation_sha256());
    }
    outputs->clear_of_trial();
    return of_split;
  }
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
  ModelSpec copy = model;
  for (const NamedFile& named : FilesOf(&copy)) {
    // Only weights may be below a data folder.
    const bool is_weights = model.has_weights() && *named.file == model.weights().file();
    OPENSET_RETURN_IF_ERROR(
        FindModelFile(*named.file, is_weights ? data_folders : std::vector<std::string>()).status());
  }
  return absl::OkStatus();
}

std::vector<std::string> KeepFileNames(ModelSpec* model) {
  std::vector<std::string> paths;
  for (const NamedFile& named : FilesOf(model)) {
    if (!absl::StartsWith(*named.file, "/")) continue;
    paths.push_back(*named.file);
    *named.file = NameOf(*named.file);
  }
  return paths;
}

absl::Status FindFilesByName(const std::vector<std::string>& folders, ModelSpec* model) {
  for (const NamedFile& named : FilesOf(model)) {
    if (absl::StartsWith(*named.file, kData)) continue;
    if (absl::StartsWith(*named.file, "/") && FileExists(*named.file)) continue;
    const auto found = absl::c_find_if(folders, [&](const std::string& folder) {
      const std::string path = JoinPath(folder, NameOf(*named.file));
      if (!FileExists(path)) return false;
      const absl::StatusOr<std::string> sha256 = DigestCache::OfUser().Sha256Hex(path);
      return sha256.ok() && *sha256 == named.sha256;
    });
    if (found == folders.end()) {
      return absl::NotFoundError(absl::StrCat("the model's file is missing: ", FileText(named),
                                              ": put it into the current folder, or into the methods/ of a --library"));
    }
    *named.file = AbsolutePath(JoinPath(*found, NameOf(*named.file)));  // the spec with it may be in any folder
  }
  return absl::OkStatus();
}

std::string FilesText(const ModelSpec& model) {
  ModelSpec copy = model;
  std::vector<std::string> texts;
  for (const NamedFile& named : FilesOf(&copy)) {
    if (!absl::StartsWith(*named.file, kData)) texts.push_back(FileText(named));
  }
  return absl::StrJoin(texts, ", ");
}

}  // namespace openset
