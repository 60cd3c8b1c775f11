#include "models/import_weights.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/files/digest.h"
#include "core/status_macros.h"
#include "models/script_file.h"

namespace openset {
namespace {

constexpr char kParallel[] = "module.";
constexpr char kBackbone[] = "backbone.";
constexpr char kHead[] = "head.";
// Names of each kind of problem that a message lists.
constexpr size_t kMaxListed = 4;

// A tensor of the file under the model's name for it.
struct Given {
  std::string name;  // in the file
  at::Tensor tensor;
};

std::map<std::string, Given> InOurNames(const TensorMap& given) {
  const auto all_or_any = [&given](const char* prefix, bool all) {
    const auto starts = [prefix](const auto& entry) { return absl::StartsWith(entry.first, prefix); };
    return all ? std::all_of(given.begin(), given.end(), starts) : std::any_of(given.begin(), given.end(), starts);
  };
  const bool parallel = all_or_any(kParallel, true);
  const bool ours = all_or_any(parallel ? "module.backbone." : kBackbone, false);
  std::map<std::string, Given> named;
  for (const auto& [file_name, tensor] : given) {
    absl::string_view name = file_name;
    if (parallel) absl::ConsumePrefix(&name, kParallel);
    std::string our_name(name);
    if (!ours) our_name = absl::ConsumePrefix(&name, "fc.") ? absl::StrCat(kHead, name) : absl::StrCat(kBackbone, name);
    named[our_name] = {file_name, tensor};
  }
  return named;
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

std::string ShapeText(const at::Tensor& tensor) { return absl::StrCat("[", absl::StrJoin(tensor.sizes(), ", "), "]"); }

}  // namespace

absl::Status ImportTensors(const TensorMap& given, WeightsSpec::Head head, Model* model) {
  std::map<std::string, Given> named = InOurNames(given);
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
                     only_head ? "Set weights.head to SKIP to start the head anew"
                               : "Is the backbone's configuration (variant, width, channels) that of the file?"));
  }
  return SetState(state, model);
}

absl::Status ImportWeights(const WeightsSpec& spec, Model* model) {
  OPENSET_ASSIGN_OR_RETURN(const std::string bytes, ReadFileWithDigest(spec.file(), spec.sha256()));
  const absl::StatusOr<TensorMap> given = IsTorchArchive(bytes) ? ReadArchiveTensors(bytes) : DecodeTensors(bytes);
  if (!given.ok()) return Annotate(given.status(), spec.file());
  return Annotate(ImportTensors(*given, spec.head(), model), spec.file());
}

}  // namespace openset
