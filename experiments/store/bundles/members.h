// Names in a bundle (experiments/store/bundle.h): one check for members of the archive and of its stream of records.
#ifndef OPENSET_EXPERIMENTS_STORE_BUNDLES_MEMBERS_H_
#define OPENSET_EXPERIMENTS_STORE_BUNDLES_MEMBERS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace openset {

inline constexpr char kBundleManifest[] = "manifest.textproto";
inline constexpr char kBundleSchema[] = "schema.binpb";
inline constexpr char kBundleSums[] = "SHA256SUMS";
inline constexpr char kBundleRecords[] = "records.tar.xz";

// Whether a bundle may have a member of this name other than records and the four above: library/KIND/NAME.textproto,
// or a file of outputs/ab/KEY/ or checkpoints/ab/KEY/.
bool IsBundleFile(absl::string_view name);

// The trial of a record file records/ab/ID.rec or replicas/ab/ID/SHA256.rec; "" where it is neither.
std::string TrialOfBundleMember(absl::string_view name);

// "has a member that no bundle has: 'NAME'"
std::string StrangeMember(absl::string_view name);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_BUNDLES_MEMBERS_H_
