#include "core/proto/proto_digest.h"

#include <cstdint>
#include <cstring>
#include <functional>
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

// Writes unambiguous tokens: every token has a fixed length or carries its length.
class Writer {
 public:
  using PartDigest = std::function<Sha256::Digest(const Message& part)>;

  // `digest` gives the digests of parts.
  Writer(std::string* out, const PartDigest& digest) : out_(out), digest_(digest) {}

  void Visit(const Message& message) {
    const Reflection* reflection = message.GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection->ListFields(message, &fields);  // in order of number
    size_t kept = 0;
    for (const FieldDescriptor* field : fields) {
      if (!IsLeftOut(message, field)) fields[kept++] = field;
    }
    fields.resize(kept);
    const auto& options = message.GetDescriptor()->options();
    const bool of_parts = options.GetExtension(digest_of_parts);
    Number(options.GetExtension(revision));
    Number(fields.size());
    for (const FieldDescriptor* field : fields) {
      Number(field->number());
      const int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
      Number(count);
      for (int index = 0; index < count; ++index) Value(message, field, field->is_repeated() ? index : -1, of_parts);
    }
  }

  void Number(uint64_t value) {
    char bytes[8];
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
    out_->append(bytes, sizeof(bytes));
  }

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

  void Part(const Message& part, bool by_digest) {
    if (!by_digest) return Visit(part);
    const Sha256::Digest digest = digest_(part);
    out_->append(reinterpret_cast<const char*>(digest.data()), digest.size());
  }

  void Value(const Message& m, const FieldDescriptor* f, int i, bool of_parts) {
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
        return Part(i < 0 ? r->GetMessage(m, f) : r->GetRepeatedMessage(m, f, i), of_parts);
    }
  }

  std::string* out_;
  const PartDigest& digest_;
};

Sha256::Digest DigestOf(const Message& message, const Writer::PartDigest& digest) {
  const std::string& type = message.GetDescriptor()->full_name();
  std::string bytes;
  bytes.reserve(2048);
  Writer writer(&bytes, digest);
  writer.Number(type.size());
  bytes.append(type);
  writer.Visit(message);
  return Sha256Of(bytes);
}

Sha256::Digest PlainDigest(const Message& message) { return DigestOf(message, PlainDigest); }

// PlainDigest(), computed once for equal messages of a thread: the records of a bundle repeat most of their parts.
Sha256::Digest DigestOfEqual(const Message& message) {
  constexpr size_t kMost = 4096;
  thread_local std::unordered_map<std::string, Sha256::Digest> digests;
  std::string bytes = message.GetDescriptor()->full_name() + "\n";
  message.AppendPartialToString(&bytes);
  if (digests.size() >= kMost) digests.clear();
  const auto [entry, is_new] = digests.try_emplace(std::move(bytes));
  if (is_new) entry->second = PlainDigest(message);
  return entry->second;
}

}  // namespace

std::string DigestedPart(const FieldDescriptor& field, std::string text) {
  const std::string& before_path = field.options().GetExtension(rule).path_after();
  if (!before_path.empty() && absl::StartsWith(text, before_path)) return before_path;
  return text;
}

std::string CanonicalBytes(const Message& message) {
  std::string bytes;
  Writer(&bytes, PlainDigest).Visit(message);
  return bytes;
}

std::string MessageDigest(const Message& message) { return ToHex(PlainDigest(message)); }

Sha256::Digest MessageDigester::Of(const Message& message) {
  return DigestOf(message, [this](const Message& part) {
    const auto [entry, is_new] = parts_.try_emplace(&part);
    if (is_new) entry->second = DigestOfEqual(part);
    return entry->second;
  });
}

}  // namespace openset
