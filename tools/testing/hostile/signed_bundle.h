// Bundles with any members, and with correct sums and a correct signature.
#ifndef OPENSET_TOOLS_TESTING_HOSTILE_SIGNED_BUNDLE_H_
#define OPENSET_TOOLS_TESTING_HOSTILE_SIGNED_BUNDLE_H_

#include <string>
#include <vector>

#include "core/testing/archive_bytes.h"
#include "tools/testing/hostile/ground.h"

namespace openset {

// Returns the members of a valid bundle in the form of version 1 (experiments/store/testing/bundle_bytes.h), without
// its sums. `path` is below the ground's folder.
std::vector<ZipMember> BundleMembers(const Ground& ground, const std::string& path);

// The version in which a bundle is written: 1 or 2.
enum class BundleForm { kMembers, kPacked };

// Replaces the file by a signed bundle of these members, and of their sums unless they contain them.
void WriteSigned(const Ground& ground, const std::string& path, const std::vector<ZipMember>& members,
                 BundleForm form = BundleForm::kMembers);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HOSTILE_SIGNED_BUNDLE_H_
