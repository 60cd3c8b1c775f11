#include "tools/testing/hostile/try_case.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "tools/testing/http_client.h"

namespace openset {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitizers = true;
#else
constexpr bool kSanitizers = false;
#endif
constexpr rlim_t kCpuSeconds = kSanitizers ? 120 : 20;
constexpr int64_t kMostKilobytes = (kSanitizers ? 4 : 1) << 20;
constexpr int kWaitMilliseconds = 120'000;
constexpr size_t kMostError = 20'000;

struct Ended {
  int status = 0;
  bool hung = false;
  int64_t kilobytes = 0;
  std::string out, err;
  std::string answer;  // to HostileCase.request
};

// The port in "http://127.0.0.1:1234/", once the program has printed it; 0 if the program ends before.
int PortOf(const std::string& out, pid_t pid) {
  for (int waited = 0; waited < kWaitMilliseconds; waited += 10) {
    const std::string text = ReadFile(out).value_or("");
    const size_t colon = text.rfind(':', text.find('/', text.find("//") + 2));
    int port = 0;
    if (absl::StrContains(text, '\n') &&
        absl::SimpleAtoi(text.substr(colon + 1, text.find('/', colon) - colon - 1), &port)) {
      return port;
    }
    siginfo_t info = {};
    if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid) return 0;
    usleep(10'000);
  }
  return 0;
}

void Limit(int resource, rlim_t most) {
  const rlimit limit = {most, most};
  setrlimit(resource, &limit);
}

[[noreturn]] void Execute(const HostileCase& one, const Fixture& fixture, const std::string& program) {
  setpgid(0, 0);
  const auto to = [](int stream, const std::string& path, int flags) { dup2(open(path.c_str(), flags, 0600), stream); };
  to(STDIN_FILENO, "/dev/null", O_RDONLY);
  to(STDOUT_FILENO, fixture.folder() + ".out", O_WRONLY | O_CREAT | O_TRUNC);
  to(STDERR_FILENO, fixture.folder() + ".err", O_WRONLY | O_CREAT | O_TRUNC);
  Limit(RLIMIT_CPU, kCpuSeconds);
  Limit(RLIMIT_CORE, 0);
  // Sanitizers reserve terabytes for themselves; each thread reserves some 130 MB for its stack and heap.
  if (!kSanitizers) Limit(RLIMIT_AS, (rlim_t{4} << 30) + (rlim_t{160} << 20) * sysconf(_SC_NPROCESSORS_ONLN));
  for (const int power : {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH}) prctl(PR_CAPBSET_DROP, power);
  if (chdir(fixture.Path("work").c_str()) != 0) _exit(125);
  std::map<std::string, std::string> environment = {{"HOME", fixture.Path("home")},
                                                    {"TMPDIR", fixture.Path("tmp")},
                                                    {"PATH", fixture.Path("bin") + ":/usr/bin:/bin"},
                                                    {"LC_ALL", "C.UTF-8"},
                                                    {"RUNFILES_DIR", *RunfilesFolder()},
                                                    {"ASAN_OPTIONS", "exitcode=99:detect_leaks=0"},
                                                    {"UBSAN_OPTIONS", "print_stacktrace=1"}};
  for (const auto& [name, value] : one.environment) environment[name] = value;
  std::vector<std::string> words = {program}, settings;
  words.insert(words.end(), one.command.begin(), one.command.end());
  for (const auto& [name, value] : environment) settings.push_back(absl::StrCat(name, "=", value));
  const auto pointers = [](std::vector<std::string>* texts) {
    std::vector<char*> result;
    for (std::string& text : *texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  };
  execve(program.c_str(), pointers(&words).data(), pointers(&settings).data());
  _exit(126);
}

Ended Run(const HostileCase& one, const Fixture& fixture) {
  const std::string program =
      absl::StrCat(*RunfilesFolder(), "/openset/tools/openset_", one.with_worker ? "unstamped" : "without_worker");
  Ended ended;
  unlink((fixture.folder() + ".out").c_str());  // of the previous case
  const pid_t pid = fork();
  if (pid == 0) Execute(one, fixture, program);
  setpgid(pid, pid);
  if (!one.request.empty()) {
    if (const int port = PortOf(fixture.folder() + ".out", pid); port > 0) {
      // The server asks for a token if the test's folder is closed to other users.
      constexpr char kToken[] = "/?token=", kHost[] = "Host: localhost\r\n";
      const std::string address = ReadFile(fixture.folder() + ".out").value_or("");
      const size_t token = address.find(kToken);
      const std::string cookie =
          token == std::string::npos
              ? ""
              : absl::StrCat("Cookie: openset_token=", address.substr(token + sizeof(kToken) - 1, 32), "\r\n");
      ended.answer = Exchange(port, absl::StrReplaceAll(one.request, {{kHost, absl::StrCat(kHost, cookie)}}));
    }
    kill(pid, SIGTERM);
  }
  rusage usage = {};
  int waited = 0;
  for (; wait4(pid, &ended.status, WNOHANG, &usage) == 0; ++waited) {
    if (waited < kWaitMilliseconds) {
      usleep(1000);
      continue;
    }
    ended.hung = true;
    kill(-pid, SIGKILL);
    wait4(pid, &ended.status, 0, &usage);
    break;
  }
  kill(-pid, SIGKILL);  // its remaining processes
  ended.kilobytes = usage.ru_maxrss;
  ended.out = ReadFile(fixture.folder() + ".out").value_or("");
  ended.err = ReadFile(fixture.folder() + ".err").value_or("");
  return ended;
}

// The position of the first character that must not be sent to a terminal; npos if there is none.
size_t FirstUnprintable(absl::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<uint8_t>(text[at + i]) : 0; };
    const uint8_t first = byte(0);
    const size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
    if (length == 0) return at;
    uint32_t code = length == 1 ? first : first & (0x7f >> length);
    for (size_t i = 1; i < length; ++i) {
      if (byte(i) >> 6 != 2) return at;
      code = code << 6 | (byte(i) & 0x3f);
    }
    const bool is_control = (code < 0x20 && code != '\n') || (code >= 0x7f && code < 0xa0);
    const bool is_direction = code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
                              (code >= 0x2066 && code <= 0x2069) || code == 0x061c;
    if (is_control || is_direction || code == 0x2028 || code == 0x2029) return at;
    at += length;
  }
  return std::string::npos;
}

