#include "core/files/formats/zip_reader.h"

#include <minizip/unzip.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files/system_calls.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"

namespace openset {
namespace {

// The size of the pieces in which a member is read.
constexpr size_t kChunk = 1 << 16;

size_t CopyBytes(absl::string_view archive, uint64_t place, size_t size, char* to) {
  return place >= archive.size() ? 0 : archive.copy(to, size, place);
}

// An archive in memory, as minizip reads it.
struct MemoryStream {
  absl::string_view archive;
  uint64_t at = 0;
};
MemoryStream* StreamOf(void* stream) { return static_cast<MemoryStream*>(stream); }
void* OpenMemory(void* opaque, const void* /*name*/, int /*mode*/) {
  return new MemoryStream{*static_cast<absl::string_view*>(opaque)};
}
uLong ReadMemory(void* /*opaque*/, void* stream, void* to, uLong size) {
  const size_t got = CopyBytes(StreamOf(stream)->archive, StreamOf(stream)->at, size, static_cast<char*>(to));
  StreamOf(stream)->at += got;
  return got;
}
ZPOS64_T PlaceInMemory(void* /*opaque*/, void* stream) { return StreamOf(stream)->at; }
long MoveInMemory(void* /*opaque*/, void* stream, ZPOS64_T offset, int origin) {
  MemoryStream& memory = *StreamOf(stream);
  const uint64_t from = origin == ZLIB_FILEFUNC_SEEK_CUR   ? memory.at
                        : origin == ZLIB_FILEFUNC_SEEK_END ? memory.archive.size()
                                                           : 0;
  memory.at = from + offset;
  return 0;
}
int CloseMemory(void* /*opaque*/, void* stream) {
  delete StreamOf(stream);
  return 0;
}
int MemoryError(void* /*opaque*/, void* /*stream*/) { return 0; }

int64_t LimitOf(int64_t max_bytes, int64_t archive_bytes) {
  return max_bytes != 0 ? max_bytes : std::max(ZipReader::kMaxInflatedBytes, ZipReader::kMaxInflation * archive_bytes);
}

}  // namespace

// For minizip, which otherwise opens the file by its name, and can't tell a failed read from the end of the file.
struct ZipReader::GivenFile {
  InputFile* file;  // until minizip opens it
  int descriptor = -1;
  int error = 0;  // errno of the last read that failed

