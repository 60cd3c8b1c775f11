#include "core/proto/proto_rules.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "core/proto/schema.pb.h"
#include "core/text/hex.h"
#include "core/text/one_line.h"

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

// Integers with all their digits.
std::string Digits(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? absl::StrCat(static_cast<int64_t>(value))
                                                              : absl::StrCat(value);
}

std::string ValueProblem(const FieldRule& rule, double value) {
  if (std::isnan(value)) return "must be a number (is nan)";
  if (std::isinf(value) && !rule.infinite()) return absl::StrCat("must be finite (is ", value, ")");
  const auto problem = [value](const char* how, double limit) {
    return absl::StrCat("must be ", how, " ", Digits(limit), " (is ", Digits(value), ")");
  };
  if (rule.has_min() && value < rule.min()) return problem("at least", rule.min());
  if (rule.has_max() && value > rule.max()) return problem("at most", rule.max());
  if (rule.has_above() && value <= rule.above()) return problem("above", rule.above());
  if (rule.has_below() && value >= rule.below()) return problem("below", rule.below());
  return "";
}

std::string TextProblem(const FieldDescriptor& field, const FieldRule& rule, const std::string& text) {
  if (field.type() == FieldDescriptor::TYPE_STRING && !IsUtf8(text)) {
    return absl::StrCat("must be text in UTF-8 (is '", OneLine(text.substr(0, 40)), "')");
  }
  if (rule.key() && !IsSha256(text)) {
    return absl::StrCat("must be ", kSha256Digits, " lower-case hexadecimal digits (is '", OneLine(text.substr(0, 70)),
                        text.size() > 70 ? "...')" : "')");
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

struct CheckedMessage;

// A field with rules in its schema.
struct CheckedField {
  const FieldDescriptor* field = nullptr;
  const FieldRule* rule = nullptr;
  const FieldDescriptor* as_many_as = nullptr;
  const FieldDescriptor* required_unless = nullptr;
  const CheckedMessage* below = nullptr;  // of a message
  bool checks_value = false;
  // For a oneof, at the place of its first member: all members. Only the one that is set is checked.
  const OneofDescriptor* oneof = nullptr;
  std::vector<CheckedField> members;
};

// The checks of a message type, looked up once, because a store has 100,000 messages.
struct CheckedMessage {
  std::vector<const OneofDescriptor*> required_oneofs;
  std::vector<CheckedField> fields;
};

class CheckedTypes {
 public:
  static CheckedTypes& OfProcess() {
    static auto* const types = new CheckedTypes;
    return *types;
  }

  const CheckedMessage& Of(const Descriptor* type) {
    {
      const absl::ReaderMutexLock lock(&mutex_);
      if (const auto found = types_.find(type); found != types_.end()) return *found->second;
    }
    const absl::MutexLock lock(&mutex_);
    return *Add(type);
  }

 private:
  const CheckedMessage* Add(const Descriptor* type) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto [entry, is_new] = types_.try_emplace(type);
    if (!is_new) return entry->second.get();
    entry->second = std::make_unique<CheckedMessage>();
    CheckedMessage* const checked = entry->second.get();  // a type may contain itself
    for (int i = 0; i < type->real_oneof_decl_count(); ++i) {
      const OneofDescriptor* oneof = type->oneof_decl(i);
      if (oneof->options().GetExtension(one_required)) checked->required_oneofs.push_back(oneof);
    }
    for (int i = 0; i < type->field_count(); ++i) {
      const FieldDescriptor* field = type->field(i);
      const OneofDescriptor* oneof = field->real_containing_oneof();
      if (oneof == nullptr) {
        if (CheckedField of = MakeField(field); IsChecked(of)) checked->fields.push_back(std::move(of));
      } else if (oneof->field(0) == field) {
        CheckedField& of = checked->fields.emplace_back();
        of.oneof = oneof;
        for (int m = 0; m < oneof->field_count(); ++m) of.members.push_back(MakeField(oneof->field(m)));
      }
    }
    return checked;
  }

  CheckedField MakeField(const FieldDescriptor* field) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    CheckedField made{field, &field->options().GetExtension(rule)};
    const FieldRule& of = *made.rule;
    made.as_many_as = field->containing_type()->FindFieldByName(of.as_many_as());
    made.required_unless = field->containing_type()->FindFieldByName(of.required_unless());
    if (field->message_type() != nullptr) made.below = Add(field->message_type());
    const FieldDescriptor::CppType type = field->cpp_type();
    made.checks_value = of.has_min() || of.has_max() || of.has_above() || of.has_below() ||
                        type == FieldDescriptor::CPPTYPE_DOUBLE || type == FieldDescriptor::CPPTYPE_FLOAT ||
                        type == FieldDescriptor::CPPTYPE_STRING || type == FieldDescriptor::CPPTYPE_ENUM ||
                        type == FieldDescriptor::CPPTYPE_MESSAGE;
    return made;
  }

  static bool IsChecked(const CheckedField& of) {
    return of.checks_value || of.rule->required() || of.rule->has_most() || of.as_many_as != nullptr ||
           of.required_unless != nullptr;
  }

  absl::Mutex mutex_;
  absl::flat_hash_map<const Descriptor*, std::unique_ptr<CheckedMessage>> types_ ABSL_GUARDED_BY(mutex_);
};

// The path of a value, on the stack: it becomes text only for a value with a problem.
struct Place {
  const Place* above;
  const FieldDescriptor* field;
  int index;

  static std::string Text(const Place* place) {
    if (place == nullptr) return "";
    const std::string before = Text(place->above);
    return absl::StrCat(before, before.empty() ? "" : ".", place->field->name(),
                        place->index < 0 ? "" : absl::StrCat("[", place->index, "]"));
  }
};

