#include "core/proto/proto_digest.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "core/proto/schema.pb.h"

namespace openset {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::Reflection;

// Whether a singular field that is set has its default. A message that is set doesn't.
bool HoldsDefault(const Message& m, const FieldDescriptor* f) {
  const Reflection* r = m.GetReflection();
  if (f->is_repeated()) return false;  // listed only if it has elements
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

std::string BytesOf(uint64_t value) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  return bytes;
}

// Writes unambiguous tokens: every token has a fixed length or carries its length.
class Writer {
 public:
  explicit Writer(std::string* out) : out_(out) {}

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

  void Number(uint64_t value) { out_->append(BytesOf(value)); }

 private:
  void Text(absl::string_view text) {
    Number(text.size());
    out_->append(text.data(), text.size());
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
        return Text(DigestedPart(*f, i < 0 ? r->GetString(m, f) : r->GetRepeatedString(m, f, i)));
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return Visit(i < 0 ? r->GetMessage(m, f) : r->GetRepeatedMessage(m, f, i));
    }
  }

  std::string* out_;
};

}  // namespace

std::string DigestedPart(const FieldDescriptor& field, std::string text) {
  const std::string& before_path = field.options().GetExtension(rule).path_after();
  if (!before_path.empty() && absl::StartsWith(text, before_path)) return before_path;
  return text;
}

std::string CanonicalBytes(const Message& message) {
  std::string bytes;
  Writer(&bytes).Visit(message);
  return bytes;
}

CanonicalDigester::CanonicalDigester(const Descriptor& type) {
  type_.Update(BytesOf(type.full_name().size()));
  type_.Update(type.full_name());
  beginning_ = type_;
}

Sha256::Digest CanonicalDigester::Of(absl::string_view canonical) {
  constexpr size_t kBlock = 64;  // of SHA-256
  const size_t shorter = std::min(canonical.size(), last_.size());
  const bool begins_alike =
      begins_ <= shorter && (begins_ == 0 || std::memcmp(canonical.data(), last_.data(), begins_) == 0);
  size_t common = begins_alike ? begins_ : 0;
  while (common + kBlock <= shorter && std::memcmp(canonical.data() + common, last_.data() + common, kBlock) == 0) {
    common += kBlock;
  }
  if (begins_ > common) {
    beginning_ = type_;
    begins_ = 0;
  }
  beginning_.Update(canonical.substr(begins_, common - begins_));
  begins_ = common;
  last_.assign(canonical.data(), canonical.size());
  Sha256 sha = beginning_;
  sha.Update(canonical.substr(begins_));
  return sha.Finish();
}

std::string MessageDigest(const Message& message) {
  return ToHex(CanonicalDigester(*message.GetDescriptor()).Of(CanonicalBytes(message)));
}

CanonicalBuilder::CanonicalBuilder(const Descriptor& type) {
  bytes_.reserve(4096);
  Writer(&bytes_).Number(type.options().GetExtension(revision));
  Writer(&bytes_).Number(0);  // of fields, known at the end
}

void CanonicalBuilder::Begin(int field) {
  if (field == last_field_) {
    bytes_.replace(count_at_, 8, BytesOf(++count_));
    return;
  }
  ++fields_;
  last_field_ = field;
  count_ = 1;
  Writer(&bytes_).Number(field);
  count_at_ = bytes_.size();
  Writer(&bytes_).Number(count_);
}

void CanonicalBuilder::AddNumber(int field, uint64_t value) {
  Begin(field);
  Writer(&bytes_).Number(value);
}

void CanonicalBuilder::AddMessage(int field, absl::string_view canonical) {
  Begin(field);
  bytes_.append(canonical.data(), canonical.size());
}

std::string CanonicalBuilder::Finish() {
  bytes_.replace(8, 8, BytesOf(fields_));
  return std::move(bytes_);
}

}  // namespace openset
