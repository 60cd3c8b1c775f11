#include "core/process/subprocess.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "core/files/files.h"
#include "core/files/system_calls.h"
#include "core/process/steady_clock.h"
#include "core/status_macros.h"

extern char** environ;

namespace openset {

std::optional<ProcessStat> StatOf(pid_t process) {
  return ParseProcessStat(ReadFile(absl::StrCat("/proc/", process, "/stat")).value_or(""));
}

int64_t BytesReadBy(pid_t process) {
  // "rchar: NUMBER", and other lines.
  const std::string text = ReadFile(absl::StrCat("/proc/", process, "/io")).value_or("");
  int64_t bytes = 0;
  absl::string_view first = text;
  const bool is_said =
      absl::ConsumePrefix(&first, "rchar: ") && absl::SimpleAtoi(first.substr(0, first.find('\n')), &bytes);
  return is_said ? bytes : 0;
}

std::optional<ProcessStat> ParseProcessStat(const std::string& text) {
  // ID (NAME) STATE ..., where the name may contain anything; proc(5) counts the fields from 1.
  const size_t end = text.rfind(')');
  if (end == std::string::npos) return std::nullopt;
  const std::vector<std::string> fields =
      absl::StrSplit(text.substr(end + 1), absl::ByAnyChar(" \n"), absl::SkipEmpty());
  constexpr size_t kFirst = 3, kState = 3, kGroup = 5, kUser = 14, kSystem = 15, kStart = 22;
  ProcessStat stat = {};
  int64_t user = 0, system = 0;
  if (fields.size() <= kStart - kFirst || !absl::SimpleAtoi(fields[kGroup - kFirst], &stat.group) ||
      !absl::SimpleAtoi(fields[kUser - kFirst], &user) || !absl::SimpleAtoi(fields[kSystem - kFirst], &system) ||
      !absl::SimpleAtoi(fields[kStart - kFirst], &stat.start_ticks)) {
    return std::nullopt;
  }
  stat.state = fields[kState - kFirst][0];
  stat.cpu_ticks = user + system;
  return stat;
}

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

absl::StatusOr<ProcessEnd> RunToEnd(const std::vector<std::string>& arguments, int64_t max_file_bytes) {
  SpawnOptions options;
  options.output = STDERR_FILENO;
  options.max_file_bytes = max_file_bytes;
  OPENSET_ASSIGN_OR_RETURN(const pid_t child, Spawn(arguments, options));
  return WaitForEnd(child);
}

absl::Status RunProgram(const std::vector<std::string>& arguments, int64_t max_file_bytes) {
  OPENSET_ASSIGN_OR_RETURN(const ProcessEnd end, RunToEnd(arguments, max_file_bytes));
  return end.ToStatus(arguments[0]);
}

absl::StatusOr<std::unique_ptr<Subprocess>> Subprocess::Start(const std::vector<std::string>& arguments,
                                                              const std::map<std::string, std::string>& environment,
                                                              const std::string& log_file) {
  const auto system_error = [](absl::string_view what) {
    return absl::UnavailableError(absl::StrCat("cannot ", what, ": ", std::strerror(errno)));
  };
  // Does not block if the file is a pipe without a reader.
  const int log = OpenFile(log_file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666);
  if (log < 0) return system_error(absl::StrCat("open ", log_file));
  const absl::Cleanup close_log = [log] { close(log); };
  int channel[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0) return system_error("make a channel");
  SpawnOptions options;
  options.environment = environment;
  options.output = log;
  options.error = log;
  options.channel = channel[1];
  options.has_own_group = true;
  const absl::StatusOr<pid_t> child = Spawn(arguments, options);
  close(channel[1]);
  if (child.ok()) return std::unique_ptr<Subprocess>(new Subprocess(*child, channel[0]));
  close(channel[0]);
  return child.status();
}

Subprocess::~Subprocess() {
  close(channel_);
  Kill(SIGKILL);
  WaitFor(kLongestEnd);
}

void Subprocess::Kill(int signal) {
  if (!end_.has_value()) kill(-pid_, signal);
}

ProcessEnd Subprocess::Wait() { return *WaitFor(absl::InfiniteDuration()); }

std::optional<ProcessEnd> Subprocess::WaitFor(absl::Duration at_most) {
  if (end_.has_value()) return end_;
  end_ = WaitForEnd(pid_, at_most);
  if (end_.has_value()) kill(-pid_, SIGKILL);  // the rest of its group
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
