#include "core/files/formats/header_check.h"

#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/files/formats/safetensors.h"
#include "core/files/formats/zip_reader.h"
#include "core/files/input_file.h"
#include "core/status_macros.h"

namespace openset {
namespace {

// Bytes that an archive may have in addition to its tensors: in all, and for each of them.
constexpr int64_t kMoreBytes = 1 << 20, kMoreBytesOfMember = 1024;

constexpr absl::string_view kArchiveBegin = "PK\x03\x04";
constexpr size_t kFormatBytes = 1000;  // enough to tell the formats

constexpr const char* kTorchEndings[] = {".pth", ".pt", ".bin", ".ckpt", ".tar", ".pkl", ".th"};

// How other files begin that people give as weights.
constexpr std::pair<const char*, const char*> kOthers[] = {
    {"version https://git-lfs",
     "is a Git LFS pointer, a few lines of text in place of the file: download the file itself (git lfs pull, or the "
     "web page's download link)"},
    {"<!doctype html", "is a web page, which a server sent instead of the file: download it again"},
    {"<html", "is a web page, which a server sent instead of the file: download it again"},
    {"<?xml", "is an XML text, which a server sent instead of the file: download it again"},
    {"{\"", "is a JSON text, which a server may have sent instead of the file: download it again"},
    {"\x89HDF", "is an HDF5 file, as Keras writes: convert its weights to PyTorch's and save them with torch.save()"},
    {"\x1f\x8b", "is compressed with gzip: unpack it first"},
    {"7z\xbc\xaf", "is a 7z archive: unpack it first"},
    {"Rar!", "is a RAR archive: unpack it first"},
};

// Pickles of protocol 2 to 5, as torch.save() wrote before PyTorch 1.6.
bool IsPickle(absl::string_view begin) {
  return begin.size() > 2 && begin[0] == '\x80' && begin[1] >= 2 && begin[1] <= 5;
}

// The header's length in 8 bytes, of which the last are 0, and a JSON object.
bool IsSafetensors(absl::string_view begin) {
  return begin.size() > 8 && begin[8] == '{' && begin.substr(4, 4) == absl::string_view("\0\0\0\0", 4);
}

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

absl::StatusOr<WeightsFormat> WeightsFormatOf(const std::string& path, absl::string_view begin) {
  if (begin.empty()) return absl::DataLossError("is empty");
  const std::string name = absl::AsciiStrToLower(path);
  const bool is_named_safetensors = absl::EndsWith(name, ".safetensors");
  if (IsSafetensors(begin)) {
    for (const char* ending : kTorchEndings) {
      if (!absl::EndsWith(name, ending)) continue;
      return absl::InvalidArgumentError(absl::StrCat("is a safetensors file, not one of torch.save() as the ending ",
                                                     ending, " says: rename it to .safetensors"));
    }
    return WeightsFormat::kSafetensors;
  }
  const bool is_archive = absl::StartsWith(begin, kArchiveBegin);
  if (is_archive || IsPickle(begin)) {
    if (is_named_safetensors) {
      return absl::InvalidArgumentError(
          "is a file of torch.save() or TorchScript, not a safetensors file as its name says: rename it to .pth if you "
          "trust it, or save it with safetensors.torch.save_file()");
    }
    return is_archive ? WeightsFormat::kArchive : WeightsFormat::kPickle;
  }
  const absl::string_view text = absl::StripLeadingAsciiWhitespace(absl::StripPrefix(begin, "\xef\xbb\xbf"));
  for (const auto& [mark, what] : kOthers) {
    if (absl::StartsWithIgnoreCase(text, mark)) return absl::InvalidArgumentError(what);
  }
  if (is_named_safetensors) return WeightsFormat::kSafetensors;  // whose reader says what is wrong with it
  return absl::InvalidArgumentError("is neither a safetensors file nor a file of torch.save() or TorchScript");
}

absl::Status CheckWeightsHeader(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(Beginning beginning, ReadBeginning(path));
  if (beginning.bytes.empty()) return absl::OkStatus();
  if (absl::StartsWith(beginning.bytes, kArchiveBegin)) return CheckMembers(std::move(beginning.file));
  if (CheckSafetensorsBeginning(beginning.bytes, beginning.file.bytes()).ok()) return absl::OkStatus();
  if (!IsSafetensors(beginning.bytes) && IsPickle(beginning.bytes)) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(path, ": is neither a safetensors file nor an archive of torch.save() or TorchScript"));
}

absl::Status CheckWeightsFile(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(InputFile file, OpenRegularFile(path));
  std::string begin(kFormatBytes, '\0');
  OPENSET_ASSIGN_OR_RETURN(const size_t got, file.Read(begin.data(), begin.size()));
  begin.resize(got);
  OPENSET_RETURN_IF_ERROR(Annotate(WeightsFormatOf(path, begin).status(), path));
  return CheckWeightsHeader(path);
}

}  // namespace openset