  static void* Open(void* opaque, const void* /*name*/, int /*mode*/) {
    auto* given = static_cast<GivenFile*>(opaque);
    given->descriptor = given->file->Release();
    FILE* const stream = fdopen(given->descriptor, "rb");
    if (stream == nullptr) {
      given->error = errno;
      close(given->descriptor);
    }
    return stream;
  }
  static uLong Read(void* opaque, void* stream, void* to, uLong size) {
    auto* file = static_cast<FILE*>(stream);
    const size_t got = fread(to, 1, size, file);
    if (got < size && ferror(file) != 0) static_cast<GivenFile*>(opaque)->error = errno;
    return got;
  }
};

ZipReader::ZipReader(void* zip, int64_t archive_bytes, int64_t max_bytes)
    : zip_(zip, &unzClose), archive_bytes_(archive_bytes), max_bytes_(max_bytes) {}

absl::StatusOr<ZipReader> ZipReader::Open(const std::string& path, int64_t max_bytes) {
  OPENSET_ASSIGN_OR_RETURN(InputFile file, OpenRegularFile(path));
  return Open(std::move(file), max_bytes);
}

absl::StatusOr<ZipReader> ZipReader::Open(InputFile file, int64_t max_bytes) {
  zlib_filefunc64_def calls;
  fill_fopen64_filefunc(&calls);
  auto given = std::make_shared<GivenFile>(GivenFile{&file});
  calls.zopen64_file = &GivenFile::Open;
  calls.zread_file = &GivenFile::Read;
  calls.opaque = given.get();
  const int64_t archive_bytes = file.bytes();
  ZipReader reader(unzOpen2_64(file.path().c_str(), &calls), archive_bytes, LimitOf(max_bytes, archive_bytes));
  given->file = nullptr;
  reader.file_ = std::move(given);
  const absl::Status read = reader.ReadErrorOr(reader.ReadList());
  return read.ok() ? absl::StatusOr<ZipReader>(std::move(reader)) : read;
}

absl::StatusOr<ZipReader> ZipReader::OfBytes(absl::string_view archive, int64_t max_bytes) {
  zlib_filefunc64_def calls = {};
  calls.zopen64_file = &OpenMemory;
  calls.zread_file = &ReadMemory;
  calls.ztell64_file = &PlaceInMemory;
  calls.zseek64_file = &MoveInMemory;
  calls.zclose_file = &CloseMemory;
  calls.zerror_file = &MemoryError;
  calls.opaque = &archive;
  const auto archive_bytes = static_cast<int64_t>(archive.size());
  ZipReader reader(unzOpen2_64("memory", &calls), archive_bytes, LimitOf(max_bytes, archive_bytes));
  reader.archive_ = archive;
  const absl::Status read = reader.ReadList();
  return read.ok() ? absl::StatusOr<ZipReader>(std::move(reader)) : read;
}

absl::Status ZipReader::ReadErrorOr(const absl::Status& status) const {
  return file_ == nullptr || file_->error == 0 ? status : ReadError(file_->error, "cannot be read");
}

absl::Status ZipReader::ReadList() {
  unzFile zip = zip_.get();
  if (zip == nullptr) return absl::InvalidArgumentError("not a zip archive");
  for (int at = unzGoToFirstFile(zip); at != UNZ_END_OF_LIST_OF_FILE; at = unzGoToNextFile(zip)) {
    unz_file_info64 info = {};
    char name[4096];
    unz64_file_pos place;
    if (at != UNZ_OK || unzGetCurrentFileInfo64(zip, &info, name, sizeof(name), nullptr, 0, nullptr, 0) != UNZ_OK ||
        info.size_filename >= sizeof(name) || unzGetFilePos64(zip, &place) != UNZ_OK) {
      return absl::DataLossError("its list of members is corrupt");
    }
    const bool is_plain =
        info.compression_method == 0 && (info.flag & 1) == 0 && info.compressed_size == info.uncompressed_size;
    const auto packed = static_cast<int64_t>(std::min<uint64_t>(info.compressed_size, INT64_MAX));
    if (__builtin_add_overflow(packed_bytes_, packed, &packed_bytes_)) packed_bytes_ = INT64_MAX;
    if (duplicate_.empty() && members_.count(name) > 0) duplicate_ = name;
    members_[name] = {place.pos_in_zip_directory,
                      place.num_of_file,
                      static_cast<uint32_t>(info.external_fa >> 16),
                      info.uncompressed_size,
                      static_cast<uint32_t>(info.crc),
                      is_plain};
  }
  return absl::OkStatus();
}

int64_t ZipReader::ReadAt(uint64_t place, size_t size, char* to) const {
  if (file_ == nullptr) return static_cast<int64_t>(CopyBytes(archive_, place, size, to));
  int64_t got = -1;
  do {
    got = pread(file_->descriptor, to, size, static_cast<off_t>(place));
  } while (got < 0 && errno == EINTR);
  if (got < 0) file_->error = errno;
  return got;
}

std::vector<std::string> ZipReader::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, place] : members_) names.push_back(name);
  return names;
}

bool ZipReader::Has(absl::string_view name) const { return members_.count(std::string(name)) > 0; }

uint32_t ZipReader::UnixMode(absl::string_view name) const {
  const auto found = members_.find(name);
  return found == members_.end() ? 0 : found->second.unix_mode;
}

