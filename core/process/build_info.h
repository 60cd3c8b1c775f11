// What this program was built from.
#ifndef OPENSET_CORE_PROCESS_BUILD_INFO_H_
#define OPENSET_CORE_PROCESS_BUILD_INFO_H_

#include <string>

namespace openset {

// The commit, with "-dirty" behind it where the tree differed from it; "unknown" for programs that do not link
// //tools:build_stamp (tests do not, so that they stay cached from commit to commit).
std::string BuildCommit();

// The Debian packages in it that are not of the pinned revision, "NAME REVISION instead of PINNED", by "; ". Empty if
// all are: the rest of the libraries is pinned by SHA-256.
std::string ThirdPartyRevisions();

// Whether it was built with --config=cuda.
bool BuiltWithCuda();

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_BUILD_INFO_H_
