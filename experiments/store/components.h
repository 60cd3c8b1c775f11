// The components that a spec uses (losses, scores, networks ...), and fingerprints of their source code.
#ifndef OPENSET_EXPERIMENTS_STORE_COMPONENTS_H_
#define OPENSET_EXPERIMENTS_STORE_COMPONENTS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "experiments/store/fingerprint_row.h"
#include "experiments/store/record.proto.h"
#include "google/protobuf/message.h"

namespace openset {

struct ComponentSources {
  std::string target;       // "eval/scores/fdbd"
  std::string fingerprint;  // SHA-256 over its sources, in hexadecimal
};

// The sources of a member; if it is not in the table, its family's sources. Empty if the family isn't there either.
ComponentSources SourcesOf(absl::string_view family, absl::string_view member, FingerprintTable table);

// Adds each component that `spec` or a message in it uses to `provenance`, for example LossTermSpec's `cross_entropy`.
// Each appears once, in the order of the fields.
void AddComponents(const google::protobuf::Message& spec, FingerprintTable table, StageProvenance* provenance);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_COMPONENTS_H_
