#include "models/import_weights.h"

#include <fnmatch.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "core/files/digest.h"
#include "core/files/formats/header_check.h"
#include "core/files/formats/torch_file.h"
#include "core/status_macros.h"
#include "models/script_file.h"

namespace openset {
namespace {

constexpr char kParallel[] = "module.";
constexpr char kBackbone[] = "backbone.";
constexpr char kHead[] = "head.";
// The name of a module of residual networks in OpenOOD and others, and in torchvision.
constexpr char kShortcut[] = ".shortcut.", kDownsample[] = ".downsample.";
// The most names that a message lists for each kind of problem.
constexpr size_t kMaxListed = 4;

// A tensor of the file, with the model's name for it.
struct Given {
  std::string name;  // in the file
  at::Tensor tensor;
};

// Whether `pattern`, with * and ?, matches the complete `text`.
bool Matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), FNM_NOESCAPE) == 0;
}

// The tensors by our names, without the ignored ones.
absl::StatusOr<std::map<std::string, Given>> InOurNames(const TensorMap& given, const WeightsSpec& spec,
                                                        std::vector<std::string>* ignored) {
  const bool parallel = std::all_of(given.begin(), given.end(),
                                    [](const auto& entry) { return absl::StartsWith(entry.first, kParallel); });
  std::vector<bool> pattern_used(spec.ignore_size(), false), rename_used(spec.rename_size(), false);
  std::map<std::string, Given> named;
  for (const auto& [file_name, tensor] : given) {
    std::string name(absl::StripPrefix(file_name, parallel ? kParallel : ""));
    bool is_ignored = false;
    for (int i = 0; i < spec.ignore_size(); ++i) {
      if (!Matches(spec.ignore(i), name)) continue;
      is_ignored = pattern_used[i] = true;
    }
    if (is_ignored) {
      if (ignored != nullptr) ignored->push_back(name);
      continue;
    }
    for (int i = 0; i < spec.rename_size(); ++i) {
      if (!absl::StartsWith(name, spec.rename(i).from())) continue;
      name = absl::StrCat(spec.rename(i).to(), name.substr(spec.rename(i).from().size()));
      rename_used[i] = true;
    }
    if (const auto [place, is_new] = named.try_emplace(name, Given{file_name, tensor}); !is_new) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", place->second.name, "' and '", file_name, "' are both called '", name, "' after rename"));
    }
  }
  for (int i = 0; i < spec.ignore_size(); ++i) {
    if (pattern_used[i]) continue;
    return absl::InvalidArgumentError(absl::StrCat("ignore[", i, "]: no tensor is called '", spec.ignore(i), "'"));
  }
  for (int i = 0; i < spec.rename_size(); ++i) {
    if (rename_used[i]) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("rename[", i, "]: the name of no tensor begins with '", spec.rename(i).from(), "'"));
  }

  const bool ours = std::any_of(named.begin(), named.end(),
                                [](const auto& entry) { return absl::StartsWith(entry.first, kBackbone); });
  if (ours) return named;
  std::map<std::string, Given> in_ours;
  for (auto& [given_name, tensor] : named) {
    absl::string_view name = given_name;
    // The indices in the windows of a Swin transformer, which are not weights.
    if (absl::EndsWith(name, "relative_position_index")) continue;
    const bool is_head = absl::ConsumePrefix(&name, "fc.") || absl::ConsumePrefix(&name, "classifier.") ||
                         absl::ConsumePrefix(&name, kHead);
    std::string our_name =
        absl::StrCat(is_head ? kHead : kBackbone, absl::StrReplaceAll(name, {{kShortcut, kDownsample}}));
    if (const auto [place, is_new] = in_ours.try_emplace(std::move(our_name), tensor); !is_new) {
      return absl::InvalidArgumentError(absl::StrCat("'", place->second.name, "' and '", tensor.name, "' both mean '",
                                                     place->first, "': ignore one of them (weights.ignore)"));
    }
  }
  return in_ours;
}

// "3 tensors are missing: 'a', 'b', ..." or nothing.
void Describe(absl::string_view what, const std::vector<std::string>& names, std::vector<std::string>* problems) {
  if (names.empty()) return;
  const std::vector<std::string> listed(names.begin(), names.begin() + std::min(names.size(), kMaxListed));
  problems->push_back(absl::StrCat(names.size(), names.size() == 1 ? " tensor is " : " tensors are ", what, ": ",
                                   absl::StrJoin(listed, ", "), names.size() > kMaxListed ? ", ..." : ""));
}

