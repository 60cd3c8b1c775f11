#include "core/files/temporary_name.h"

namespace openset {
namespace {

constexpr absl::string_view kMark = ".tmp.";

}  // namespace

std::optional<ProcessName> OwnerOfTemporary(absl::string_view name) {
  std::optional<ProcessName> other;
  // The host, and the name before the mark, may contain the mark too. If any reading of the name makes it ours, it is
  // ours.
  for (size_t mark = name.find(kMark, 1); mark != absl::string_view::npos; mark = name.find(kMark, mark + 1)) {
    const std::optional<ProcessName> owner = ParseProcessName(name.substr(mark + kMark.size()));
    if (owner.has_value() && owner->IsHere()) return owner;
    if (!other.has_value()) other = owner;
  }
  return other;
}

}  // namespace openset
