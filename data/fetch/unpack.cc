#include "data/fetch/unpack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/formats/zip_reader.h"
#include "core/files/input_file.h"
#include "core/files/system_calls.h"
#include "core/process/subprocess.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "data/path_below.h"

namespace openset {

MemberWriter::~MemberWriter() {
  if (file_ >= 0) close(file_);
}

absl::Status MemberWriter::Refused(absl::string_view name, absl::string_view what) {
  return absl::DataLossError(absl::StrCat("member '", OneLine(name), "' ", what));
}

absl::Status MemberWriter::TooLarge(absl::string_view name) const {
  return Refused(name, absl::StrCat("brings the total to more than ", limits_.bytes,
                                    " bytes, which is refused: if this is intended, unpack the archive by hand"));
}

absl::Status MemberWriter::CountMember(const std::string& name) {
  const std::string why = WhyNotBelow(name);
  if (!why.empty()) return Refused(name, absl::StrCat("has a name that ", why));
  if (++members_ > limits_.members)
    return Refused(name, absl::StrCat("exceeds the limit of ", limits_.members, " members"));
  return absl::OkStatus();
}

absl::Status MemberWriter::AddFolder(const std::string& name) {
  OPENSET_RETURN_IF_ERROR(CountMember(name));
  const absl::Status made = folder_.Below(name).status();
  return absl::IsFailedPrecondition(made) ? Refused(name, "is a folder where another member is a file") : made;
}

absl::Status MemberWriter::BeginFile(const std::string& name, int64_t bytes) {
  OPENSET_RETURN_IF_ERROR(CountMember(name));
  if (bytes < 0 || bytes > limits_.bytes - bytes_) return TooLarge(name);
  const size_t slash = name.rfind('/');
  const std::string last = slash == std::string::npos ? name : name.substr(slash + 1);
  if (last.empty() || last == ".") return Refused(name, "is a file without a name");
  const auto folder = folder_.Below(slash == std::string::npos ? "" : absl::string_view(name).substr(0, slash));
  if (absl::IsFailedPrecondition(folder.status()))
    return Refused(name, "is below a path that another member uses for a file");
  OPENSET_RETURN_IF_ERROR(folder.status());
  const auto make = [&] {
    return openat(folder->descriptor(), last.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  };
  file_ = make();
  if (file_ < 0 && errno == EEXIST && unlinkat(folder->descriptor(), last.c_str(), 0) == 0) file_ = make();
  if (file_ < 0 && (errno == EEXIST || errno == EISDIR))
    return Refused(name, "is a file, but another member is a folder of that name");
  if (file_ < 0) return SystemError("make", name);
  name_ = name;
  return absl::OkStatus();
}

absl::Status MemberWriter::Write(absl::string_view bytes) {
  bytes_ += static_cast<int64_t>(bytes.size());
  if (bytes_ > limits_.bytes) return TooLarge(name_);
  while (!bytes.empty()) {
    const ssize_t written = write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError("write", name_);
    bytes.remove_prefix(written);
  }
  return absl::OkStatus();
}

absl::Status MemberWriter::EndFile() {
  return close(std::exchange(file_, -1)) == 0 || errno == EINTR ? absl::OkStatus() : SystemError("write", name_);
}

namespace {

constexpr int64_t kBlock = 512;
constexpr int64_t kMostNameBytes = 1 << 16;  // of GNU's long names
constexpr int64_t kMostPaxBytes = 1 << 20;   // of one member's pax records
constexpr unsigned kBuffer = unsigned{1} << 18;

absl::Status Damaged(absl::string_view what) { return absl::DataLossError(absl::StrCat("corrupt: ", what)); }

// The bytes of a file, inflated if it is gzipped.
class Stream {
 public:
  explicit Stream(InputFile file) : file_(gzdopen(file.Release(), "rb"), &gzclose) { gzbuffer(file_.get(), kBuffer); }

  // Returns the next `size` bytes (at most kBuffer), or fewer at the end of the file.
  absl::StatusOr<absl::string_view> Read(int64_t size) {
    const int got = gzread(file_.get(), buffer_.data(), static_cast<unsigned>(size));
    int error = Z_OK;
    const char* const message = gzerror(file_.get(), &error);
    if (error == Z_ERRNO) return ReadError(errno, "cannot read");
    if (got < 0 || error != Z_OK) return Damaged(message);
    return absl::string_view(buffer_).substr(0, got);
  }

  // Returns the next `size` bytes. Errors: also if the file ends before.
  absl::StatusOr<absl::string_view> ReadAll(int64_t size) {
    OPENSET_ASSIGN_OR_RETURN(const absl::string_view bytes, Read(size));
    if (static_cast<int64_t>(bytes.size()) < size) return Damaged("it is cut short");
    return bytes;
  }

 private:
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
  std::string buffer_ = std::string(kBuffer, '\0');
};

// Returns the text of a field, which ends at the first NUL, if there is one.
std::string Text(absl::string_view field) { return std::string(field.substr(0, field.find('\0'))); }

// Reads a number in a header: octal digits or, after a first byte of 0x80, big-endian binary.
std::optional<int64_t> Number(absl::string_view field) {
  int64_t number = 0;
  if (!field.empty() && static_cast<uint8_t>(field[0]) == 0x80) {
    for (const char byte : field.substr(1)) {
      if (number > INT64_MAX >> 8) return std::nullopt;
      number = number << 8 | static_cast<uint8_t>(byte);
    }
    return number;
  }
  while (!field.empty() && field[0] == ' ') field.remove_prefix(1);
  for (const char c : field) {
    if (c == ' ' || c == '\0') break;
    if (c < '0' || c > '7' || number > INT64_MAX >> 3) return std::nullopt;
    number = number << 3 | (c - '0');
  }
  return number;
}

// Whether a header's checksum is right. The sum counts the checksum's own field as spaces; old programs added signed
// bytes.
bool HasItsChecksum(absl::string_view header) {
  int64_t unsigned_sum = 0, signed_sum = 0;
  for (size_t i = 0; i < header.size(); ++i) {
    const char c = i >= 148 && i < 156 ? ' ' : header[i];
    unsigned_sum += static_cast<uint8_t>(c);
    signed_sum += static_cast<int8_t>(c);
  }
  const std::optional<int64_t> sum = Number(header.substr(148, 8));
  return sum.has_value() && (*sum == unsigned_sum || *sum == signed_sum);
}

// What special entries before a member's header say about it.
struct PaxHeader {
  std::optional<std::string> name;
  std::optional<int64_t> bytes;
  bool is_sparse = false;
};

// Reads records "LENGTH KEY=VALUE\n". LENGTH counts the complete record, including itself.
absl::Status ReadPax(absl::string_view records, PaxHeader* said) {
  while (!records.empty()) {
    const size_t space = records.find(' ');
    int64_t length = 0;
    if (space == absl::string_view::npos || !absl::SimpleAtoi(records.substr(0, space), &length) ||
        length <= static_cast<int64_t>(space) + 1 || length > static_cast<int64_t>(records.size()) ||
        records[length - 1] != '\n') {
      return Damaged("a pax record");
    }
    const absl::string_view record = records.substr(space + 1, length - space - 2);
    records.remove_prefix(length);
    const size_t equals = record.find('=');
    if (equals == absl::string_view::npos) return Damaged("a pax record");
    const absl::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
    int64_t bytes = 0;
    if (key == "path") said->name = std::string(value);
    if (key == "size") {
      if (!absl::SimpleAtoi(value, &bytes)) return Damaged("a size");
      said->bytes = bytes;
    }
    if (key.substr(0, 11) == "GNU.sparse.") said->is_sparse = true;
  }
  return absl::OkStatus();
}

class Reader {
 public:
  Reader(InputFile file, MemberWriter* members) : stream_(std::move(file)), members_(members) {}

  absl::Status ReadAll() {
    for (bool is_first = true;; is_first = false) {
      OPENSET_ASSIGN_OR_RETURN(const absl::string_view block, stream_.Read(kBlock));
      if (block.empty() && !is_first) return absl::OkStatus();  // some programs write no end marker
      if (static_cast<int64_t>(block.size()) < kBlock) return Damaged("it is truncated, or not a tar archive");
      if (block.find_first_not_of('\0') == absl::string_view::npos) return absl::OkStatus();
      const std::string header(block);
      OPENSET_RETURN_IF_ERROR(ReadMember(header));
    }
  }

 private:
  absl::Status ReadMember(absl::string_view header) {
    if (!HasItsChecksum(header)) return Damaged("a header does not match its checksum, or it is not a tar archive");
    const std::optional<int64_t> said_bytes = Number(header.substr(124, 12));
    if (!said_bytes.has_value()) return Damaged("a size");
    const char type = header[156];
    switch (type) {
      case 'x': {  // pax records of the next member
        OPENSET_ASSIGN_OR_RETURN(const std::string records, Content(*said_bytes, kMostPaxBytes));
        return ReadPax(records, &next_);
      }
      case 'L': {
        OPENSET_ASSIGN_OR_RETURN(const std::string name, Content(*said_bytes, kMostNameBytes));
        next_.name = Text(name);
        return absl::OkStatus();
      }
      case 'g':  // pax records for all members: nothing that is needed here
      case 'K':  // a link's long target: the link is refused
      case 'V':  // the archive's title
        return Pass(*said_bytes, [](absl::string_view) { return absl::OkStatus(); });
      default:
        break;
    }
    const PaxHeader said = std::exchange(next_, {});
    std::string name = said.name.value_or(Text(header.substr(0, 100)));
    const std::string prefix =
        header.substr(257, 6) == absl::string_view("ustar\0", 6) ? Text(header.substr(345, 155)) : "";
    if (!said.name.has_value() && !prefix.empty()) name = absl::StrCat(prefix, "/", name);
    const int64_t bytes = said.bytes.value_or(*said_bytes);
    const bool is_file = type == '0' || type == '\0' || type == '7';
    if (type == '1' || type == '2') return MemberWriter::Refused(name, "is a link, which no data set needs");
    if (type == '3' || type == '4' || type == '6') return MemberWriter::Refused(name, "is a device or a pipe");
    if (said.is_sparse || (!is_file && type != '5')) {
      return MemberWriter::Refused(name, absl::StrCat("has an unsupported type, '", absl::string_view(&type, 1), "'"));
    }
    if (bytes < 0) return Damaged("a size");
    // Before tar had a type for folders, their names ended in '/'.
    if (type == '5' || (!name.empty() && name.back() == '/')) {
      OPENSET_RETURN_IF_ERROR(members_->AddFolder(name));
      return Pass(type == '5' ? 0 : bytes, [](absl::string_view) { return absl::OkStatus(); });
    }
    OPENSET_RETURN_IF_ERROR(members_->BeginFile(name, bytes));
    OPENSET_RETURN_IF_ERROR(Pass(bytes, [&](absl::string_view part) { return members_->Write(part); }));
    return members_->EndFile();
  }

  // Passes the next `bytes` bytes to `use` in pieces, then skips the padding to a full block.
  template <typename Use>
  absl::Status Pass(int64_t bytes, const Use& use) {
    const int64_t filling = (kBlock - bytes % kBlock) % kBlock;
    while (bytes > 0) {
      OPENSET_ASSIGN_OR_RETURN(const absl::string_view part, stream_.ReadAll(std::min<int64_t>(bytes, kBuffer)));
      OPENSET_RETURN_IF_ERROR(use(part));
      bytes -= static_cast<int64_t>(part.size());
    }
    return filling == 0 ? absl::OkStatus() : stream_.ReadAll(filling).status();
  }

  absl::StatusOr<std::string> Content(int64_t bytes, int64_t most) {
    if (bytes > most) return Damaged("the header of a member is too long");
    std::string content;
    OPENSET_RETURN_IF_ERROR(Pass(bytes, [&](absl::string_view part) {
      absl::StrAppend(&content, part);
      return absl::OkStatus();
    }));
    return content;
  }

  Stream stream_;
  MemberWriter* const members_;
  PaxHeader next_;
};

}  // namespace

absl::Status UnpackTar(const std::string& archive, MemberWriter* members) {
  OPENSET_ASSIGN_OR_RETURN(InputFile file, OpenRegularFile(archive));
  return Reader(std::move(file), members).ReadAll();
}

namespace {

absl::Status UnpackZip(const std::string& archive, int64_t max_bytes, MemberWriter* members) {
  OPENSET_ASSIGN_OR_RETURN(ZipReader zip, ZipReader::Open(archive, max_bytes));
  for (const std::string& name : zip.Names()) {
    const uint32_t kind = zip.UnixMode(name) & S_IFMT;
    if (kind != 0 && kind != S_IFREG && kind != S_IFDIR) {
      return MemberWriter::Refused(name, "is a link, a device or a pipe, which no data set needs");
    }
    if (absl::EndsWith(name, "/")) {
      OPENSET_RETURN_IF_ERROR(members->AddFolder(name));
      continue;
    }
    OPENSET_ASSIGN_OR_RETURN(const std::string content, zip.Read(name));
    OPENSET_RETURN_IF_ERROR(members->BeginFile(name, static_cast<int64_t>(content.size())));
    OPENSET_RETURN_IF_ERROR(members->Write(content));
    OPENSET_RETURN_IF_ERROR(members->EndFile());
  }
  return absl::OkStatus();
}

// Returns the path of the archive itself or, if a program must decompress it, of the result in `folder`.
absl::StatusOr<std::string> Decompressed(const std::string& archive, const std::string& folder, int64_t max_bytes) {
  OPENSET_ASSIGN_OR_RETURN(InputFile file, OpenRegularFile(archive));
  std::string magic(6, '\0');
  OPENSET_ASSIGN_OR_RETURN(const size_t got, file.Read(magic.data(), magic.size()));
  magic.resize(got);
  const bool is_xz = magic == absl::string_view(
                                  "\xfd"
                                  "7zXZ\0",
                                  6),
             is_bzip2 = absl::StartsWith(magic, "BZh");
  if (!is_xz && !is_bzip2) return archive;
  const std::string unpacked = JoinPath(folder, "archive.tar"), link = unpacked + (is_xz ? ".xz" : ".bz2");
  std::error_code error;
  std::filesystem::create_symlink(std::filesystem::absolute(archive, error), link, error);
  if (error) return absl::UnavailableError(absl::StrCat("cannot make ", link, ": ", error.message()));
  // "force": otherwise the program refuses links.
  OPENSET_RETURN_IF_ERROR(RunProgram({is_xz ? "xz" : "bzip2", "--decompress", "--keep", "--force", link}, max_bytes));
  return unpacked;
}

}  // namespace

absl::Status Unpack(const std::string& archive, Download::Unpack format, const std::string& root,
                    const std::string& path) {
  OPENSET_RETURN_IF_ERROR(MakeFolders(root));
  OPENSET_ASSIGN_OR_RETURN(const OpenFolder top, OpenFolder::Open(root));
  const std::string own = TemporaryName(JoinPath(root, ".unpacked")), files = JoinPath(own, "files");
  const absl::Cleanup remove = [&own] {
    std::error_code ignored;
    std::filesystem::remove_all(own, ignored);
  };
  if (mkdir(own.c_str(), 0700) != 0) return absl::UnavailableError(absl::StrCat("cannot make the folder ", own));
  OPENSET_RETURN_IF_ERROR(MakeFolders(files));
  OPENSET_ASSIGN_OR_RETURN(const OpenFolder fresh, OpenFolder::Open(files));
  const int64_t max_bytes = std::max(kMaxUnpackedBytes, kMaxUnpacking * FileSize(archive));
  MemberWriter members(fresh, {max_bytes});
  absl::Status status;
  if (format == Download::ZIP) {
    status = UnpackZip(archive, max_bytes, &members);
  } else {
    const absl::StatusOr<std::string> tar = Decompressed(archive, own, max_bytes);
    status = tar.ok() ? UnpackTar(*tar, &members) : tar.status();
  }
  if (absl::IsAborted(status) || absl::IsInvalidArgument(status)) status = absl::DataLossError(status.message());
  OPENSET_RETURN_IF_ERROR(status, archive, ": cannot be unpacked");
  OPENSET_ASSIGN_OR_RETURN(const OpenFolder target, top.Below(path));
  return MoveInto(fresh, target);
}

}  // namespace openset
