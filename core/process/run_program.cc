#include "core/process/run_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace openset {

absl::Status RunProgram(const std::vector<std::string>& arguments, int64_t max_file_bytes) {
  // All allocation happens before fork(): the child may call async-signal-safe functions only.
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  rlimit file_size = {};
  getrlimit(RLIMIT_FSIZE, &file_size);
  file_size.rlim_cur = std::min<rlim_t>(file_size.rlim_cur, max_file_bytes);
  const bool is_limited = max_file_bytes != std::numeric_limits<int64_t>::max();
  int started[2];  // closed by a successful exec, else carries errno
  if (pipe2(started, O_CLOEXEC) != 0) {
    return absl::UnavailableError(absl::StrCat("cannot make a pipe: ", std::strerror(errno)));
  }
  const absl::Cleanup close_it = [&started] { close(started[0]); };
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // the parent died before the line above
    const int null = open("/dev/null", O_RDONLY);
    if (null != STDIN_FILENO) {
      dup2(null, STDIN_FILENO);
      close(null);
    }
    dup2(STDERR_FILENO, STDOUT_FILENO);
    if (is_limited) {
      setrlimit(RLIMIT_FSIZE, &file_size);
      signal(SIGXFSZ, SIG_IGN);
    }
    execvp(argv[0], argv.data());
    const int error = errno;
    (void)!write(started[1], &error, sizeof(error));
    _exit(127);
  }
  const int fork_error = errno;
  close(started[1]);
  if (pid < 0) return absl::UnavailableError(absl::StrCat("cannot fork: ", std::strerror(fork_error)));
  int error = 0;
  const bool failed = read(started[0], &error, sizeof(error)) == sizeof(error);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (failed) return absl::NotFoundError(absl::StrCat("cannot start ", arguments[0], ": ", std::strerror(error)));
  if (WIFSIGNALED(status)) {
    return absl::AbortedError(
        absl::StrCat(arguments[0], " was killed by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")"));
  }
  if (WEXITSTATUS(status) == 0) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(arguments[0], " exited with ", WEXITSTATUS(status)));
}

}  // namespace openset
