#include "models/script_file.h"

#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/formats/header_check.h"
#include "core/tensor/torch_error.h"
#include "core/text/one_line.h"

namespace openset {
namespace {

constexpr size_t kFormatBytes = 1000;

// The folder of a script's code in the archive.
bool HasCode(absl::string_view bytes) { return absl::StrContains(bytes, "/code/"); }

}  // namespace

std::string WhatFailed(const std::exception& error) {
  const auto* c10_error = dynamic_cast<const c10::Error*>(&error);
  const std::string text = c10_error != nullptr ? c10_error->what_without_backtrace() : error.what();
  // A failure inside a script ends with the error itself, after the script's lines.
  std::string last;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "RuntimeError: ")) last = std::string(line);
  }
  return OneLine(absl::StripAsciiWhitespace(last.empty() ? text : last));
}

absl::StatusOr<torch::jit::Module> ReadScript(const std::string& bytes, at::Device device) {
  const absl::StatusOr<WeightsFormat> format = WeightsFormatOf("", absl::string_view(bytes).substr(0, kFormatBytes));
  if (!format.ok() || *format == WeightsFormat::kSafetensors) {
    return absl::InvalidArgumentError(absl::StrCat("is not a TorchScript archive (it ",
                                                   format.ok() ? "is a safetensors file" : format.status().message(),
                                                   "); save one with torch.jit.script(model).save(FILE)"));
  }
  if (*format == WeightsFormat::kPickle || !HasCode(bytes)) {
    return absl::InvalidArgumentError(
        "holds Python objects without code, as torch.save() writes them; name the network whose weights they are with "
        "--network, or save the network with "
        "torch.jit.script(model).save(FILE), or its weights with safetensors.torch.save_file(model.state_dict(), "
        "FILE)");
  }
  try {
    std::istringstream stream(bytes);
    return torch::jit::load(stream, device, /*load_debug_files=*/false);
  } catch (const std::exception& error) {
    if (CodeOfTorchError(error) != absl::StatusCode::kInternal) throw;  // not an error of the file
    return absl::InvalidArgumentError(absl::StrCat("can't be read as TorchScript: ", WhatFailed(error)));
  }
}

}  // namespace openset