absl::StatusOr<std::string> ZipReader::Read(absl::string_view name, size_t max_bytes) {
  std::string content;
  const auto found = members_.find(name);
  if (found != members_.end() && found->second.bytes <= std::min<uint64_t>(max_bytes, max_bytes_ - read_bytes_)) {
    // An uncompressed member has no more bytes than its archive; for a compressed one, the buffer grows with the data.
    content.reserve(std::min<uint64_t>(found->second.bytes, archive_bytes_));
  }
  const absl::Status status = ReadParts(name, max_bytes, [&](absl::string_view part) {
    content.append(part.data(), part.size());
    return absl::OkStatus();
  });
  return status.ok() ? absl::StatusOr<std::string>(std::move(content)) : status;
}

absl::Status ZipReader::ReadParts(absl::string_view name, size_t max_bytes, const UsePart& use) {
  const auto found = members_.find(name);
  if (found == members_.end()) return absl::DataLossError(absl::StrCat("has no member '", OneLine(name), "'"));
  const uint64_t said = found->second.bytes;
  const auto too_much = [&] {
    return absl::DataLossError(absl::StrCat("inflates to more than ", max_bytes_, " bytes, at member '", OneLine(name),
                                            "': if this is intended, save it without compression"));
  };
  const auto too_large = [&] {
    return absl::OutOfRangeError(
        absl::StrCat("member '", OneLine(name), "' has more than ", max_bytes, " bytes, which is refused"));
  };
  if (said > max_bytes) return too_large();
  if (said > static_cast<uint64_t>(max_bytes_ - read_bytes_)) return too_much();
  const unz64_file_pos place = {found->second.in_list, found->second.number};
  std::string chunk(kChunk, '\0');
  uint64_t bytes = 0;
  int64_t got = -1;
  uint64_t at = place.pos_in_zip_directory;  // in the file
  if (unzGoToFilePos64(zip_.get(), &place) == UNZ_OK && unzOpenCurrentFile(zip_.get()) == UNZ_OK) {
    const bool is_plain = found->second.is_plain;
    const uint64_t begin = unzGetCurrentFileZStreamPos64(zip_.get());
    uLong crc = crc32(0, nullptr, 0);
    // minizip copies uncompressed members byte by byte.
    const auto read = [&]() -> int64_t {
      if (!is_plain) return unzReadCurrentFile(zip_.get(), chunk.data(), static_cast<unsigned>(chunk.size()));
      const int64_t part = ReadAt(begin + bytes, std::min<uint64_t>(kChunk, said - bytes), chunk.data());
      if (part > 0) crc = crc32(crc, reinterpret_cast<const Bytef*>(chunk.data()), static_cast<uInt>(part));
      return part;
    };
    while ((got = read()) > 0) {
      read_bytes_ += got;
      bytes += got;
      absl::Status status;
      if (read_bytes_ > max_bytes_) {
        status = too_much();
      } else if (bytes > max_bytes) {
        status = too_large();
      } else {
        status = use(absl::string_view(chunk.data(), got));
      }
      if (!status.ok()) {
        unzCloseCurrentFile(zip_.get());
        return status;
      }
    }
    at = is_plain ? begin + bytes : unzGetCurrentFileZStreamPos64(zip_.get());
    if (unzCloseCurrentFile(zip_.get()) != UNZ_OK) got = -1;  // compares the CRC, if it has read all
    if (is_plain && bytes == said && crc != found->second.crc) got = -1;
  }
  OPENSET_RETURN_IF_ERROR(ReadErrorOr(absl::OkStatus()));
  if (got == 0 && bytes != said) {  // then the CRC was not compared
    return absl::DataLossError(
        absl::StrCat("member '", OneLine(name), "' is corrupt: it says that it has ", said, " bytes, and has ", bytes));
  }
  if (got != 0) return absl::DataLossError(absl::StrCat("member '", OneLine(name), "' is corrupt, at byte ", at));
  return absl::OkStatus();
}

}  // namespace openset
