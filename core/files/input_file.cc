#include "core/files/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/system_calls.h"

namespace openset {
namespace {

enum class Pipes { kRefuse, kTake };

absl::StatusOr<InputFile> Open(const std::string& path, Pipes pipes) {
  if (path.empty()) return absl::InvalidArgumentError("cannot open a file without a name");
  if (path.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat("cannot open '", absl::CHexEscape(path), "': it has a NUL byte"));
  }
  const int descriptor = OpenFile(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  const auto no_file = [&path] { return absl::DataLossError(absl::StrCat(path, ": is a pipe or a device")); };
  if (descriptor < 0) {
    if (errno == ENXIO) return no_file();  // a socket, or a device that doesn't exist
    return ErrorAt(errno, "open", path);
  }
  struct stat info = {};
  const int error = fstat(descriptor, &info) == 0 ? 0 : errno;
  InputFile file(descriptor, info.st_size, path);
  if (error != 0) return ReadError(error, absl::StrCat("cannot read ", path));
  if (S_ISDIR(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, " is a folder, not a file"));
  if (S_ISREG(info.st_mode)) return file;
  if (pipes == Pipes::kRefuse || (!S_ISFIFO(info.st_mode) && isatty(descriptor) == 0)) return no_file();
  fcntl(descriptor, F_SETFL, 0);  // reads block until there is data
  return file;
}

}  // namespace

InputFile::InputFile(int descriptor, int64_t bytes, std::string path)
    : descriptor_(descriptor), bytes_(bytes), path_(std::move(path)) {}

InputFile::InputFile(InputFile&& other) noexcept
    : descriptor_(other.Release()), bytes_(other.bytes_), path_(std::move(other.path_)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(bytes_, other.bytes_);
  std::swap(path_, other.path_);
  return *this;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::StatusOr<size_t> InputFile::Read(char* to, size_t size) {
  size_t filled = 0;
  while (filled < size) {
    const ssize_t got = read(descriptor_, to + filled, size - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ReadError(errno, absl::StrCat("cannot read ", path_));
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

absl::Status InputFile::MoveTo(int64_t byte) {
  if (lseek(descriptor_, byte, SEEK_SET) == byte) return absl::OkStatus();
  const std::string message = absl::StrCat("cannot read ", path_);
  return errno == ESPIPE ? absl::DataLossError(absl::StrCat(message, ": ", std::strerror(errno)))
                         : ReadError(errno, message);
}

absl::StatusOr<InputFile> OpenRegularFile(const std::string& path) { return Open(path, Pipes::kRefuse); }

std::string ReadEnd(const std::string& path, int64_t max_bytes, int64_t start) {
  absl::StatusOr<InputFile> file = OpenRegularFile(path);
  if (!file.ok() || file->bytes() <= start) return "";
  std::string text(std::min(file->bytes() - start, max_bytes), '\0');
  if (!file->MoveTo(file->bytes() - static_cast<int64_t>(text.size())).ok()) return "";
  text.resize(file->Read(text.data(), text.size()).value_or(0));
  return text;
}

absl::StatusOr<InputFile> OpenGivenFile(const std::string& path) {
  const bool is_handed =
      path == "/dev/stdin" || absl::StartsWith(path, "/dev/fd/") || absl::StartsWith(path, "/proc/self/fd/");
  return Open(path, is_handed ? Pipes::kTake : Pipes::kRefuse);
}

}  // namespace openset
