// The version and the sources of this program.
#ifndef OPENSET_CORE_PROCESS_BUILD_INFO_H_
#define OPENSET_CORE_PROCESS_BUILD_INFO_H_

#include <string>

namespace openset {

// Whether this program links //tools:build_stamp. Tests and the programs that they run don't, so that their results
// stay cached from commit to commit.
bool IsStamped();

// "0.1.0".
std::string Version();

// The commit; "unknown" for programs without a stamp, or built outside of a clone.
std::string BuildCommit();

// Whether the tree differed from the commit.
bool BuiltFromChanges();

// SHA-256, in hexadecimal, of the differences (tools/build_defs/workspace_status.sh); "" if there are none.
std::string BuildChanges();

// SHA-256, in hexadecimal, of the file that this process runs, even if another file has its name now. Computed at the
// first call. "" if the kernel doesn't provide the file.
std::string ProgramDigest();

// "gcc 12.2.0".
std::string Compiler();

// The Debian packages that it contains, by the names of their repositories (third_party/repositories.bzl):
// "absl 20220623.1-1+deb12u2, boost_math 1.74.0+ds1-21, ...".
std::string ThirdPartyLibraries();

// The Debian packages that it contains in another revision than the pinned one, "NAME REVISION instead of PINNED",
// separated by "; ". Empty if there are none. Other libraries are pinned by SHA-256.
std::string ThirdPartyRevisions();

// Whether it was built with --config=cuda.
bool BuiltWithCuda();

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_BUILD_INFO_H_
