#include "core/proto/overlay.h"

#include <memory>
#include <vector>

#include "core/proto/field_path.h"

namespace openset {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

namespace {

// Replaces top's list by the merged list.
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

// Makes base->MergeFrom(*top) override lists instead of appending: removes from `base` each repeated field that has
// elements in `top`, in all messages that both have.
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

void OverlayWherePresent(const Message& top, Message* base) {
  const Reflection* reflection = top.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(top, &fields);
  // The fields that need no recursion; they override `base` at the end.
  const std::unique_ptr<Message> values(top.New());
  values->CopyFrom(top);
  for (const FieldDescriptor* field : fields) {
    if (field->is_repeated() && MergesByKind(*field)) {
      values->GetReflection()->ClearField(values.get(), field);
      for (int i = 0; i < reflection->FieldSize(top, field); ++i) {
        const int place = FindKind(*base, *field, KindOf(top, *field, i), OrdinalOf(top, *field, i));
        if (place < 0) continue;
        OverlayWherePresent(reflection->GetRepeatedMessage(top, field, i),
                            reflection->MutableRepeatedMessage(base, field, place));
      }
    } else if (!field->is_repeated() && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      values->GetReflection()->ClearField(values.get(), field);
      if (!reflection->HasField(*base, field)) continue;
      OverlayWherePresent(reflection->GetMessage(top, field), reflection->MutableMessage(base, field));
    }
  }
  Overlay(*values, base);
}

void Overlay(const Message& top, Message* base) {
  const std::unique_ptr<Message> copy(top.New());
  copy->CopyFrom(top);
  Prepare(copy.get(), base);
  base->MergeFrom(*copy);
}

}  // namespace openset
