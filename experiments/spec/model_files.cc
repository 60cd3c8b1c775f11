#include "experiments/spec/model_files.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/files/digest_cache.h"
#include "core/files/files.h"
#include "core/status_macros.h"

namespace openset {
namespace {

bool IsSha256(const std::string& text) {
  return text.size() == 64 &&
         std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f'); });
}

// `Spec` has a file and its sha256.
template <typename Spec>
void Resolve(const std::string& folder, const std::string& path, Spec* spec, std::vector<FieldProblem>* problems) {
  if (spec->has_sha256() && !IsSha256(spec->sha256())) {
    problems->push_back({absl::StrCat(path, ".sha256"), "must be 64 digits of 0-9 and a-f"});
  }
  if (!spec->has_file()) return;
  const std::filesystem::path file = std::filesystem::path(folder) / spec->file();
  spec->set_file(std::filesystem::absolute(file).lexically_normal().string());
  if (!FileExists(spec->file()) && spec->has_sha256()) return;
  absl::StatusOr<std::string> sha256 = DigestCache::OfUser().Sha256Hex(spec->file());
  if (!sha256.ok()) {
    problems->push_back({absl::StrCat(path, ".file"), std::string(sha256.status().message())});
  } else if (!spec->has_sha256()) {
    spec->set_sha256(*std::move(sha256));
  } else if (spec->sha256() != *sha256) {
    problems->push_back(
        {absl::StrCat(path, ".sha256"), absl::StrCat("that of ", spec->file(), " is ", *sha256,
                                                     ": put back the file that was meant, or correct this")});
  }
}

absl::Status Check(const std::string& file) {
  if (FileExists(file)) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("no such file: ", file));
}

}  // namespace

std::vector<FieldProblem> ResolveModelFiles(const std::string& folder, ModelSpec* model) {
  std::vector<FieldProblem> problems;
  if (model->has_weights()) Resolve(folder, "model.weights", model->mutable_weights(), &problems);
  if (model->has_torch_script()) Resolve(folder, "model.torch_script", model->mutable_torch_script(), &problems);
  return problems;
}

absl::Status CheckModelFiles(const ModelSpec& model) {
  if (model.has_weights()) OPENSET_RETURN_IF_ERROR(Check(model.weights().file()));
  if (model.has_torch_script()) OPENSET_RETURN_IF_ERROR(Check(model.torch_script().file()));
  return absl::OkStatus();
}

}  // namespace openset
