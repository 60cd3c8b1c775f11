#include "core/process/capture_output.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/process/steady_clock.h"

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
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
  const absl::Cleanup close_files = [out, err] {
    close(out);
    close(err);
  };
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  const absl::Cleanup destroy = [&files] { posix_spawn_file_actions_destroy(&files); };
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
  pid_t pid = 0;
  if (const int error = posix_spawnp(&pid, argv[0], &files, nullptr, argv.data(), environ); error != 0) {
    return absl::NotFoundError(absl::StrCat("cannot start ", arguments[0], ": ", std::strerror(error)));
  }
  const absl::Duration start = SteadyNow();
  int status = 0;
  bool is_late = false;
  for (absl::Duration nap = absl::Milliseconds(1); waitpid(pid, &status, WNOHANG) != pid;) {
    if (!is_late && SteadyNow() - start > limit) {
      is_late = true;
      kill(pid, SIGKILL);
    }
    absl::SleepFor(nap);
    nap = std::min(2 * nap, absl::Milliseconds(50));
  }
  if (is_late) {
    return absl::DeadlineExceededError(absl::StrCat(arguments[0], " took more than ", absl::FormatDuration(limit)));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return ReadAll(out);
  const std::string how = WIFSIGNALED(status) ? absl::StrCat(" was killed by signal ", WTERMSIG(status))
                                              : absl::StrCat(" exited with ", WEXITSTATUS(status));
  const std::string why = ReadAll(err);
  return absl::AbortedError(absl::StrCat(arguments[0], how, why.empty() ? "" : ": ", absl::StripAsciiWhitespace(why)));
}

}  // namespace openset
