#include "core/proto/field_path.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/proto/schema.pb.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "google/protobuf/text_format.h"

namespace openset {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::OneofDescriptor;

bool MergesByKind(const FieldDescriptor& field) {
  return field.is_repeated() && field.options().GetExtension(rule).merge_by_kind();
}

const OneofDescriptor& KindsOf(const FieldDescriptor& list) { return *list.message_type()->oneof_decl(0); }

const FieldDescriptor* KindOf(const Message& message, const FieldDescriptor& list, int index) {
  const Message& element = message.GetReflection()->GetRepeatedMessage(message, &list, index);
  return element.GetReflection()->GetOneofFieldDescriptor(element, &KindsOf(list));
}

int FindKind(const Message& message, const FieldDescriptor& list, const FieldDescriptor* kind, int ordinal) {
  const int size = message.GetReflection()->FieldSize(message, &list);
  for (int i = 0; i < size; ++i) {
    if (KindOf(message, list, i) == kind && ordinal-- == 0) return i;
  }
  return -1;
}

int OrdinalOf(const Message& message, const FieldDescriptor& list, int index) {
  int ordinal = 0;
  for (int i = 0; i < index; ++i) ordinal += KindOf(message, list, i) == KindOf(message, list, index);
  return ordinal;
}

namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::OneofDescriptor;
using ::google::protobuf::Reflection;
using ::google::protobuf::TextFormat;

constexpr int kWhole = -1;   // a singular field, or a repeated one as a whole
constexpr int kAppend = -2;  // "[]"

struct Step {
  const FieldDescriptor* field;
  int index;
};

absl::Status Problem(absl::string_view path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

// The list merged by kind in which an element can be of the kind `name`; null if there is none.
const FieldDescriptor* ListOfKind(const Descriptor& descriptor, const std::string& name) {
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const FieldDescriptor* list = descriptor.field(i);
    if (!MergesByKind(*list)) continue;
    const FieldDescriptor* kind = list->message_type()->FindFieldByName(name);
    if (kind != nullptr && kind->containing_oneof() == &KindsOf(*list)) return list;
  }
  return nullptr;
}

// The fields and kinds that can follow in a path.
std::vector<std::string> NamesIn(const Descriptor& descriptor) {
  std::vector<std::string> names;
  for (int i = 0; i < descriptor.field_count(); ++i) names.push_back(descriptor.field(i)->name());
  for (int i = 0; i < descriptor.field_count(); ++i) {
    if (!MergesByKind(*descriptor.field(i))) continue;
    const OneofDescriptor& kinds = KindsOf(*descriptor.field(i));
    for (int k = 0; k < kinds.field_count(); ++k) names.push_back(kinds.field(k)->name());
  }
  return names;
}

// Returns the message in the field, or null if it is not set.
const Message* Below(const Message* message, const FieldDescriptor* field, int index) {
  if (message == nullptr || field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return nullptr;
  const Reflection* reflection = message->GetReflection();
  if (!field->is_repeated()) {
    return reflection->HasField(*message, field) ? &reflection->GetMessage(*message, field) : nullptr;
  }
  if (index < 0 || index >= reflection->FieldSize(*message, field)) return nullptr;
  return &reflection->GetRepeatedMessage(*message, field, index);
}

// Follows a path through the schema, and through a message as far as its fields are set.
class Walker {
 public:
  Walker(const Message& message, absl::string_view path)
      : path_(path), message_(&message), descriptor_(message.GetDescriptor()) {}

  absl::StatusOr<std::vector<Step>> Walk() {
    for (absl::string_view part : absl::StrSplit(path_, '.')) OPENSET_RETURN_IF_ERROR(Take(part));
    if (kind_ != nullptr) GoInto({kind_, kWhole});
    for (size_t i = 0; i + 1 < steps_.size(); ++i) {
      if (steps_[i].field->is_repeated() && steps_[i].index == kWhole) {
        return Problem(path_, absl::StrCat("'", steps_[i].field->name(), "' is repeated: give an index, as in ",
                                           steps_[i].field->name(), "[0]"));
      }
    }
    return std::move(steps_);
  }

 private:
  absl::Status Take(absl::string_view part) {
    if (descriptor_ == nullptr) {
      return Problem(path_, absl::StrCat("'", steps_.back().field->name(), "' has no fields"));
    }
    int index = kWhole;
    if (const size_t bracket = part.find('['); bracket != absl::string_view::npos) {
      absl::string_view digits = part.substr(bracket + 1);
      if (!absl::ConsumeSuffix(&digits, "]")) return Problem(path_, "'[' without ']'");
      if (digits.empty()) {
        index = kAppend;
      } else if (!absl::SimpleAtoi(digits, &index) || index < 0) {
        return Problem(path_, absl::StrCat("'", digits, "' is not an index"));
      }
      part = part.substr(0, bracket);
    }
    const std::string name(part);
    if (kind_ != nullptr) {
      // After a kind: a field of the element, or otherwise of its kind's message.
      const FieldDescriptor* field = descriptor_->FindFieldByName(name);
      if (field == nullptr || field->containing_oneof() == kind_->containing_oneof()) GoInto({kind_, kWhole});
      kind_ = nullptr;
    }
    const FieldDescriptor* field = descriptor_->FindFieldByName(name);
    if (field == nullptr) {
      const FieldDescriptor* list = ListOfKind(*descriptor_, name);
      if (list == nullptr) return Problem(path_, UnknownName("field", part, NamesIn(*descriptor_)));
      return TakeKind(*list, list->message_type()->FindFieldByName(name), index);
    }
    if (index != kWhole && !field->is_repeated()) {
      return Problem(path_, absl::StrCat("'", part, "' is not repeated, so it takes no index"));
    }
    GoInto({field, index});
    return absl::OkStatus();
  }

  // Goes into the list's element of a kind. The next step decides whether to go into the kind's message as well.
  absl::Status TakeKind(const FieldDescriptor& list, const FieldDescriptor* kind, int index) {
    const int first = message_ == nullptr ? -1 : FindKind(*message_, list, kind, 0);
    const int second = first < 0 ? -1 : FindKind(*message_, list, kind, 1);
    if (index != kWhole || second >= 0) {
      return Problem(
          path_, absl::StrCat(index != kWhole ? "a kind takes no index" : "several are of this kind",
                              ": give its position in the list, as in ", list.name(), "[", std::max(second, 0), "]"));
    }
    if (first < 0) {
      std::vector<std::string> kinds;
      const int size = message_ == nullptr ? 0 : message_->GetReflection()->FieldSize(*message_, &list);
      for (int i = 0; i < size; ++i) {
        const FieldDescriptor* held = KindOf(*message_, list, i);
        if (held != nullptr) kinds.push_back(held->name());
      }
      return Problem(path_, absl::StrCat("there is no ", list.name(), " '", kind->name(), "'; it has ",
                                         kinds.empty() ? "none" : absl::StrJoin(kinds, ", ")));
    }
    GoInto({&list, first});
    kind_ = kind;
    return absl::OkStatus();
  }

  void GoInto(const Step& step) {
    steps_.push_back(step);
    descriptor_ = step.field->message_type();
    message_ = Below(message_, step.field, step.index);
  }

  const absl::string_view path_;
  std::vector<Step> steps_;
  const Message* message_;                 // at the current position; null if it is not set
  const Descriptor* descriptor_;           // its type; null after a scalar
  const FieldDescriptor* kind_ = nullptr;  // by which the last step's element was found
};

absl::StatusOr<std::vector<Step>> ParsePath(const Message& message, absl::string_view path) {
  return Walker(message, path).Walk();
}

absl::Status CheckIndex(const Message& message, const Step& step, absl::string_view path) {
  const int size = message.GetReflection()->FieldSize(message, step.field);
  if (step.index < size) return absl::OkStatus();
  return Problem(path, absl::StrCat("there is no ", step.field->name(), "[", step.index, "]; it has ", size));
}

absl::Status CheckOneof(const Message& message, const FieldDescriptor* field, absl::string_view path) {
  const OneofDescriptor* oneof = field->real_containing_oneof();
  if (oneof == nullptr) return absl::OkStatus();
  const FieldDescriptor* held = message.GetReflection()->GetOneofFieldDescriptor(message, oneof);
  if (held == nullptr || held == field) return absl::OkStatus();
  return Problem(path, absl::StrCat("it holds '", held->name(), "', not '", field->name(), "'"));
}

// "['1', '2']" of "[1, 2]".
std::string WithQuotes(absl::string_view list) {
  std::vector<std::string> values;
  for (const absl::string_view value : absl::StrSplit(list.substr(1, list.size() - 2), ',')) {
    values.push_back(absl::StrCat("'", absl::StripAsciiWhitespace(value), "'"));
  }
  return absl::StrCat("[", absl::StrJoin(values, ", "), "]");
}

// Sets the last step's field of `message`, the message that contains it.
absl::Status Assign(const Step& step, absl::string_view path, absl::string_view value, Message* message) {
  const Reflection* reflection = message->GetReflection();
  const FieldDescriptor* field = step.field;
  std::unique_ptr<Message> parsed(message->New());
  std::string text(value);
  const bool is_list = field->is_repeated() && step.index == kWhole && absl::StartsWith(text, "[") &&
                       absl::EndsWith(text, "]") && text.size() > 2;
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING && is_list) {
    if (text.find_first_of("'\"") == std::string::npos) text = WithQuotes(text);
  } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING && !absl::StartsWith(text, "'") &&
             !absl::StartsWith(text, "\"")) {
    text = absl::StrCat("\"", text, "\"");
  } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !absl::StartsWith(text, "{")) {
    text = absl::StrCat("{", text, "}");
  }
  const absl::Status status =
      ParseTextProto(absl::StrCat(field->name(), ": ", text), absl::StrCat("value '", value, "'"), parsed.get())
          .status();
  if (!status.ok()) return Problem(path, status.message());

  if (!field->is_repeated()) {
    reflection->ClearField(message, field);
    message->MergeFrom(*parsed);
    return absl::OkStatus();
  }
  if (step.index == kAppend) {
    message->MergeFrom(*parsed);
    return absl::OkStatus();
  }
  if (step.index == kWhole) {
    reflection->ClearField(message, field);
    message->MergeFrom(*parsed);
    return absl::OkStatus();
  }
  if (parsed->GetReflection()->FieldSize(*parsed, field) != 1) return Problem(path, "takes one value");
  // Swap the new element, appended, into its place.
  message->MergeFrom(*parsed);
  reflection->SwapElements(message, field, step.index, reflection->FieldSize(*message, field) - 1);
  reflection->RemoveLast(message, field);
  return absl::OkStatus();
}

}  // namespace