class Finder {
 public:
  void Visit(const Message& message, const CheckedMessage& checked, const Place* place, bool partial,
             absl::Span<const int> without) {
    const Reflection& reflection = *message.GetReflection();
    for (const OneofDescriptor* oneof : checked.required_oneofs) {
      if (partial || reflection.HasOneof(message, oneof)) continue;
      std::string members;
      for (int m = 0; m < oneof->field_count(); ++m) absl::StrAppend(&members, m ? ", " : "", oneof->field(m)->name());
      problems_.push_back({Place::Text(place), absl::StrCat("must have one of: ", members)});
    }
    for (const CheckedField& field : checked.fields) {
      if (field.oneof != nullptr) {
        const FieldDescriptor* set = reflection.GetOneofFieldDescriptor(message, field.oneof);
        if (set != nullptr) VisitField(message, reflection, field.members[set->index_in_oneof()], place, partial);
      } else if (without.empty() || !absl::c_linear_search(without, field.field->number())) {
        VisitField(message, reflection, field, place, partial);
      }
    }
  }

  std::vector<FieldProblem> TakeProblems() { return std::move(problems_); }

 private:
  void VisitField(const Message& message, const Reflection& reflection, const CheckedField& checked, const Place* above,
                  bool partial) {
    const FieldDescriptor* field = checked.field;
    const FieldRule& rule = *checked.rule;
    const bool many = field->is_repeated();
    const int count =
        many ? reflection.FieldSize(message, field) : static_cast<int>(reflection.HasField(message, field));
    Place place{above, field, -1};
    if (count == 0 && rule.required() && !partial) Add(place, many ? "must not be empty" : "must be set");
    if (count == 0 && checked.required_unless != nullptr && !partial &&
        !reflection.HasField(message, checked.required_unless)) {
      Add(place, absl::StrCat("must be set, unless ", checked.required_unless->name(), " is"));
    }
    if (checked.as_many_as != nullptr && count != reflection.FieldSize(message, checked.as_many_as)) {
      Add(place, absl::StrCat("must have as many elements as ", checked.as_many_as->name(), " (has ", count, ", not ",
                              reflection.FieldSize(message, checked.as_many_as), ")"));
    }
    if (many && rule.has_most() && count > static_cast<int64_t>(rule.most())) {
      Add(place, absl::StrCat("must have at most ", rule.most(), " elements (has ", count, ")"));
      return;
    }
    if (!checked.checks_value) return;
    for (int i = 0; i < count; ++i) {
      if (many) place.index = i;
      VisitValue(message, reflection, checked, place, partial);
    }
  }

  void VisitValue(const Message& m, const Reflection& r, const CheckedField& checked, const Place& place,
                  bool partial) {
    const FieldDescriptor* f = checked.field;
    const int i = place.index;
    const bool many = i >= 0;
    switch (f->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return Visit(many ? r.GetRepeatedMessage(m, f, i) : r.GetMessage(m, f), *checked.below, &place,
                     partial || checked.rule->partial(), {});
      case FieldDescriptor::CPPTYPE_ENUM: {
        const EnumValueDescriptor* value = many ? r.GetRepeatedEnum(m, f, i) : r.GetEnum(m, f);
        if (absl::EndsWith(value->name(), "_UNSPECIFIED")) Add(place, OneOf(*f->enum_type()));
        return;
      }
      case FieldDescriptor::CPPTYPE_STRING: {
        std::string scratch;
        const std::string& text =
            many ? r.GetRepeatedStringReference(m, f, i, &scratch) : r.GetStringReference(m, f, &scratch);
        return Add(place, TextProblem(*f, *checked.rule, text));
      }
      case FieldDescriptor::CPPTYPE_INT32:
        return CheckNumber(checked, place, many ? r.GetRepeatedInt32(m, f, i) : r.GetInt32(m, f));
      case FieldDescriptor::CPPTYPE_INT64:
        return CheckNumber(checked, place, static_cast<double>(many ? r.GetRepeatedInt64(m, f, i) : r.GetInt64(m, f)));
      case FieldDescriptor::CPPTYPE_UINT32:
        return CheckNumber(checked, place, many ? r.GetRepeatedUInt32(m, f, i) : r.GetUInt32(m, f));
      case FieldDescriptor::CPPTYPE_UINT64:
        return CheckNumber(checked, place,
                           static_cast<double>(many ? r.GetRepeatedUInt64(m, f, i) : r.GetUInt64(m, f)));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return CheckNumber(checked, place, many ? r.GetRepeatedDouble(m, f, i) : r.GetDouble(m, f));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return CheckNumber(checked, place, many ? r.GetRepeatedFloat(m, f, i) : r.GetFloat(m, f));
      case FieldDescriptor::CPPTYPE_BOOL:
        return;
    }
  }

  void CheckNumber(const CheckedField& checked, const Place& place, double value) {
    Add(place, ValueProblem(*checked.rule, value));
  }

  // Ignores an empty `problem`.
  void Add(const Place& place, std::string problem) {
    if (!problem.empty()) problems_.push_back({Place::Text(&place), std::move(problem)});
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

std::vector<FieldProblem> FindProblems(const Message& message, Completeness completeness,
                                       absl::Span<const int> without) {
  Finder finder;
  finder.Visit(message, CheckedTypes::OfProcess().Of(message.GetDescriptor()), nullptr,
               completeness == Completeness::kPartial, without);
  return finder.TakeProblems();
}

}  // namespace openset
