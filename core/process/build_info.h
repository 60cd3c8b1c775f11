// What this program was built from.
#ifndef OPENSET_CORE_PROCESS_BUILD_INFO_H_
#define OPENSET_CORE_PROCESS_BUILD_INFO_H_

#include <string>

namespace openset {

// Whether this program links //tools:build_stamp. Tests and what they run do not, so that they stay cached from commit
// to commit.
bool IsStamped();

// The commit; "unknown" for programs without a stamp, or built outside of a clone.
std::string BuildCommit();

// Whether the tree differed from the commit.
bool BuiltFromChanges();

// "gcc 12.2.0".
std::string Compiler();

// The Debian packages in it that are not of the pinned revision, "NAME REVISION instead of PINNED", by "; ". Empty if
// all are: the rest of the libraries is pinned by SHA-256.
std::string ThirdPartyRevisions();

// Whether it was built with --config=cuda.
bool BuiltWithCuda();

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_BUILD_INFO_H_
