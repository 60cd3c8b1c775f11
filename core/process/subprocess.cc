#include "core/process/subprocess.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/files/files.h"
#include "core/process/process_stat.h"
#include "core/process/steady_clock.h"

extern char** environ;

namespace openset {
namespace {

absl::Status SystemError(absl::string_view what) {
  return absl::UnavailableError(absl::StrCat("cannot ", what, ": ", std::strerror(errno)));
}

// Between two looks whether a child has ended.
constexpr absl::Duration kShortestPause = absl::Microseconds(100);
constexpr absl::Duration kLongestPause = absl::Milliseconds(20);

}  // namespace

absl::StatusOr<std::unique_ptr<Subprocess>> Subprocess::Start(const std::vector<std::string>& arguments,
                                                              const std::map<std::string, std::string>& environment,
                                                              const std::string& log_file) {
  // All allocation happens before fork(): the child may call async-signal-safe functions only.
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (environment.count(text.substr(0, text.find('='))) == 0) variables.push_back(text);
  }
  for (const auto& [name, value] : environment) variables.push_back(absl::StrCat(name, "=", value));
  std::vector<char*> envp;
  for (std::string& variable : variables) envp.push_back(variable.data());
  envp.push_back(nullptr);

  // Of a pipe in its place nobody may be the reader.
  const int log = open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666);
  if (log < 0) return SystemError(absl::StrCat("open ", log_file));
  int channel[2];
  int started[2];  // closed by a successful exec, else carries errno
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0) return SystemError("make a channel");
  if (pipe2(started, O_CLOEXEC) != 0) return SystemError("make a pipe");

  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return SystemError("fork");
  if (pid == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // the parent died before the line above
    // The status pipe must not be in the way of the channel's number.
    const int report = fcntl(started[1], F_DUPFD_CLOEXEC, kChannel + 1);
    const int end = fcntl(channel[1], F_DUPFD_CLOEXEC, kChannel + 1);
    const int out = fcntl(log, F_DUPFD_CLOEXEC, kChannel + 1);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    dup2(end, kChannel);
    const int null = open("/dev/null", O_RDONLY);
    if (null != STDIN_FILENO) dup2(null, STDIN_FILENO);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGUSR1, SIG_DFL);
    execve(argv[0], argv.data(), envp.data());
    const int error = errno;
    (void)!write(report, &error, sizeof(error));
    _exit(127);
  }
  setpgid(pid, pid);  // also here, so that Kill() never comes too early
  close(log);
  close(channel[1]);
  close(started[1]);
  int error = 0;
  const bool failed = read(started[0], &error, sizeof(error)) == sizeof(error);
  close(started[0]);
  std::unique_ptr<Subprocess> process(new Subprocess(pid, channel[0]));
  if (failed) return absl::NotFoundError(absl::StrCat("cannot start ", arguments[0], ": ", std::strerror(error)));
  return process;
}

Subprocess::~Subprocess() {
  close(channel_);
  Kill(SIGKILL);
  WaitFor(kLongestEnd);
}

void Subprocess::Kill(int signal) {
  if (!end_.has_value()) kill(-pid_, signal);
}

absl::Status Subprocess::Wait() { return *WaitFor(absl::InfiniteDuration()); }

std::optional<absl::Status> Subprocess::WaitFor(absl::Duration at_most) {
  if (end_.has_value()) return end_;
  const bool for_ever = at_most == absl::InfiniteDuration();
  const absl::Duration until = SteadyNow() + at_most;
  int status = 0;
  for (absl::Duration pause = kShortestPause;; pause = std::min(2 * pause, kLongestPause)) {
    const pid_t ended = waitpid(pid_, &status, for_ever ? 0 : WNOHANG);
    if (ended == pid_ || (ended < 0 && errno != EINTR)) break;
    if (SteadyNow() >= until) return std::nullopt;
    absl::SleepFor(pause);
  }
  kill(-pid_, SIGKILL);  // whatever else is left of its group
  if (WIFSIGNALED(status)) {
    end_ = absl::AbortedError(
        absl::StrCat("was killed by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")"));
  } else if (WEXITSTATUS(status) != 0) {
    end_ = absl::AbortedError(absl::StrCat("exited with ", WEXITSTATUS(status)));
  } else {
    end_ = absl::OkStatus();
  }
  return end_;
}

bool Subprocess::GroupHasEnded() {
  if (!WaitFor(absl::ZeroDuration()).has_value()) return false;
  if (kill(-pid_, 0) != 0 && errno == ESRCH) return true;
  for (const std::string& entry : ListFolder("/proc").value_or(std::vector<std::string>())) {
    pid_t process = 0;
    if (!absl::SimpleAtoi(entry, &process)) continue;
    const std::optional<ProcessStat> stat = StatOf(process);
    if (stat.has_value() && stat->group == pid_ && !stat->has_ended()) return false;
  }
  return true;
}

}  // namespace openset
