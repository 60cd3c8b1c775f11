// Checks the names of a bundle's members (experiments/store/bundle.h), in the archive and in its stream of records.
#ifndef OPENSET_EXPERIMENTS_STORE_BUNDLES_MEMBERS_H_
#define OPENSET_EXPERIMENTS_STORE_BUNDLES_MEMBERS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace openset {

inline constexpr char kBundleManifest[] = "manifest.textproto";
inline constexpr char kBundleSchema[] = "schema.binpb";
inline constexpr char kBundleSums[] = "SHA256SUMS";
inline constexpr char kBundleRecords[] = "records.tar.xz";

// Whether a bundle may have a member of this name apart from records and the four above: library/KIND/NAME.textproto,
// or a file in outputs/ab/KEY/ or checkpoints/ab/KEY/.
bool IsBundleFile(absl::string_view name);

// The trial of a record file records/ab/ID.rec or replicas/ab/ID/SHA256.rec; "" for any other name.
std::string TrialOfBundleMember(absl::string_view name);

// "has a member that no bundle has: 'NAME'"
std::string StrangeMember(absl::string_view name);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_BUNDLES_MEMBERS_H_
