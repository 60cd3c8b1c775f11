#include "tools/testing/hostile/signed_bundle.h"

#include "experiments/store/testing/bundle_bytes.h"

namespace openset {

std::vector<ZipMember> BundleMembers(const Ground& ground, const std::string& path) {
  return UnpackedBundle(ground.Path(path));
}

void WriteSigned(const Ground& ground, const std::string& path, const std::vector<ZipMember>& members,
                 BundleForm form) {
  ground.Write(path, SignedBundle(form == BundleForm::kPacked ? PackedBundle(members) : members));
}

}  // namespace openset
