#include "core/process/capture_output.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/process/spawn.h"
#include "core/status_macros.h"

namespace openset {
namespace {

// A file in memory that can't grow beyond `bytes`.
int LimitedFile(const char* name, int64_t bytes) {
  const int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file >= 0 && (ftruncate(file, bytes) != 0 || fcntl(file, F_ADD_SEALS, F_SEAL_GROW) != 0)) {
    close(file);
    return -1;
  }
  return file;
}

// The child shares our position in the file, so it is where the child stopped writing.
int64_t Written(int file) { return lseek(file, 0, SEEK_CUR); }

std::string ReadAll(int file) {
  std::string content(Written(file), '\0');
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t size = pread(file, &content[done], content.size() - done, done);
    if (size <= 0) break;
    done += size;
  }
  content.resize(done);
  return content;
}

}  // namespace

absl::StatusOr<std::string> CaptureOutput(const std::vector<std::string>& arguments, const CaptureLimits& limits) {
  SpawnOptions options;
  options.output = LimitedFile("out", limits.bytes);
  options.error = LimitedFile("err", limits.bytes);
  const absl::Cleanup close_files = [&options] {
    close(options.output);
    close(options.error);
  };
  if (options.output < 0 || options.error < 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot make a file in memory for the output of ", arguments[0], ": ", strerror(errno)));
  }
  OPENSET_ASSIGN_OR_RETURN(const pid_t child, Spawn(arguments, options));
  const std::optional<ProcessEnd> end = WaitForEnd(child, limits.time);
  if (!end.has_value()) {
    kill(child, SIGKILL);
    WaitForEnd(child);
    return absl::DeadlineExceededError(
        absl::StrCat(arguments[0], " took more than ", absl::FormatDuration(limits.time)));
  }
  if (Written(options.output) >= limits.bytes || Written(options.error) >= limits.bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(arguments[0], " wrote more than ", limits.bytes, " bytes"));
  }
  if (end->ok()) return ReadAll(options.output);
  const std::string why = ReadAll(options.error);
  return absl::AbortedError(
      absl::StrCat(arguments[0], " ", end->Text(), why.empty() ? "" : ": ", absl::StripAsciiWhitespace(why)));
}

}  // namespace openset
