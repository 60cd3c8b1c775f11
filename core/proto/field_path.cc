#include "core/proto/field_path.h"

#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/suggest.h"
#include "google/protobuf/text_format.h"

namespace openset {
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

absl::StatusOr<std::vector<Step>> ParsePath(const Descriptor* descriptor, absl::string_view path) {
  std::vector<Step> steps;
  for (absl::string_view part : absl::StrSplit(path, '.')) {
    if (descriptor == nullptr) {
      return Problem(path, absl::StrCat("'", steps.back().field->name(), "' has no fields"));
    }
    int index = kWhole;
    if (const size_t bracket = part.find('['); bracket != absl::string_view::npos) {
      absl::string_view digits = part.substr(bracket + 1);
      if (!absl::ConsumeSuffix(&digits, "]")) return Problem(path, "'[' without ']'");
      if (digits.empty()) {
        index = kAppend;
      } else if (!absl::SimpleAtoi(digits, &index) || index < 0) {
        return Problem(path, absl::StrCat("'", digits, "' is not an index"));
      }
      part = part.substr(0, bracket);
    }
    const FieldDescriptor* field = descriptor->FindFieldByName(std::string(part));
    if (field == nullptr) {
      std::vector<std::string> known;
      for (int i = 0; i < descriptor->field_count(); ++i) known.push_back(descriptor->field(i)->name());
      return Problem(path, UnknownName("field", part, known));
    }
    if (index != kWhole && !field->is_repeated()) {
      return Problem(path, absl::StrCat("'", part, "' is not repeated, so it takes no index"));
    }
    steps.push_back({field, index});
    descriptor = field->message_type();
  }
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    if (steps[i].field->is_repeated() && steps[i].index == kWhole) {
      return Problem(path, absl::StrCat("'", steps[i].field->name(), "' is repeated: say which, as in ",
                                        steps[i].field->name(), "[0]"));
    }
  }
  return steps;
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

// Sets the last step's field of `message`, the message that holds it.
absl::Status Assign(const Step& step, absl::string_view path, absl::string_view value, Message* message) {
  const Reflection* reflection = message->GetReflection();
  const FieldDescriptor* field = step.field;
  std::unique_ptr<Message> parsed(message->New());
  std::string text(value);
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING && !absl::StartsWith(text, "'") &&
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
  OPENSET_ASSIGN_OR_RETURN(const std::vector<Step> steps, ParsePath(message->GetDescriptor(), path));
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
  OPENSET_ASSIGN_OR_RETURN(const std::vector<Step> steps, ParsePath(message.GetDescriptor(), path));
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

}  // namespace openset
