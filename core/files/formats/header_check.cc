#include "core/files/formats/header_check.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/files/formats/safetensors.h"
#include "core/files/formats/zip_reader.h"
#include "core/files/input_file.h"
#include "core/status_macros.h"

namespace openset {
namespace {

// Bytes that an archive may have in addition to its tensors: in all, and for each of them.
constexpr int64_t kMoreBytes = 1 << 20, kMoreBytesOfMember = 1024;

struct Beginning {
  InputFile file;
  std::string bytes;  // "" for a file that is too small to check
};

absl::StatusOr<Beginning> ReadBeginning(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(InputFile file, OpenRegularFile(path));
  Beginning beginning{std::move(file), ""};
  if (beginning.file.bytes() < kHeaderCheckBytes) return beginning;
  beginning.bytes.resize(kHeaderCheckBytes);
  OPENSET_ASSIGN_OR_RETURN(const size_t got, beginning.file.Read(beginning.bytes.data(), beginning.bytes.size()));
  beginning.bytes.resize(got);
  return beginning;
}

absl::Status CheckMembers(InputFile file) {
  const std::string path = file.path();
  const int64_t file_bytes = file.bytes();
  const absl::StatusOr<ZipReader> zip = ZipReader::Open(std::move(file));
  if (absl::IsInvalidArgument(zip.status())) return absl::DataLossError(absl::StrCat(path, ": not a zip archive"));
  if (!zip.ok()) return Annotate(zip.status(), path);
  const auto members = static_cast<int64_t>(zip->Names().size());
  const int64_t others = kMoreBytes + kMoreBytesOfMember * members;
  if (file_bytes - others <= zip->PackedBytes()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(path, ": has ", file_bytes, " bytes, of which the members in its list take ", zip->PackedBytes()));
}

}  // namespace

absl::Status CheckSafetensorsHeader(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(const Beginning beginning, ReadBeginning(path));
  if (beginning.bytes.empty()) return absl::OkStatus();
  return Annotate(CheckSafetensorsBeginning(beginning.bytes, beginning.file.bytes()), path);
}

absl::Status CheckZipMembers(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(InputFile file, OpenRegularFile(path));
  return file.bytes() < kHeaderCheckBytes ? absl::OkStatus() : CheckMembers(std::move(file));
}

absl::Status CheckWeightsHeader(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(Beginning beginning, ReadBeginning(path));
  if (beginning.bytes.empty()) return absl::OkStatus();
  if (absl::StartsWith(beginning.bytes, "PK\x03\x04")) return CheckMembers(std::move(beginning.file));
  if (CheckSafetensorsBeginning(beginning.bytes, beginning.file.bytes()).ok()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(path, ": is neither a safetensors file nor an archive of torch.save() or TorchScript"));
}

}  // namespace openset
