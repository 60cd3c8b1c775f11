#include "core/process/capture_output.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <optional>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/process/spawn.h"
#include "core/status_macros.h"

namespace openset {
namespace {

std::string ReadAll(int file) {
  std::string content;
  char buffer[4096];
  lseek(file, 0, SEEK_SET);
  for (ssize_t size; (size = read(file, buffer, sizeof(buffer))) > 0;) content.append(buffer, size);
  return content;
}

}  // namespace

absl::StatusOr<std::string> CaptureOutput(const std::vector<std::string>& arguments, absl::Duration limit) {
  SpawnOptions options;
  options.output = memfd_create("out", MFD_CLOEXEC);
  options.error = memfd_create("err", MFD_CLOEXEC);
  const absl::Cleanup close_files = [&options] {
    close(options.output);
    close(options.error);
  };
  OPENSET_ASSIGN_OR_RETURN(const pid_t child, Spawn(arguments, options));
  const std::optional<ProcessEnd> end = WaitForEnd(child, limit);
  if (!end.has_value()) {
    kill(child, SIGKILL);
    WaitForEnd(child);
    return absl::DeadlineExceededError(absl::StrCat(arguments[0], " took more than ", absl::FormatDuration(limit)));
  }
  if (end->ok()) return ReadAll(options.output);
  const std::string why = ReadAll(options.error);
  return absl::AbortedError(
      absl::StrCat(arguments[0], " ", end->Text(), why.empty() ? "" : ": ", absl::StripAsciiWhitespace(why)));
}

}  // namespace openset
