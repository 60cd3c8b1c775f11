#include "experiments/store/components.h"

#include <vector>

#include "core/proto/schema.pb.h"

namespace openset {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

bool HasFamily(absl::string_view family, FingerprintTable table) {
  return !SourcesOf(family, "", table).fingerprint.empty();
}

void AddOnce(const ComponentProvenance& component, StageProvenance* provenance) {
  for (const ComponentProvenance& other : provenance->component()) {
    if (other.family() == component.family() && other.name() == component.name()) return;
  }
  *provenance->add_component() = component;
}

}  // namespace

ComponentSources SourcesOf(absl::string_view family, absl::string_view member, FingerprintTable table) {
  ComponentSources of_family;
  for (FingerprintTable row = table; row->family != nullptr; ++row) {
    if (family != row->family) continue;
    if (member == row->member) return {row->target, row->sha256};
    if (*row->member == '\0') of_family = {row->target, row->sha256};
  }
  return of_family;
}

void AddComponents(const Message& spec, FingerprintTable table, StageProvenance* provenance) {
  const Reflection* reflection = spec.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(spec, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field->is_extension()) continue;
    const std::string& family = spec.GetDescriptor()->name();
    if (field->real_containing_oneof() != nullptr && HasFamily(family, table)) {
      ComponentProvenance component;
      component.set_family(family);
      component.set_name(field->name());
      component.set_revision(field->message_type()->options().GetExtension(revision));
      component.set_fingerprint(SourcesOf(family, field->name(), table).fingerprint);
      AddOnce(component, provenance);
    }
    const int count = field->is_repeated() ? reflection->FieldSize(spec, field) : 1;
    for (int i = 0; i < count; ++i) {
      AddComponents(
          field->is_repeated() ? reflection->GetRepeatedMessage(spec, field, i) : reflection->GetMessage(spec, field),
          table, provenance);
    }
  }
}

}  // namespace openset
