#include "core/files/npz.h"

#include <minizip/unzip.h>
#include <minizip/zip.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <utility>

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

// Begins the member for an array of `bytes` bytes with its header, the same bytes for the same arrays.
bool OpenMember(zipFile zip, const std::string& name, int64_t bytes) {
  zip_fileinfo info = {};
  info.dosDate = (1 << 21) | (1 << 16);  // 1980-01-01, the earliest there is
  return zipOpenNewFileInZip64(zip, absl::StrCat(name, ".npy").c_str(), &info, nullptr, 0, nullptr, 0, nullptr,
                               /*method=*/0, /*level=*/0, bytes >= 0xffffffff) == ZIP_OK;
}

bool WriteBytes(zipFile zip, absl::string_view bytes) {
  for (size_t at = 0; at < bytes.size(); at += kChunk) {
    const absl::string_view chunk = bytes.substr(at, kChunk);
    if (zipWriteInFileInZip(zip, chunk.data(), static_cast<unsigned>(chunk.size())) != ZIP_OK) return false;
  }
  return true;
}

// The content of a file of `bytes` bytes.
bool WriteContent(zipFile zip, const std::string& path, int64_t bytes) {
  std::ifstream file(path, std::ios::binary);
  std::string chunk(kChunk, '\0');
  while (bytes > 0) {
    const int64_t size = std::min<int64_t>(bytes, kChunk);
    if (!file.read(chunk.data(), size) || !WriteBytes(zip, absl::string_view(chunk).substr(0, size))) return false;
    bytes -= size;
  }
  return true;
}

}  // namespace

absl::Status WriteNpz(const std::string& path, const NpzArrays& arrays) { return NpzWriter(path).Finish(arrays); }

NpzWriter::NpzWriter(std::string path) : path_(std::move(path)) {}

NpzWriter::~NpzWriter() { RemoveRows(); }

void NpzWriter::RemoveRows() {
  for (auto& [_, rows] : rows_) {
    rows.file.close();
    std::remove(rows.path.c_str());
  }
  rows_.clear();
}

absl::Status NpzWriter::AppendRows(const std::string& name, const NpyArray& some) {
  Rows& rows = rows_[name];
  if (rows.path.empty()) {
    rows.path = absl::StrCat(path_, ".", name, ".rows");
    rows.file.open(rows.path, std::ios::binary | std::ios::trunc);
    rows.descr = some.descr;
    rows.row_shape.assign(some.shape.begin() + 1, some.shape.end());
  }
  rows.file.write(some.data.data(), static_cast<std::streamsize>(some.data.size()));
  rows.bytes += static_cast<int64_t>(some.data.size());
  rows.count += some.shape[0];
  return rows.file ? absl::OkStatus() : absl::UnavailableError(absl::StrCat("cannot write ", rows.path));
}

absl::Status NpzWriter::Finish(const NpzArrays& whole) {
  const absl::Status failed = absl::UnavailableError(absl::StrCat("cannot write ", path_));
  zipFile zip = zipOpen64(path_.c_str(), APPEND_STATUS_CREATE);
  if (zip == nullptr) return failed;
  std::set<std::string> names;
  for (const auto& [name, _] : whole) names.insert(name);
  for (const auto& [name, _] : rows_) names.insert(name);
  bool ok = true;
  for (const std::string& name : names) {
    if (!ok) break;
    const auto array = whole.find(name);
    if (array != whole.end()) {
      const std::string bytes = FormatNpy(array->second);
      ok = OpenMember(zip, name, static_cast<int64_t>(bytes.size())) && WriteBytes(zip, bytes);
    } else {
      Rows& rows = rows_.at(name);
      rows.file.flush();
      std::vector<int64_t> shape = {rows.count};
      shape.insert(shape.end(), rows.row_shape.begin(), rows.row_shape.end());
      const std::string header = FormatNpyHeader(rows.descr, shape);
      ok = rows.file && OpenMember(zip, name, static_cast<int64_t>(header.size()) + rows.bytes) &&
           WriteBytes(zip, header) && WriteContent(zip, rows.path, rows.bytes);
    }
    ok = ok && zipCloseFileInZip(zip) == ZIP_OK;
  }
  ok = zipClose(zip, nullptr) == ZIP_OK && ok;
  RemoveRows();
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
