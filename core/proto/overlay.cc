#include "core/proto/overlay.h"

#include <memory>
#include <vector>

#include "core/proto/kind.h"

namespace openset {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

namespace {

// Puts what merging the lists gives in the place of top's.
void MergeList(const FieldDescriptor& list, const Message& base, Message* top) {
  const std::unique_ptr<Message> merged(base.New());
  const Reflection* reflection = base.GetReflection();
  for (int i = 0; i < reflection->FieldSize(base, &list); ++i) {
    reflection->AddMessage(merged.get(), &list)->CopyFrom(reflection->GetRepeatedMessage(base, &list, i));
  }
  for (int i = 0; i < reflection->FieldSize(*top, &list); ++i) {
    const int place = FindKind(base, list, KindOf(*top, list, i), OrdinalOf(*top, list, i));
    Message* element = place < 0 ? reflection->AddMessage(merged.get(), &list)
                                 : reflection->MutableRepeatedMessage(merged.get(), &list, place);
    Overlay(reflection->GetRepeatedMessage(*top, &list, i), element);
  }
  reflection->SwapFields(top, merged.get(), {&list});
}

// Makes base->MergeFrom(*top) lay one over the other: removes from `base` each repeated field that `top` has elements
// of, in all messages both have.
void Prepare(Message* top, Message* base) {
  std::vector<const FieldDescriptor*> fields;
  top->GetReflection()->ListFields(*top, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->is_repeated()) {
      if (MergesByKind(*field)) MergeList(*field, *base, top);
      base->GetReflection()->ClearField(base, field);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && base->GetReflection()->HasField(*base, field)) {
      Prepare(top->GetReflection()->MutableMessage(top, field), base->GetReflection()->MutableMessage(base, field));
    }
  }
}

}  // namespace

void Overlay(const Message& top, Message* base) {
  const std::unique_ptr<Message> copy(top.New());
  copy->CopyFrom(top);
  Prepare(copy.get(), base);
  base->MergeFrom(*copy);
}

}  // namespace openset
