#include "core/process/build_info.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "third_party/revisions.h"

// Defined by //tools:build_stamp: the commit, "-dirty" behind it where the tree had changes.
extern const char openset_build_commit[] __attribute__((weak));

namespace openset {
namespace {

constexpr char kDirty[] = "-dirty";

absl::string_view Stamp() { return IsStamped() ? openset_build_commit : "unknown"; }

}  // namespace

bool IsStamped() { return openset_build_commit != nullptr; }

std::string BuildCommit() { return std::string(absl::StripSuffix(Stamp(), kDirty)); }

bool BuiltFromChanges() { return Stamp() != BuildCommit(); }

std::string Compiler() {
#ifdef __clang__
  return absl::StrCat("clang ", __clang_major__, ".", __clang_minor__, ".", __clang_patchlevel__);
#else
  return absl::StrCat("gcc ", __GNUC__, ".", __GNUC_MINOR__, ".", __GNUC_PATCHLEVEL__);
#endif
}

std::string ThirdPartyRevisions() { return openset_third_party_revisions; }

bool BuiltWithCuda() {
#ifdef OPENSET_CUDA
  return true;
#else
  return false;
#endif
}

}  // namespace openset
