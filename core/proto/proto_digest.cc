#include "core/proto/proto_digest.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/files/digest.h"
#include "core/proto/schema.pb.h"

namespace openset {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

// Of a singular field that is set. A message that is there is not the default.
bool HoldsDefault(const Message& m, const FieldDescriptor* f) {
  const Reflection* r = m.GetReflection();
  if (f->is_repeated()) return false;  // listed only where it has elements
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return r->GetInt32(m, f) == f->default_value_int32();
    case FieldDescriptor::CPPTYPE_INT64:
      return r->GetInt64(m, f) == f->default_value_int64();
    case FieldDescriptor::CPPTYPE_UINT32:
      return r->GetUInt32(m, f) == f->default_value_uint32();
    case FieldDescriptor::CPPTYPE_UINT64:
      return r->GetUInt64(m, f) == f->default_value_uint64();
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return r->GetDouble(m, f) == f->default_value_double();
    case FieldDescriptor::CPPTYPE_FLOAT:
      return r->GetFloat(m, f) == f->default_value_float();
    case FieldDescriptor::CPPTYPE_BOOL:
      return r->GetBool(m, f) == f->default_value_bool();
    case FieldDescriptor::CPPTYPE_ENUM:
      return r->GetEnumValue(m, f) == f->default_value_enum()->number();
    case FieldDescriptor::CPPTYPE_STRING:
      return r->GetString(m, f) == f->default_value_string();
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return false;
  }
  return false;
}

bool IsLeftOut(const Message& message, const FieldDescriptor* field) {
  if (field->is_extension()) return true;
  const FieldRule& field_rule = field->options().GetExtension(rule);
  return field_rule.label() || (field_rule.added() && HoldsDefault(message, field));
}

// Feeds unambiguous tokens to the hash: every token has a fixed length or carries its length.
class Hasher {
 public:
  void Visit(const Message& message) {
    const Reflection* reflection = message.GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection->ListFields(message, &fields);  // in order of number
    fields.erase(std::remove_if(fields.begin(), fields.end(),
                                [&](const FieldDescriptor* field) { return IsLeftOut(message, field); }),
                 fields.end());
    Number(message.GetDescriptor()->options().GetExtension(revision));
    Number(fields.size());
    for (const FieldDescriptor* field : fields) {
      Number(field->number());
      const int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
      Number(count);
      for (int index = 0; index < count; ++index) Value(message, field, field->is_repeated() ? index : -1);
    }
  }

  void Text(absl::string_view text) {
    Number(text.size());
    sha_.Update(text);
  }

  std::string Finish() { return ToHex(sha_.Finish()); }

 private:
  void Number(uint64_t value) {
    char bytes[8];
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
    sha_.Update(absl::string_view(bytes, 8));
  }

  void Real(double value) {
    if (value == 0) value = 0;  // -0
    uint64_t bits;
    std::memcpy(&bits, &value, 8);
    Number(bits);
  }

  void Value(const Message& m, const FieldDescriptor* f, int i) {
    const Reflection* r = m.GetReflection();
    switch (f->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return Number(static_cast<int64_t>(i < 0 ? r->GetInt32(m, f) : r->GetRepeatedInt32(m, f, i)));
      case FieldDescriptor::CPPTYPE_INT64:
        return Number(i < 0 ? r->GetInt64(m, f) : r->GetRepeatedInt64(m, f, i));
      case FieldDescriptor::CPPTYPE_UINT32:
        return Number(i < 0 ? r->GetUInt32(m, f) : r->GetRepeatedUInt32(m, f, i));
      case FieldDescriptor::CPPTYPE_UINT64:
        return Number(i < 0 ? r->GetUInt64(m, f) : r->GetRepeatedUInt64(m, f, i));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return Real(i < 0 ? r->GetDouble(m, f) : r->GetRepeatedDouble(m, f, i));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return Real(i < 0 ? r->GetFloat(m, f) : r->GetRepeatedFloat(m, f, i));
      case FieldDescriptor::CPPTYPE_BOOL:
        return Number(i < 0 ? r->GetBool(m, f) : r->GetRepeatedBool(m, f, i));
      case FieldDescriptor::CPPTYPE_ENUM:
        return Number(static_cast<int64_t>(i < 0 ? r->GetEnumValue(m, f) : r->GetRepeatedEnumValue(m, f, i)));
      case FieldDescriptor::CPPTYPE_STRING:
        return Text(i < 0 ? r->GetString(m, f) : r->GetRepeatedString(m, f, i));
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return Visit(i < 0 ? r->GetMessage(m, f) : r->GetRepeatedMessage(m, f, i));
    }
  }

  Sha256 sha_;
};

}  // namespace

std::string MessageDigest(const Message& message) {
  Hasher hasher;
  hasher.Text(message.GetDescriptor()->full_name());
  hasher.Visit(message);
  return hasher.Finish();
}

}  // namespace openset
