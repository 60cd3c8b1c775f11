#include "core/process/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/process/steady_clock.h"

extern char** environ;

namespace openset {
namespace {

// The time between two checks whether a child has ended.
constexpr absl::Duration kShortestPause = absl::Microseconds(100);
constexpr absl::Duration kLongestPause = absl::Milliseconds(20);

absl::Status SystemError(absl::string_view what) {
  return absl::UnavailableError(absl::StrCat("cannot ", what, ": ", std::strerror(errno)));
}

std::vector<char*> Pointers(std::vector<std::string>* texts) {
  std::vector<char*> pointers;
  for (std::string& text : *texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> Variables(const std::map<std::string, std::string>& added) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (added.count(text.substr(0, text.find('='))) == 0) variables.push_back(text);
  }
  for (const auto& [name, value] : added) variables.push_back(absl::StrCat(name, "=", value));
  return variables;
}

// Runs in the child, which may only call async-signal-safe functions. Sets its descriptors, then its signals and
// limits.
void SetUp(const SpawnOptions& options, const rlimit* file_size, int* report) {
  // Copies above the channel's number, so that none is in the way of another.
  const auto above = [](int file) { return file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, SpawnOptions::kChannel + 1); };
  *report = above(*report);
  const int out = above(options.output), error = above(options.error), channel = above(options.channel);
  if (out >= 0) dup2(out, STDOUT_FILENO);
  if (error >= 0) dup2(error, STDERR_FILENO);
  if (channel >= 0) dup2(channel, SpawnOptions::kChannel);
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null == STDIN_FILENO) {
    fcntl(null, F_SETFD, 0);
  } else {
    dup2(null, STDIN_FILENO);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int usual : {SIGINT, SIGTERM, SIGPIPE, SIGUSR1}) signal(usual, SIG_DFL);
  if (file_size != nullptr) {
    setrlimit(RLIMIT_FSIZE, file_size);
    signal(SIGXFSZ, SIG_IGN);
  }
}

}  // namespace

std::string ProcessEnd::Text() const {
  return signal == 0 ? absl::StrCat("exited with ", exit_code)
                     : absl::StrCat("was killed by signal ", signal, " (", strsignal(signal), ")");
}

absl::Status ProcessEnd::ToStatus(const std::string& name) const {
  return ok() ? absl::OkStatus() : absl::AbortedError(absl::StrCat(name, name.empty() ? "" : " ", Text()));
}

absl::StatusOr<pid_t> Spawn(const std::vector<std::string>& arguments, const SpawnOptions& options) {
  // All allocation happens before fork().
  std::vector<std::string> words = arguments, variables = Variables(options.environment);
  const std::vector<char*> argv = Pointers(&words), envp = Pointers(&variables);
  rlimit file_size = {};
  getrlimit(RLIMIT_FSIZE, &file_size);
  const bool is_limited = options.max_file_bytes != std::numeric_limits<int64_t>::max();
  file_size.rlim_cur = std::min<rlim_t>(file_size.rlim_cur, options.max_file_bytes);
  int started[2];  // a successful exec closes it; otherwise it carries errno
  if (pipe2(started, O_CLOEXEC) != 0) return SystemError("make a pipe");
  const absl::Cleanup close_it = [&started] { close(started[0]); };

  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    if (options.has_own_group) setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // the parent died before the line above
    int report = started[1];
    SetUp(options, is_limited ? &file_size : nullptr, &report);
    execvpe(argv[0], argv.data(), envp.data());
    const int error = errno;
    (void)!write(report, &error, sizeof(error));
    _exit(127);
  }
  const absl::Status forked = child > 0 ? absl::OkStatus() : SystemError("fork");
  close(started[1]);
  if (!forked.ok()) return forked;
  if (options.has_own_group) setpgid(child, child);  // also here, so that a signal to the group never comes too early
  int error = 0;
  if (read(started[0], &error, sizeof(error)) == sizeof(error)) {
    WaitForEnd(child);
    return absl::NotFoundError(absl::StrCat("cannot start ", arguments[0], ": ", std::strerror(error)));
  }
  return child;
}

std::optional<ProcessEnd> WaitForEnd(pid_t child, absl::Duration at_most) {
  const bool for_ever = at_most == absl::InfiniteDuration();
  const absl::Duration until = for_ever ? at_most : SteadyNow() + at_most;
  ProcessEnd end;
  int status = 0;
  for (absl::Duration pause = kShortestPause;; pause = std::min(2 * pause, kLongestPause)) {
    const pid_t ended = wait4(child, &status, for_ever ? 0 : WNOHANG, &end.usage);
    if (ended == child || (ended < 0 && errno != EINTR)) break;
    if (SteadyNow() >= until) return std::nullopt;
    absl::SleepFor(pause);
  }
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
    end.dumped_core = WCOREDUMP(status);
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  return end;
}

ProcessEnd WaitForEnd(pid_t child) { return *WaitForEnd(child, absl::InfiniteDuration()); }

}  // namespace openset