// Changed paths that are not below any of `allowed`.
std::vector<std::string> Strayed(const std::map<std::string, std::string>& before,
                                 const std::map<std::string, std::string>& after,
                                 const std::vector<std::string>& allowed) {
  std::vector<std::string> strayed;
  const auto look = [&](const std::string& path, const char* what) {
    for (const std::string& folder : allowed) {
      if (path == folder || absl::StartsWith(path, folder + "/")) return;
    }
    strayed.push_back(absl::StrCat(path, " is ", what));
  };
  for (const auto& [path, content] : before) {
    const auto now = after.find(path);
    if (now == after.end()) {
      look(path, "gone");
    } else if (now->second != content) {
      look(path, "changed");
    }
  }
  for (const auto& [path, content] : after) {
    if (before.count(path) == 0) look(path, "new");
  }
  return strayed;
}

std::string ProblemWithEnd(const HostileCase& one, int code, const Ended& ended) {
  const bool is_named = absl::StrContains(ended.err, one.named) || absl::StrContains(ended.out, one.named) ||
                        absl::StrContains(ended.answer, one.named);
  switch (one.end) {
    case End::kRefused:
      if (code != 2) return absl::StrCat("exit code ", code, " in place of 2");
      if (!absl::StrContains(ended.err, one.named)) return absl::StrCat("does not name ", one.named);
      break;
    case End::kNoted:
      if (code == 0) return "exit code 0, as if nothing were wrong";
      if (!is_named) return absl::StrCat("does not name ", one.named);
      break;
    case End::kHarmless:
      if (code != 0) return absl::StrCat("exit code ", code, " in place of 0");
      if (!is_named) return absl::StrCat("does not name ", one.named);
      break;
    case End::kAnswered:
      break;
  }
  return "";
}

}  // namespace

std::string TryCase(const HostileCase& one) {
  const Fixture fixture;
  one.make(fixture);
  const std::map<std::string, std::string> before = fixture.Snapshot();
  const Ended ended = Run(one, fixture);
  std::vector<std::string> problems;
  const auto see = [&](bool is_so, const std::string& what) {
    if (is_so) problems.push_back(what);
  };
  if (ended.hung) {
    problems.push_back("waits for ever");
  } else if (WIFSIGNALED(ended.status)) {
    problems.push_back(absl::StrCat("killed by signal ", WTERMSIG(ended.status)));
  } else {
    const int code = WEXITSTATUS(ended.status);
    see(code < 0 || code > 2, absl::StrCat("exit code ", code));
    see(code != 0 && ended.err.empty(), "no word on standard error");
    if (problems.empty()) {
      const std::string problem = ProblemWithEnd(one, code, ended);
      see(!problem.empty(), problem);
    }
  }
  see(absl::StrContains(ended.answer, "HTTP/1.1") && !absl::StrContains(ended.answer, ": default-src 'none'"),
      "an answer lets scripts run");
  see(ended.kilobytes > kMostKilobytes, absl::StrCat("took ", ended.kilobytes >> 10, " MiB"));
  see(ended.err.size() > kMostError, absl::StrCat(ended.err.size(), " bytes on standard error"));
  for (const char* report : {"Sanitizer", "runtime error:", "terminate called", "Check failed", "internal error"}) {
    see(absl::StrContains(ended.err, report), report);
  }
  for (const std::string* text : {&ended.out, &ended.err}) {
    const size_t at = FirstUnprintable(*text);
    if (at == std::string::npos) continue;
    problems.push_back(
        absl::StrCat("prints \"", absl::CHexEscape(text->substr(std::max<size_t>(at, 20) - 20, 40)), "\""));
  }
  std::vector<std::string> allowed = one.writes;
  allowed.insert(allowed.end(), {"home/.cache"});
  const std::vector<std::string> strayed = Strayed(before, fixture.Snapshot(), allowed);
  see(!strayed.empty(), absl::StrJoin(strayed.begin(), strayed.begin() + std::min<size_t>(strayed.size(), 5), ", "));
  if (problems.empty()) return "";
  return absl::StrCat(absl::StrJoin(problems, "; "),
                      "\n    standard error: ", absl::CHexEscape(ended.err.substr(0, 600)));
}

}  // namespace openset
