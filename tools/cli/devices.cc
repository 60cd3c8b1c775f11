#include "tools/cli/devices.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/status_macros.h"

namespace openset {
namespace {

// "0 (NVIDIA H200), 1 (NVIDIA A100)".
std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) absl::StrAppend(&text, i > 0 ? ", " : "", i, " (", names[i], ")");
  return text.empty() ? "none" : text;
}

}  // namespace

absl::StatusOr<Devices> ChooseDevices(const std::string& flag, bool built_with_cuda,
                                      const std::function<absl::StatusOr<std::vector<std::string>>()>& gpu_names) {
  if (flag == "cpu" || (flag == "auto" && !built_with_cuda)) return Devices{};
  std::vector<int> ordinals;
  if (flag != "auto") {
    const absl::Status invalid =
        absl::InvalidArgumentError(absl::StrCat("'", flag, "' is not auto, cpu or cuda:0,1,..."));
    absl::string_view list = flag;
    if (!absl::ConsumePrefix(&list, "cuda:")) return invalid;
    for (absl::string_view text : absl::StrSplit(list, ',')) {
      int ordinal = -1;
      if (!absl::SimpleAtoi(text, &ordinal) || ordinal < 0) return invalid;
      if (std::count(ordinals.begin(), ordinals.end(), ordinal) > 0) {
        return absl::InvalidArgumentError(absl::StrCat("GPU ", ordinal, " is named twice"));
      }
      ordinals.push_back(ordinal);
    }
    if (!built_with_cuda) {
      return absl::InvalidArgumentError("this program was built without CUDA; build with --config=cuda");
    }
  }
  absl::StatusOr<std::vector<std::string>> names = gpu_names();
  if (absl::IsNotFound(names.status())) names = std::vector<std::string>{};
  OPENSET_RETURN_IF_ERROR(names.status());
  if (flag == "auto") {
    if (names->empty()) return Devices{};
    ordinals.resize(names->size());
    std::iota(ordinals.begin(), ordinals.end(), 0);
  }
  for (const int ordinal : ordinals) {
    if (ordinal >= names->size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no GPU ", ordinal, "; the driver shows ", Listed(*names)));
    }
    if ((*names)[ordinal] != (*names)[ordinals[0]]) {
      return absl::InvalidArgumentError(absl::StrCat("the GPUs are of different kinds: ", Listed(*names),
                                                     "; name those of one kind, as each has numbers of its own"));
    }
  }
  return Devices{ExecutionSpec::CUDA, ordinals, (*names)[ordinals[0]]};
}

}  // namespace openset
