#include "core/proto/field_differences.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/proto/proto_digest.h"
#include "core/proto/schema.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/text_format.h"

namespace openset {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;

// Element `index` of a field; -1 for a singular field.
std::string TextOf(const Message& message, const FieldDescriptor* field, int index) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintFieldValueToString(message, field, index, &text);
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    while (!text.empty() && text.back() == ' ') text.pop_back();
    text = text.empty() ? "{}" : absl::StrCat("{ ", text, " }");
  }
  return text;
}

// Whether they differ only in a path that no digest covers.
bool DifferInPath(const Message& a, const Message& b, const FieldDescriptor* field) {
  if (field->is_repeated() || field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) return false;
  return DigestedPart(*field, a.GetReflection()->GetString(a, field)) ==
         DigestedPart(*field, b.GetReflection()->GetString(b, field));
}

bool Has(const Message& message, const FieldDescriptor* field, int index) {
  const auto* reflection = message.GetReflection();
  return field->is_repeated() ? index < reflection->FieldSize(message, field) : reflection->HasField(message, field);
}

const Message& Part(const Message& message, const FieldDescriptor* field, int index) {
  const auto* reflection = message.GetReflection();
  return field->is_repeated() ? reflection->GetRepeatedMessage(message, field, index)
                              : reflection->GetMessage(message, field);
}

void Compare(const Message& before, const Message& after, const std::string& above,
             std::vector<FieldDifference>* differences) {
  const auto* descriptor = before.GetDescriptor();
  for (int f = 0; f < descriptor->field_count(); ++f) {
    const FieldDescriptor* field = descriptor->field(f);
    if (field->options().GetExtension(rule).label()) continue;
    const int count = field->is_repeated() ? std::max(before.GetReflection()->FieldSize(before, field),
                                                      after.GetReflection()->FieldSize(after, field))
                                           : 1;
    for (int i = 0; i < count; ++i) {
      const int index = field->is_repeated() ? i : -1;
      const std::string name = field->is_repeated() ? absl::StrCat(field->name(), "[", i, "]") : field->name();
      const std::string path = above.empty() ? name : absl::StrCat(above, ".", name);
      const bool had = Has(before, field, i), has = Has(after, field, i);
      if (!had && !has) continue;
      if (had && has && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        Compare(Part(before, field, i), Part(after, field, i), path, differences);
        continue;
      }
      if (had && has && DifferInPath(before, after, field)) continue;
      FieldDifference difference{path, had ? TextOf(before, field, index) : "", has ? TextOf(after, field, index) : ""};
      if (difference.before != difference.after) differences->push_back(std::move(difference));
    }
  }
}

}  // namespace

std::vector<FieldDifference> FindDifferences(const Message& before, const Message& after) {
  std::vector<FieldDifference> differences;
  Compare(before, after, "", &differences);
  return differences;
}

}  // namespace openset