bool IsCount(const std::string& name) { return absl::EndsWith(name, "num_batches_tracked"); }

bool IsConvertible(const std::string& name, const at::Tensor& from, const at::Tensor& to) {
  return !from.is_complex() && (IsCount(name) || from.is_floating_point() == to.is_floating_point());
}

// Reads a file that torch.save() did not write: a TorchScript archive or safetensors, depending on its content.
absl::StatusOr<TensorMap> ReadTensors(const std::string& bytes, const std::string& file) {
  if (bytes.empty()) return absl::DataLossError("is empty");
  if (IsTorchArchive(bytes)) return ReadArchiveTensors(bytes);
  absl::StatusOr<TensorMap> tensors = DecodeTensors(bytes);
  if (tensors.ok() || absl::EndsWith(file, ".safetensors")) return tensors;
  return absl::InvalidArgumentError(
      "is neither a safetensors file nor an archive of torch.save() or TorchScript, which begin with \"PK\"; load "
      "a file of PyTorch before 1.6 with PyTorch and save it again");
}

std::string ShapeText(const at::Tensor& tensor) { return absl::StrCat("[", absl::StrJoin(tensor.sizes(), ", "), "]"); }

}  // namespace

absl::Status ImportTensors(const TensorMap& given, const WeightsSpec& spec, Model* model,
                           std::vector<std::string>* ignored) {
  const WeightsSpec::Head head = spec.head();
  OPENSET_ASSIGN_OR_RETURN(auto named, InOurNames(given, spec, ignored));
  TensorMap state = StateOf(*model);
  std::vector<std::string> missing, misshaped, left_over;
  bool only_head = true;
  for (auto& [name, tensor] : state) {
    const bool is_head = absl::StartsWith(name, kHead);
    const auto found = named.find(name);
    if (is_head && head == WeightsSpec::SKIP) continue;
    if (found == named.end()) {
      if (IsCount(name)) continue;
      missing.push_back(absl::StrCat("'", name, "'"));
      only_head = only_head && is_head;
      continue;
    }
    const auto& [file_name, value] = found->second;
    if (value.sizes() != tensor.sizes() || !IsConvertible(name, value, tensor)) {
      misshaped.push_back(absl::StrCat("'", file_name, "' (", c10::toString(value.scalar_type()), " ", ShapeText(value),
                                       ", not ", ShapeText(tensor), ")"));
      only_head = only_head && is_head;
    } else {
      tensor = value.to(tensor.scalar_type());
    }
    named.erase(found);
  }
  for (const auto& [name, value] : named) {
    const bool is_head = absl::StartsWith(name, kHead);
    if (is_head && head == WeightsSpec::SKIP) continue;
    left_over.push_back(absl::StrCat("'", value.name, "'"));
    only_head = only_head && is_head;
  }
  std::vector<std::string> problems;
  Describe("missing", missing, &problems);
  Describe("of another shape", misshaped, &problems);
  Describe("not of this model", left_over, &problems);
  if (!problems.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the weights don't fit the model: ", absl::StrJoin(problems, "; "), ". ",
                     only_head ? "Set weights.head to SKIP to start with a new head"
                               : "Is the backbone's configuration (variant, width, channels) that of the file?"));
  }
  return SetState(state, model);
}

absl::Status ImportWeights(const WeightsSpec& spec, Model* model, std::vector<std::string>* ignored) {
  OPENSET_RETURN_IF_ERROR(CheckWeightsHeader(spec.file()));
  OPENSET_ASSIGN_OR_RETURN(const std::string bytes, ReadFileWithDigest(spec.file(), spec.sha256()));
  TensorMap given;
  if (IsTorchSave(bytes)) {
    OPENSET_ASSIGN_OR_RETURN(auto arrays, DecodeTorchFile(bytes), spec.file());
    for (auto& [name, array] : arrays) given[name] = TensorOf({array.type, array.shape, array.data});
  } else {
    OPENSET_ASSIGN_OR_RETURN(given, ReadTensors(bytes, spec.file()), spec.file());
  }
  return Annotate(ImportTensors(given, spec, model, ignored), spec.file());
}

}  // namespace openset
