#include "core/files/npz.h"

#include <minizip/unzip.h>
#include <minizip/zip.h>

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/one_line.h"
#include "core/status_macros.h"

namespace openset {
namespace {

// minizip takes at most this much at once.
constexpr size_t kChunk = 1 << 24;

absl::Status Damaged(const std::string& path, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(path, ": ", what));
}

// The content of the archive's current member.
absl::StatusOr<std::string> ReadMember(const std::string& path, const std::string& name, unzFile zip) {
  if (unzOpenCurrentFile(zip) != UNZ_OK) return Damaged(path, absl::StrCat("cannot open member ", OneLine(name)));
  std::string content;
  std::string chunk(1 << 16, '\0');
  int got;
  while ((got = unzReadCurrentFile(zip, chunk.data(), static_cast<unsigned>(chunk.size()))) > 0) {
    content.append(chunk, 0, got);
  }
  const bool intact = unzCloseCurrentFile(zip) == UNZ_OK && got == 0;  // closing compares the CRC
  if (!intact) return Damaged(path, absl::StrCat("member ", OneLine(name), " is damaged"));
  return content;
}

}  // namespace

absl::Status WriteNpz(const std::string& path, const NpzArrays& arrays) {
  const absl::Status failed = absl::UnavailableError(absl::StrCat("cannot write ", path));
  zipFile zip = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
  if (zip == nullptr) return failed;
  bool ok = true;
  for (const auto& [name, array] : arrays) {
    zip_fileinfo info = {};
    info.dosDate = (1 << 21) | (1 << 16);  // 1980-01-01, the earliest there is
    const std::string bytes = FormatNpy(array);
    ok = ok && zipOpenNewFileInZip64(zip, absl::StrCat(name, ".npy").c_str(), &info, nullptr, 0, nullptr, 0, nullptr,
                                     /*method=*/0, /*level=*/0, bytes.size() >= 0xffffffff) == ZIP_OK;
    for (size_t at = 0; ok && at < bytes.size(); at += kChunk) {
      ok = zipWriteInFileInZip(zip, bytes.data() + at, static_cast<unsigned>(std::min(kChunk, bytes.size() - at))) ==
           ZIP_OK;
    }
    ok = ok && zipCloseFileInZip(zip) == ZIP_OK;
  }
  ok = zipClose(zip, nullptr) == ZIP_OK && ok;
  return ok ? absl::OkStatus() : failed;
}

absl::StatusOr<NpzArrays> ReadNpz(const std::string& path, const std::vector<std::string>& names) {
  if (!FileExists(path)) return absl::NotFoundError(absl::StrCat("cannot open ", path, ": no such file"));
  const std::unique_ptr<void, decltype(&unzClose)> zip(unzOpen64(path.c_str()), &unzClose);
  if (zip == nullptr) return Damaged(path, "not an .npz archive");
  NpzArrays arrays;
  for (int at = unzGoToFirstFile(zip.get()); at != UNZ_END_OF_LIST_OF_FILE; at = unzGoToNextFile(zip.get())) {
    if (at != UNZ_OK) return Damaged(path, "its list of members is damaged");
    unz_file_info64 info;
    char member[4096];
    if (unzGetCurrentFileInfo64(zip.get(), &info, member, sizeof(member), nullptr, 0, nullptr, 0) != UNZ_OK ||
        info.size_filename >= sizeof(member)) {
      return Damaged(path, "its list of members is damaged");
    }
    const std::string name(absl::StripSuffix(member, ".npy"));
    if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end()) continue;
    OPENSET_ASSIGN_OR_RETURN(const std::string content, ReadMember(path, name, zip.get()));
    absl::StatusOr<NpyArray> array = ParseNpy(content);
    if (!array.ok()) return Annotate(array.status(), absl::StrCat(path, ": array '", OneLine(name), "'"));
    arrays[name] = *std::move(array);
  }
  return arrays;
}

}  // namespace openset
