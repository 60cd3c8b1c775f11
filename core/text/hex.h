// Recognises digests and keys, which are written as lower-case hexadecimal digits.
#ifndef OPENSET_CORE_TEXT_HEX_H_
#define OPENSET_CORE_TEXT_HEX_H_

#include <cstddef>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace openset {

// The digits of a SHA-256, as which keys and record ids are written.
inline constexpr size_t kSha256Digits = 64;

// Whether all of `text` is lower-case hexadecimal digits; true if it is empty.
inline bool IsHex(absl::string_view text) {
  return absl::c_all_of(text, [](char c) { return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f'); });
}

// Whether `text` is exactly `digits` lower-case hexadecimal digits.
inline bool IsHex(absl::string_view text, size_t digits) { return text.size() == digits && IsHex(text); }

// Whether `text` has the form of a SHA-256.
inline bool IsSha256(absl::string_view text) { return IsHex(text, kSha256Digits); }

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_HEX_H_
