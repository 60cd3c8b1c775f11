// Passing absl::Status up the call chain.
#ifndef OPENSET_CORE_STATUS_MACROS_H_
#define OPENSET_CORE_STATUS_MACROS_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace openset {

// `status` with "context: " before its message and the same code; OK stays OK.
inline absl::Status Annotate(const absl::Status& status, absl::string_view context) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(context, ": ", status.message()));
}

namespace status_internal {

inline absl::Status InContext(absl::Status status) { return status; }

template <typename... Parts>
absl::Status InContext(const absl::Status& status, const Parts&... parts) {
  return Annotate(status, absl::StrCat(parts...));
}

}  // namespace status_internal
}  // namespace openset

// Returns from the enclosing function when `expr`, an absl::Status, is not OK. Further arguments are joined by
// absl::StrCat(), only in that case, and precede the message: OPENSET_RETURN_IF_ERROR(Read(path), "line ", line).
#define OPENSET_RETURN_IF_ERROR(expr, ...)                                                     \
  do {                                                                                         \
    if (::absl::Status openset_status = (expr); !openset_status.ok()) {                        \
      return ::openset::status_internal::InContext(openset_status __VA_OPT__(, ) __VA_ARGS__); \
    }                                                                                          \
  } while (false)

// Assigns the value of `rexpr`, an absl::StatusOr, to `lhs`, or returns its status from the enclosing function. Further
// arguments as above.
#define OPENSET_ASSIGN_OR_RETURN(lhs, rexpr, ...) \
  OPENSET_ASSIGN_OR_RETURN_IMPL_(OPENSET_CONCAT_(openset_status_or_, __LINE__), lhs, rexpr __VA_OPT__(, ) __VA_ARGS__)

#define OPENSET_CONCAT_INNER_(a, b) a##b
#define OPENSET_CONCAT_(a, b) OPENSET_CONCAT_INNER_(a, b)
#define OPENSET_ASSIGN_OR_RETURN_IMPL_(result, lhs, rexpr, ...)                               \
  auto result = (rexpr);                                                                      \
  if (!result.ok()) {                                                                         \
    return ::openset::status_internal::InContext(result.status() __VA_OPT__(, ) __VA_ARGS__); \
  }                                                                                           \
  lhs = std::move(result).value()

#endif  // OPENSET_CORE_STATUS_MACROS_H_
