// Which parts of its families a spec is made of, and the sources these were built from.
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

// Those of a member; of its family where it has no sources of its own; empty for a family that is not in the table.
ComponentSources SourcesOf(absl::string_view family, absl::string_view member, FingerprintTable table);

// Adds to `provenance` each member of a family of the table that `spec`, or a message below it, holds: LossTermSpec's
// `cross_entropy`, say. Each once, in the order of the fields. The training that another one starts from, and those of
// an inference, are stages of their own and not looked into.
void AddComponents(const google::protobuf::Message& spec, FingerprintTable table, StageProvenance* provenance);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_COMPONENTS_H_
