// What this program was built from.
#ifndef OPENSET_CORE_PROCESS_BUILD_INFO_H_
#define OPENSET_CORE_PROCESS_BUILD_INFO_H_

#include <string>

namespace openset {

// Whether this program links //tools:build_stamp. Tests and what they run do not, so that they stay cached from commit
// to commit.
bool IsStamped();

// "0.1.0".
std::string Version();

// The commit; "unknown" for programs without a stamp, or built outside of a clone.
std::string BuildCommit();

// Whether the tree differed from the commit.
bool BuiltFromChanges();

// SHA-256, in hexadecimal, of how it differed (tools/build_defs/workspace_status.sh); "" where it did not.
std::string BuildChanges();

// SHA-256, in hexadecimal, of the file that this process runs, also where another one has its name by now; computed at
// the first call. "" where the kernel does not show it.
std::string ProgramDigest();

// "gcc 12.2.0".
std::string Compiler();

// The Debian packages in it, "absl 20220623.1-1+deb12u2, boost_math 1.74.0+ds1-21, ...", by the names of their
// repositories (third_party/repositories.bzl).
std::string ThirdPartyLibraries();

// The Debian packages in it that are not of the pinned revision, "NAME REVISION instead of PINNED", by "; ". Empty if
// all are: the rest of the libraries is pinned by SHA-256.
std::string ThirdPartyRevisions();

// Whether it was built with --config=cuda.
bool BuiltWithCuda();

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_BUILD_INFO_H_
