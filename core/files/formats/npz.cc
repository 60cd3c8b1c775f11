#include "core/files/formats/npz.h"

#include <minizip/zip.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/files/formats/zip_reader.h"
#include "core/files/input_file.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"

namespace openset {
namespace {

// minizip takes at most this much at once.
constexpr size_t kChunk = 1 << 24;

// Begins the member for an array of `bytes` bytes with its header, the same bytes for the same arrays.
bool OpenMember(zipFile zip, const std::string& name, int64_t bytes) {
  zip_fileinfo info = {};
  info.dosDate = (1 << 21) | (1 << 16);  // 1980-01-01, the earliest date of the format
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

// Reads a file of `bytes` bytes.
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

// `error` is errno after the failed call, or 0.
absl::Status CannotWrite(const std::string& path, int error) {
  return absl::UnavailableError(
      absl::StrCat("cannot write ", path, error == 0 ? "" : absl::StrCat(": ", std::strerror(error))));
}

// Errors name the path.
absl::StatusOr<ZipReader> OpenNpz(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(InputFile file, OpenRegularFile(path));
  std::string first(4, '\0');
  OPENSET_RETURN_IF_ERROR(file.Read(first.data(), first.size()).status());
  const bool is_empty = file.bytes() == 0;
  absl::StatusOr<ZipReader> zip = ZipReader::Open(std::move(file));
  if (absl::IsInvalidArgument(zip.status())) {
    // Every archive begins so; its list of members is at its end.
    return absl::DataLossError(absl::StrCat(path, is_empty                ? ": is empty"
                                                  : first == "PK\x03\x04" ? ": is cut short: copy or save it again"
                                                                          : ": not an .npz archive"));
  }
  if (!zip.ok()) return Annotate(zip.status(), path);
  return zip;
}

}  // namespace

absl::Status WriteNpz(const std::string& path, const NpzArrays& arrays) { return NpzWriter(path).Finish(arrays); }

absl::Status WriteNpzAtomically(const std::string& path, const NpzArrays& arrays) {
  const std::string temporary = TemporaryName(path);
  OPENSET_RETURN_IF_ERROR(ReserveFile(temporary, path));
  const absl::Cleanup remove = [&temporary] { std::remove(temporary.c_str()); };
  if (const absl::Status written = WriteNpz(temporary, arrays); !written.ok()) {
    return absl::Status(written.code(), absl::StrReplaceAll(written.message(), {{temporary, path}}));
  }
  return MoveFile(temporary, path);
}

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
  errno = 0;
  if (rows.path.empty()) {
    rows.path = absl::StrCat(path_, ".", name, ".rows");
    rows.file.open(rows.path, std::ios::binary | std::ios::trunc);
    rows.descr = some.descr;
    rows.row_shape.assign(some.shape.begin() + 1, some.shape.end());
  }
  rows.file.write(some.data.data(), static_cast<std::streamsize>(some.data.size()));
  rows.bytes += static_cast<int64_t>(some.data.size());
  rows.count += some.shape[0];
  return rows.file ? absl::OkStatus() : CannotWrite(rows.path, errno);
}

absl::Status NpzWriter::Finish(const NpzArrays& whole) {
  errno = 0;
  zipFile zip = zipOpen64(path_.c_str(), APPEND_STATUS_CREATE);
  if (zip == nullptr) return CannotWrite(path_, errno);
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
  int error = errno;
  const bool closed = zipClose(zip, nullptr) == ZIP_OK;
  if (ok) error = errno;
  RemoveRows();
  return ok && closed ? absl::OkStatus() : CannotWrite(path_, error);
}

absl::StatusOr<std::vector<std::string>> NpzNames(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(const ZipReader zip, OpenNpz(path));
  std::vector<std::string> names = zip.Names();
  for (std::string& name : names) name = std::string(absl::StripSuffix(name, ".npy"));
  return names;
}

absl::StatusOr<NpzArrays> ReadNpz(const std::string& path, const std::vector<std::string>& names) {
  OPENSET_ASSIGN_OR_RETURN(ZipReader zip, OpenNpz(path));
  NpzArrays arrays;
  for (const std::string& member : zip.Names()) {
    const std::string name(absl::StripSuffix(member, ".npy"));
    if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end()) continue;
    OPENSET_ASSIGN_OR_RETURN(std::string content, zip.Read(member), path);
    OPENSET_ASSIGN_OR_RETURN(arrays[name], ParseOwnedNpy(std::move(content)), path, ": array '", OneLine(name), "'");
  }
  return arrays;
}

}  // namespace openset
