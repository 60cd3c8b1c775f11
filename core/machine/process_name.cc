#include "core/machine/process_name.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/machine/machine.h"
#include "core/text/hex.h"

namespace openset {
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
