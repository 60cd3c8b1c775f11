// Checks that component_fingerprints() (tools/build_defs/fingerprints.bzl) knows the sources of each member of a
// family.
#ifndef OPENSET_EXPERIMENTS_STORE_TESTING_MEMBERS_WITHOUT_SOURCES_H_
#define OPENSET_EXPERIMENTS_STORE_TESTING_MEMBERS_WITHOUT_SOURCES_H_

#include <string>
#include <vector>

#include "experiments/store/components.h"
#include "google/protobuf/descriptor.h"

namespace openset {

// The members of the oneof of `family` for which the table has no row. Any change of the family's sources then marks
// their results as changed: give the member a row, by an alias if its target has another name.
inline std::vector<std::string> MembersWithoutSources(const google::protobuf::Descriptor& family,
                                                      FingerprintTable table) {
  std::vector<std::string> members;
  const std::string of_family = SourcesOf(family.name(), "", table).target;
  for (int i = 0; i < family.field_count(); ++i) {
    const google::protobuf::FieldDescriptor& field = *family.field(i);
    if (field.real_containing_oneof() == nullptr) continue;
    if (SourcesOf(family.name(), field.name(), table).target == of_family) members.push_back(field.name());
  }
  return members;
}

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_TESTING_MEMBERS_WITHOUT_SOURCES_H_
