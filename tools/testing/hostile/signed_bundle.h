// Bundles of any members, whose sums and signature are right.
#ifndef OPENSET_TOOLS_TESTING_HOSTILE_SIGNED_BUNDLE_H_
#define OPENSET_TOOLS_TESTING_HOSTILE_SIGNED_BUNDLE_H_

#include <string>
#include <vector>

#include "core/testing/archive_bytes.h"
#include "tools/testing/hostile/ground.h"

namespace openset {

// The members of a bundle that is whole, without its sums, in the order of their names. `path` is below the ground's
// folder.
std::vector<ZipMember> BundleMembers(const Ground& ground, const std::string& path);

// In the file's place a bundle of these and, unless they have them, of their sums, signed.
void WriteSigned(const Ground& ground, const std::string& path, std::vector<ZipMember> members);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HOSTILE_SIGNED_BUNDLE_H_
