#include "core/proto/schema_comments.h"

#include <map>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/proto/schema.pb.h"
#include "core/status_macros.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/text_format.h"

namespace openset {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Comment lines start with the space after "//".
std::string Lines(const std::string& comment) {
  std::vector<std::string> lines = absl::StrSplit(comment, '\n');
  for (std::string& line : lines) line = std::string(absl::StripTrailingAsciiWhitespace(absl::StripPrefix(line, " ")));
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return absl::StrJoin(lines, "\n");
}

// `descriptor` is from the pool with comments; null if the pool doesn't have it.
template <typename T>
std::string CommentOf(const T* descriptor) {
  google::protobuf::SourceLocation location;
  if (descriptor == nullptr || !descriptor->GetSourceLocation(&location)) return "";
  const std::string above = Lines(location.leading_comments), behind = Lines(location.trailing_comments);
  return above.empty() || behind.empty() ? above + behind : absl::StrCat(above, "\n", behind);
}

void AppendComment(const std::string& comment, const std::string& indent, std::string* text) {
  if (comment.empty()) return;
  for (absl::string_view line : absl::StrSplit(comment, '\n')) {
    absl::StrAppend(text, indent, line.empty() ? "#" : "# ", line, "\n");
  }
}

std::string TypeName(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT32:
    case FieldDescriptor::CPPTYPE_UINT64:
      return "integer";
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return "number";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_STRING:
      return "text";
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return field.message_type()->name();
    case FieldDescriptor::CPPTYPE_ENUM: {
      std::vector<std::string> names;
      // The first value of each is ..._UNSPECIFIED.
      for (int v = 1; v < field.enum_type()->value_count(); ++v) names.push_back(field.enum_type()->value(v)->name());
      return absl::StrJoin(names, " | ");
    }
  }
  return "";
}

std::string DefaultText(const FieldDescriptor& field) {
  if (!field.has_default_value()) return "";
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return absl::StrCat(field.default_value_double());
    case FieldDescriptor::CPPTYPE_FLOAT:
      return absl::StrCat(field.default_value_float());
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(field.default_value_int32());
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat(field.default_value_int64());
    case FieldDescriptor::CPPTYPE_UINT32:
      return absl::StrCat(field.default_value_uint32());
    case FieldDescriptor::CPPTYPE_UINT64:
      return absl::StrCat(field.default_value_uint64());
    case FieldDescriptor::CPPTYPE_BOOL:
      return field.default_value_bool() ? "true" : "false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return field.default_value_enum()->name();
    case FieldDescriptor::CPPTYPE_STRING:
      return absl::StrCat("\"", field.default_value_string(), "\"");
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return "";
  }
  return "";
}

void AppendMessage(const Message& message, const SchemaComments& comments, const std::string& indent,
                   std::string* text) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  google::protobuf::TextFormat::Printer printer;
  for (const FieldDescriptor* field : fields) {
    AppendComment(comments.Of(*field), indent, text);
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        const Message& below = field->is_repeated() ? reflection.GetRepeatedMessage(message, field, i)
                                                    : reflection.GetMessage(message, field);
        std::string body;
        AppendMessage(below, comments, indent + "  ", &body);
        if (body.empty()) {
          absl::StrAppend(text, indent, field->name(), " {}\n");
        } else {
          absl::StrAppend(text, indent, field->name(), " {\n", body, indent, "}\n");
        }
        continue;
      }
      std::string value;
      printer.PrintFieldValueToString(message, field, field->is_repeated() ? i : -1, &value);
      // Texts are in double quotes, where a single quote needs no escape.
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) value = absl::StrReplaceAll(value, {{"\\'", "'"}});
      absl::StrAppend(text, indent, field->name(), ": ", value, "\n");
    }
  }
}

