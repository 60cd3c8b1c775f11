#include "core/process/build_info.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/files/digest.h"
#include "third_party/revisions.h"

// Defined by //tools:build_stamp: the commit; if the tree had changes,
// followed by "-dirty-" and a SHA-256.
extern const char openset_build_commit[] __attribute__((weak));

namespace openset {
namespace {

absl::string_view Stamp() { return IsStamped() ? openset_build_commit : "unknown"; }

// {commit, digest of the changes}
std::pair<absl::string_view, absl::string_view> StampParts() {
  return absl::StrSplit(Stamp(), absl::MaxSplits("-dirty-", 1));
}

}  // namespace

bool IsStamped() { return openset_build_commit != nullptr; }

std::string Version() { return OPENSET_VERSION; }

std::string BuildCommit() { return std::string(StampParts().first); }

bool BuiltFromChanges() { return !BuildChanges().empty(); }

std::string BuildChanges() { return std::string(StampParts().second); }

std::string ProgramDigest() {
  static const std::string* const digest = new std::string(Sha256HexOfFile("/proc/self/exe").value_or(""));
  return *digest;
}

std::string Compiler() {
#ifdef __clang__
  return absl::StrCat("clang ", __clang_major__, ".", __clang_minor__, ".", __clang_patchlevel__);
#else
  return absl::StrCat("gcc ", __GNUC__, ".", __GNUC_MINOR__, ".", __GNUC_PATCHLEVEL__);
#endif
}

std::string ThirdPartyLibraries() { return openset_third_party_libraries; }

std::string ThirdPartyRevisions() { return openset_third_party_revisions; }

bool BuiltWithCuda() {
#ifdef OPENSET_CUDA
  return true;
#else
  return false;
#endif
}

}  // namespace openset
