#include "core/process/run_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace openset {

absl::Status RunProgram(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  const absl::Cleanup destroy = [&files] { posix_spawn_file_actions_destroy(&files); };
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  pid_t pid = 0;
  if (const int error = posix_spawnp(&pid, argv[0], &files, nullptr, argv.data(), environ); error != 0) {
    return absl::NotFoundError(absl::StrCat("cannot start ", arguments[0], ": ", std::strerror(error)));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    return absl::AbortedError(
        absl::StrCat(arguments[0], " was killed by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")"));
  }
  if (WEXITSTATUS(status) == 0) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(arguments[0], " exited with ", WEXITSTATUS(status)));
}

}  // namespace openset