void AppendSchema(const Descriptor& message, const SchemaComments& comments, const std::string& indent,
                  std::string* text) {
  for (int f = 0; f < message.field_count(); ++f) {
    const FieldDescriptor& field = *message.field(f);
    if (field.containing_oneof() != nullptr && field.containing_oneof()->field(0) != &field) continue;
    if (field.containing_oneof() != nullptr) {
      absl::StrAppend(text, indent, "one of:\n");
      for (int m = 0; m < field.containing_oneof()->field_count(); ++m) {
        absl::StrAppend(text, indent, "  ", field.containing_oneof()->field(m)->name(), "\n");
      }
      continue;
    }
    absl::StrAppend(text, indent, field.name(), "   ", FieldRulesText(field), "\n");
    std::string comment = comments.Of(field);
    if (comment.empty() && field.message_type() != nullptr) comment = comments.Of(*field.message_type());
    AppendComment(comment, indent + "  ", text);
    if (field.enum_type() != nullptr) {
      for (int v = 1; v < field.enum_type()->value_count(); ++v) {
        const std::string meaning = comments.Of(*field.enum_type()->value(v));
        if (meaning.empty()) continue;
        absl::StrAppend(text, indent, "    ", field.enum_type()->value(v)->name(), "\n");
        AppendComment(meaning, indent + "      ", text);
      }
    }
    // Messages are no deeper than their schema, which has no cycles among specs.
    if (field.message_type() != nullptr && indent.size() < 8) {
      AppendSchema(*field.message_type(), comments, indent + "  ", text);
    }
  }
}

}  // namespace

absl::StatusOr<SchemaComments> SchemaComments::Load(const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  google::protobuf::FileDescriptorSet set;
  const absl::Status damaged = absl::DataLossError(absl::StrCat(path, ": not a set of schemas"));
  if (!set.ParseFromString(bytes)) return damaged;
  std::map<std::string, const google::protobuf::FileDescriptorProto*> files;
  for (const google::protobuf::FileDescriptorProto& file : set.file()) files.emplace(file.name(), &file);
  SchemaComments comments;
  comments.pool_ = std::make_unique<google::protobuf::DescriptorPool>();
  // A file is added after its imports: each pass adds at least one file, or no more can be added.
  for (size_t before = files.size() + 1; !files.empty() && files.size() < before;) {
    before = files.size();
    for (auto file = files.begin(); file != files.end();) {
      bool ready = true;
      for (const std::string& import : file->second->dependency()) ready = ready && files.count(import) == 0;
      if (ready && comments.pool_->BuildFile(*file->second) == nullptr) return damaged;
      file = ready ? files.erase(file) : std::next(file);
    }
  }
  if (!files.empty()) return damaged;
  return comments;
}

std::string SchemaComments::Of(const FieldDescriptor& field) const {
  return CommentOf(pool_->FindFieldByName(field.full_name()));
}

std::string SchemaComments::Of(const Descriptor& message) const {
  return CommentOf(pool_->FindMessageTypeByName(message.full_name()));
}

std::string SchemaComments::Of(const EnumValueDescriptor& value) const {
  return CommentOf(pool_->FindEnumValueByName(value.full_name()));
}

std::string FieldRulesText(const FieldDescriptor& field) {
  const FieldRule& rule = field.options().GetExtension(openset::rule);
  std::string text = absl::StrCat(field.is_repeated() ? "list of " : "", TypeName(field));
  if (rule.has_min()) absl::StrAppend(&text, ", at least ", rule.min());
  if (rule.has_above()) absl::StrAppend(&text, ", above ", rule.above());
  if (rule.has_max()) absl::StrAppend(&text, ", at most ", rule.max());
  if (rule.has_below()) absl::StrAppend(&text, ", below ", rule.below());
  if (rule.has_most()) absl::StrAppend(&text, ", at most ", rule.most(), " elements");
  if (const std::string value = DefaultText(field); !value.empty()) absl::StrAppend(&text, "; default ", value);
  if (rule.required()) absl::StrAppend(&text, "; required");
  if (rule.has_required_unless()) absl::StrAppend(&text, "; required unless ", rule.required_unless(), " is set");
  return text;
}

std::string ToCommentedText(const Message& message, const SchemaComments& comments) {
  std::string text;
  AppendMessage(message, comments, "", &text);
  return text;
}

std::string SchemaText(const Descriptor& message, const SchemaComments& comments) {
  std::string text;
  AppendComment(comments.Of(message), "", &text);
  if (!text.empty()) absl::StrAppend(&text, "\n");
  AppendSchema(message, comments, "", &text);
  return text;
}

}  // namespace openset
