#include "core/proto/proto_rules.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/one_line.h"
#include "core/proto/schema.pb.h"

namespace openset {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::EnumDescriptor;
using ::google::protobuf::EnumValueDescriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::OneofDescriptor;
using ::google::protobuf::Reflection;

void SetToDefault(const FieldDescriptor* field, Message* message) {
  const Reflection* reflection = message->GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection->SetInt32(message, field, field->default_value_int32());
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection->SetInt64(message, field, field->default_value_int64());
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection->SetUInt32(message, field, field->default_value_uint32());
    case FieldDescriptor::CPPTYPE_UINT64:
      return reflection->SetUInt64(message, field, field->default_value_uint64());
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection->SetDouble(message, field, field->default_value_double());
    case FieldDescriptor::CPPTYPE_FLOAT:
      return reflection->SetFloat(message, field, field->default_value_float());
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection->SetBool(message, field, field->default_value_bool());
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection->SetEnum(message, field, field->default_value_enum());
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection->SetString(message, field, field->default_value_string());
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return;
  }
}

// The value of element `index` of a numeric field (index is ignored for singular ones).
std::optional<double> NumberOf(const Message& message, const FieldDescriptor* field, int index) {
  const Reflection* r = message.GetReflection();
  const bool many = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return many ? r->GetRepeatedInt32(message, field, index) : r->GetInt32(message, field);
    case FieldDescriptor::CPPTYPE_INT64:
      return many ? r->GetRepeatedInt64(message, field, index) : r->GetInt64(message, field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return many ? r->GetRepeatedUInt32(message, field, index) : r->GetUInt32(message, field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return many ? r->GetRepeatedUInt64(message, field, index) : r->GetUInt64(message, field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return many ? r->GetRepeatedDouble(message, field, index) : r->GetDouble(message, field);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return many ? r->GetRepeatedFloat(message, field, index) : r->GetFloat(message, field);
    case FieldDescriptor::CPPTYPE_BOOL:
    case FieldDescriptor::CPPTYPE_ENUM:
    case FieldDescriptor::CPPTYPE_STRING:
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return std::nullopt;
  }
  return std::nullopt;
}

// Whole numbers with all their digits.
std::string Digits(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? absl::StrCat(static_cast<int64_t>(value))
                                                              : absl::StrCat(value);
}

std::string ValueProblem(const FieldRule& rule, double value) {
  if (!std::isfinite(value)) return "must be finite";
  const auto problem = [value](const char* how, double limit) {
    return absl::StrCat("must be ", how, " ", Digits(limit), " (is ", Digits(value), ")");
  };
  if (rule.has_min() && value < rule.min()) return problem("at least", rule.min());
  if (rule.has_max() && value > rule.max()) return problem("at most", rule.max());
  if (rule.has_above() && value <= rule.above()) return problem("above", rule.above());
  if (rule.has_below() && value >= rule.below()) return problem("below", rule.below());
  return "";
}

std::string TextProblem(const FieldDescriptor& field, const std::string& text) {
  if (field.type() == FieldDescriptor::TYPE_STRING && !IsUtf8(text)) {
    return absl::StrCat("must be text in UTF-8 (is '", OneLine(text.substr(0, 40)), "')");
  }
  return "";
}

// "must be one of: A, B".
std::string OneOf(const EnumDescriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.value_count(); ++i) {
    if (!absl::EndsWith(type.value(i)->name(), "_UNSPECIFIED")) names.push_back(type.value(i)->name());
  }
  return absl::StrCat("must be one of: ", absl::StrJoin(names, ", "));
}

class Finder {
 public:
  void Visit(const Message& message, const std::string& prefix, bool partial) {
    const Descriptor* descriptor = message.GetDescriptor();
    const Reflection* reflection = message.GetReflection();
    for (int i = 0; i < descriptor->real_oneof_decl_count(); ++i) {
      const OneofDescriptor* oneof = descriptor->oneof_decl(i);
      if (!partial && oneof->options().GetExtension(one_required) && !reflection->HasOneof(message, oneof)) {
        std::string members;
        for (int m = 0; m < oneof->field_count(); ++m)
          absl::StrAppend(&members, m ? ", " : "", oneof->field(m)->name());
        problems_.push_back({prefix, absl::StrCat("must have one of: ", members)});
      }
    }
    for (int i = 0; i < descriptor->field_count(); ++i) VisitField(message, descriptor->field(i), prefix, partial);
  }

  std::vector<FieldProblem> TakeProblems() { return std::move(problems_); }

 private:
  void VisitField(const Message& message, const FieldDescriptor* field, const std::string& prefix, bool partial) {
    const Reflection* reflection = message.GetReflection();
    const FieldRule& rule = field->options().GetExtension(openset::rule);
    const std::string path = prefix.empty() ? field->name() : absl::StrCat(prefix, ".", field->name());
    const int count = field->is_repeated() ? reflection->FieldSize(message, field)
                                           : static_cast<int>(reflection->HasField(message, field));
    if (count == 0 && rule.required() && !partial) {
      problems_.push_back({path, field->is_repeated() ? "must not be empty" : "must be set"});
    }
    for (int index = 0; index < count; ++index) {
      const std::string element = field->is_repeated() ? absl::StrCat(path, "[", index, "]") : path;
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        Visit(field->is_repeated() ? reflection->GetRepeatedMessage(message, field, index)
                                   : reflection->GetMessage(message, field),
              element, partial || rule.partial());
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
        const EnumValueDescriptor* value = field->is_repeated() ? reflection->GetRepeatedEnum(message, field, index)
                                                                : reflection->GetEnum(message, field);
        if (absl::EndsWith(value->name(), "_UNSPECIFIED")) problems_.push_back({element, OneOf(*field->enum_type())});
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        std::string scratch;
        const std::string& text = field->is_repeated()
                                      ? reflection->GetRepeatedStringReference(message, field, index, &scratch)
                                      : reflection->GetStringReference(message, field, &scratch);
        const std::string problem = TextProblem(*field, text);
        if (!problem.empty()) problems_.push_back({element, problem});
      } else if (const std::optional<double> value = NumberOf(message, field, index); value.has_value()) {
        const std::string problem = ValueProblem(rule, *value);
        if (!problem.empty()) problems_.push_back({element, problem});
      }
    }
  }

  std::vector<FieldProblem> problems_;
};

}  // namespace

void FillDefaults(Message* message) {
  const Descriptor* descriptor = message->GetDescriptor();
  const Reflection* reflection = message->GetReflection();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      if (field->is_repeated()) {
        for (int index = 0; index < reflection->FieldSize(*message, field); ++index) {
          FillDefaults(reflection->MutableRepeatedMessage(message, field, index));
        }
      } else if (reflection->HasField(*message, field)) {
        FillDefaults(reflection->MutableMessage(message, field));
      }
    } else if (!field->is_repeated() && field->has_default_value() && field->real_containing_oneof() == nullptr &&
               !reflection->HasField(*message, field)) {
      SetToDefault(field, message);
    }
  }
}

std::vector<FieldProblem> FindProblems(const Message& message, Completeness completeness) {
  Finder finder;
  finder.Visit(message, "", completeness == Completeness::kPartial);
  return finder.TakeProblems();
}

}  // namespace openset
