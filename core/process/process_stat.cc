#include "core/process/process_stat.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"

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

}  // namespace openset