absl::Status SetField(absl::string_view path, absl::string_view value, Message* message) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<Step> steps, ParsePath(*message, path));
  std::unique_ptr<Message> changed(message->New());
  changed->CopyFrom(*message);
  Message* at = changed.get();
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    if (step.index >= 0) OPENSET_RETURN_IF_ERROR(CheckIndex(*at, step, path));
    if (i + 1 == steps.size()) break;
    OPENSET_RETURN_IF_ERROR(CheckOneof(*at, step.field, path));
    const Reflection* reflection = at->GetReflection();
    if (!step.field->is_repeated()) {
      at = reflection->MutableMessage(at, step.field);
    } else if (step.index == kAppend) {
      at = reflection->AddMessage(at, step.field);
    } else {
      at = reflection->MutableRepeatedMessage(at, step.field, step.index);
    }
  }
  OPENSET_RETURN_IF_ERROR(Assign(steps.back(), path, value, at));
  message->GetReflection()->Swap(message, changed.get());
  return absl::OkStatus();
}

absl::StatusOr<std::string> GetField(const Message& message, absl::string_view path) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<Step> steps, ParsePath(message, path));
  const Message* at = &message;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    if (step.index == kAppend) return Problem(path, "'[]' names no element");
    const Reflection* reflection = at->GetReflection();
    if (step.index >= 0) {
      OPENSET_RETURN_IF_ERROR(CheckIndex(*at, step, path));
    } else if (!step.field->is_repeated() && !reflection->HasField(*at, step.field)) {
      return std::string();
    }
    if (i + 1 == steps.size()) break;
    at = step.field->is_repeated() ? &reflection->GetRepeatedMessage(*at, step.field, step.index)
                                   : &reflection->GetMessage(*at, step.field);
  }
  const Step& last = steps.back();
  TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  const int count = last.field->is_repeated() ? at->GetReflection()->FieldSize(*at, last.field) : 1;
  for (int i = 0; i < count; ++i) {
    if (last.index >= 0 && i != last.index) continue;
    std::string element;
    printer.PrintFieldValueToString(*at, last.field, last.field->is_repeated() ? i : -1, &element);
    absl::StripAsciiWhitespace(&element);
    absl::StrAppend(&text, text.empty() ? "" : ", ", element);
  }
  return text;
}

absl::StatusOr<std::string> SamePlace(const Message& message, absl::string_view path, const Message& other) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<Step> steps, ParsePath(message, path));
  std::string same;
  const Message* at = &message;  // null after a field that is not set
  const Message* there = &other;
  for (const Step& step : steps) {
    int index = step.index;
    const bool has_element = at != nullptr && index >= 0 && index < at->GetReflection()->FieldSize(*at, step.field);
    if (has_element && MergesByKind(*step.field)) {
      index = there == nullptr
                  ? -1
                  : FindKind(*there, *step.field, KindOf(*at, *step.field, index), OrdinalOf(*at, *step.field, index));
      if (index < 0) return absl::NotFoundError(absl::StrCat(path, ": no such ", step.field->name()));
    }
    absl::StrAppend(&same, same.empty() ? "" : ".", step.field->name());
    if (index >= 0) absl::StrAppend(&same, "[", index, "]");
    if (index == kAppend) absl::StrAppend(&same, "[]");
    at = Below(at, step.field, step.index);
    there = Below(there, step.field, index);
  }
  return same;
}

}  // namespace openset
