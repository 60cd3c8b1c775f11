#include "core/machine/machine.h"

#include <pwd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/text/hex.h"

namespace openset {
namespace {

// Returns the text after "KEY<blanks>:" in the first such line; "" if there is none.
std::string FieldOf(const char* path, absl::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, key)) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    if (absl::StripAsciiWhitespace(absl::string_view(line).substr(0, colon)) != key) continue;
    return std::string(absl::StripAsciiWhitespace(absl::string_view(line).substr(colon + 1)));
  }
  return "";
}

// Returns the number after `key` in the first line that begins with these: "MemTotal:  16384256 kB".
std::optional<int64_t> NumberAfter(const char* path, absl::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    int64_t number = 0;
    if (words >> first && first == key && words >> number) return number;
  }
  return std::nullopt;
}

std::optional<int64_t> FirstNumber(const char* path) {
  std::ifstream file(path);
  int64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

constexpr char kMemory[] = "/proc/meminfo";
constexpr char kProcess[] = "/proc/self/status";
constexpr char kMemoryLimit[] = "/sys/fs/cgroup/memory.max";  // "max", or bytes

// The inode of the machine's initial namespace: PROC_PID_INIT_INO of the kernel's proc_ns.h.
constexpr char kFirstPidNamespace[] = "pid:[4026531836]";

// For file names and messages.
std::string Plain(std::string name) {
  for (char& c : name) {
    if (!absl::ascii_isalnum(c) && c != '.' && c != '-') c = '_';
  }
  return name;
}

double Seconds(const timeval& time) { return time.tv_sec + 1e-6 * time.tv_usec; }

}  // namespace

std::string HostName() {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return HostNameOf(host);
}

std::string HostNameOf(const std::string& kernel) { return kernel.empty() ? "host" : Plain(kernel); }

int64_t UserId() { return geteuid(); }

std::string UserName() {
  // Cached, because the lookup may ask another machine.
  static const std::string* const name = [] {
    std::vector<char> buffer(1 << 14);
    passwd entry = {}, *found = nullptr;
    const bool known = getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr;
    return new std::string(known ? Plain(found->pw_name) : "");
  }();
  return *name;
}

std::string ProcessSpace() {
  std::string text, space;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), text);
  std::error_code error;
  text += std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
  uint32_t hash = 2166136261;  // FNV-1a
  for (const unsigned char c : text) hash = (hash ^ c) * 16777619;
  return absl::StrFormat("%08x", hash);
}

std::string CpuName() {
  std::string name = FieldOf("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown" : name;
}

std::vector<std::string> CpuFeatures() {
  std::vector<std::string> features;
#ifdef __x86_64__
  __builtin_cpu_init();
// The builtin needs a literal.
#define OPENSET_ADD_IF_SUPPORTED(name) \
  if (__builtin_cpu_supports(name)) features.push_back(name)
  OPENSET_ADD_IF_SUPPORTED("sse4.2");
  OPENSET_ADD_IF_SUPPORTED("avx");
  OPENSET_ADD_IF_SUPPORTED("avx2");
  OPENSET_ADD_IF_SUPPORTED("fma");
  OPENSET_ADD_IF_SUPPORTED("avx512f");
  OPENSET_ADD_IF_SUPPORTED("avx512bw");
  OPENSET_ADD_IF_SUPPORTED("avx512dq");
  OPENSET_ADD_IF_SUPPORTED("avx512vl");
  OPENSET_ADD_IF_SUPPORTED("avx512vnni");
  OPENSET_ADD_IF_SUPPORTED("avx512bf16");
#undef OPENSET_ADD_IF_SUPPORTED
#endif
  return features;
}

int64_t MachineMemoryMb() {
  constexpr int64_t kMb = 1 << 20;
  const std::optional<int64_t> kilobytes = NumberAfter(kMemory, "MemTotal:");
  if (!kilobytes.has_value()) return 0;
  const std::optional<int64_t> limit = FirstNumber(kMemoryLimit);
  return limit.has_value() ? std::min(*kilobytes / 1024, *limit / kMb) : *kilobytes / 1024;
}

int64_t FreeMemoryBytes() {
  constexpr int64_t kUnknown = int64_t{1} << 62;
  const std::optional<int64_t> kilobytes = NumberAfter(kMemory, "MemAvailable:");
  const int64_t free = kilobytes.has_value() ? *kilobytes * 1024 : kUnknown;
  const std::optional<int64_t> limit = FirstNumber(kMemoryLimit);
  const std::optional<int64_t> used = FirstNumber("/sys/fs/cgroup/memory.current");
  if (!limit.has_value() || !used.has_value()) return free;
  // Cached files that are not in use give way.
  const int64_t cached = NumberAfter("/sys/fs/cgroup/memory.stat", "inactive_file").value_or(0);
  return std::min(free, std::max<int64_t>(0, *limit - *used + cached));
}

int64_t UsedMemoryBytes() { return NumberAfter(kProcess, "VmRSS:").value_or(0) * 1024; }

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

int64_t PeakMemoryBytes() {
  const std::optional<int64_t> kilobytes = NumberAfter(kProcess, "VmHWM:");
  if (kilobytes.has_value()) return *kilobytes * 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

void ForgetPeakMemory() { std::ofstream("/proc/self/clear_refs") << "5"; }

bool HasMachinePids(const std::string& pid_namespace) {
  std::error_code error;
  return std::filesystem::read_symlink(pid_namespace, error) == kFirstPidNamespace;
}

namespace {

constexpr size_t kSpaceDigits = 8;
constexpr size_t kLongestHost = 255;

// Removes the part after the last dot from `text` and returns it; "" if it has no dot.
absl::string_view TakeLast(absl::string_view* text) {
  const size_t dot = text->rfind('.');
  if (dot == absl::string_view::npos) return "";
  const absl::string_view last = text->substr(dot + 1);
  text->remove_suffix(last.size() + 1);
  return last;
}

// As StrCat() writes it.
template <typename Number>
bool ParseNumber(absl::string_view text, Number* number) {
  return absl::SimpleAtoi(text, number) && absl::StrCat(*number) == text;
}

bool IsHost(absl::string_view text) {
  return !text.empty() && text.size() <= kLongestHost && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '_';
  });
}

}  // namespace

bool ProcessName::IsHere() const {
  static const std::string* const here = new std::string(ProcessSpace());
  static const std::string* const this_host = new std::string(HostName());
  return space == *here && host == *this_host;
}

std::optional<ProcessName> ParseProcessName(absl::string_view text) {
  ProcessName name;
  absl::string_view rest = text;
  if (!ParseNumber(TakeLast(&rest), &name.number) || !ParseNumber(TakeLast(&rest), &name.pid) || name.pid < 1) {
    return std::nullopt;
  }
  const absl::string_view space = TakeLast(&rest);
  if (!IsHex(space, kSpaceDigits) || !IsHost(rest)) return std::nullopt;
  name.space = std::string(space);
  name.host = std::string(rest);
  return name;
}

}  // namespace openset
