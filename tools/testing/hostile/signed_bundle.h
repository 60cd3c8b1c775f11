// Bundles of any members, whose sums and signature are right.
#ifndef OPENSET_TOOLS_TESTING_HOSTILE_SIGNED_BUNDLE_H_
#define OPENSET_TOOLS_TESTING_HOSTILE_SIGNED_BUNDLE_H_

#include <string>
#include <vector>

#include "core/testing/archive_bytes.h"
#include "tools/testing/hostile/ground.h"

namespace openset {

// The members of a bundle that is whole, as version 1 has them (experiments/store/testing/bundle_bytes.h), without its
// sums. `path` is below the ground's folder.
std::vector<ZipMember> BundleMembers(const Ground& ground, const std::string& path);

// Of which version a bundle is written.
enum class BundleForm { kMembers, kPacked };

// In the file's place a bundle of these and, unless they have them, of their sums, signed.
void WriteSigned(const Ground& ground, const std::string& path, const std::vector<ZipMember>& members,
                 BundleForm form = BundleForm::kMembers);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HOSTILE_SIGNED_BUNDLE_H_
