#include "core/process/free_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace openset {
namespace {

// The number that follows `key` in a file of keys and numbers.
std::optional<int64_t> NumberAfter(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    int64_t number = 0;
    if (word == key && file >> number) return number;
  }
  return std::nullopt;
}

std::optional<int64_t> FirstNumber(const char* path) {
  std::ifstream file(path);
  int64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

}  // namespace

int64_t FreeMemoryBytes() {
  constexpr int64_t kUnknown = int64_t{1} << 62;
  const std::optional<int64_t> kilobytes = NumberAfter("/proc/meminfo", "MemAvailable:");
  const int64_t free = kilobytes.has_value() ? *kilobytes * 1024 : kUnknown;
  const std::optional<int64_t> limit = FirstNumber("/sys/fs/cgroup/memory.max");  // none if it is "max"
  const std::optional<int64_t> used = FirstNumber("/sys/fs/cgroup/memory.current");
  if (!limit.has_value() || !used.has_value()) return free;
  // Cached files that are not in use give way.
  const int64_t cached = NumberAfter("/sys/fs/cgroup/memory.stat", "inactive_file").value_or(0);
  return std::min(free, std::max<int64_t>(0, *limit - *used + cached));
}

int64_t UsedMemoryBytes() {
  // Pages: the program's size, then what is resident.
  std::ifstream file("/proc/self/statm");
  int64_t size = 0, resident = 0;
  if (!(file >> size >> resident)) return 0;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace openset
