#include "core/proto/text_proto.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "core/text/synonyms.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace openset {
namespace {

constexpr int kDeepest = 100;  // messages within messages

using ::google::protobuf::Descriptor;
using ::google::protobuf::EnumDescriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::TextFormat;

// Returns the text between the first two double quotes after `position` and moves `position` after them.
std::string NextQuoted(absl::string_view text, size_t* position) {
  const size_t begin = text.find('"', *position);
  if (begin == absl::string_view::npos) return "";
  const size_t end = text.find('"', begin + 1);
  if (end == absl::string_view::npos) return "";
  *position = end + 1;
  return std::string(text.substr(begin + 1, end - begin - 1));
}

std::vector<std::string> FieldNames(const Descriptor& descriptor) {
  std::vector<std::string> names;
  for (int i = 0; i < descriptor.field_count(); ++i) names.push_back(descriptor.field(i)->name());
  return names;
}

class IgnoredErrors : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int /*line*/, google::protobuf::io::ColumnNumber /*column*/, const std::string& /*text*/) override {}
};

// Returns the message whose fields are at `line` and `column` of `text`, both from 0; null if unknown.
const Descriptor* MessageAt(absl::string_view text, const Descriptor* root, int line, int column) {
  using ::google::protobuf::io::Tokenizer;
  IgnoredErrors errors;
  google::protobuf::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  Tokenizer tokenizer(&input, &errors);
  tokenizer.set_comment_style(Tokenizer::SH_COMMENT_STYLE);
  struct Level {
    const Descriptor* descriptor;
    std::string field;  // the last name in it
  };
  std::vector<Level> levels = {{root, ""}};
  while (tokenizer.Next()) {
    const Tokenizer::Token& token = tokenizer.current();
    if (std::pair(token.line, static_cast<int>(token.column)) >= std::pair(line, column)) break;
    Level& level = levels.back();
    if (token.type == Tokenizer::TYPE_IDENTIFIER) {
      level.field = token.text;
    } else if (token.text == "{" || token.text == "<") {
      const FieldDescriptor* field =
          level.descriptor == nullptr ? nullptr : level.descriptor->FindFieldByName(level.field);
      levels.push_back({field == nullptr ? nullptr : field->message_type(), ""});
    } else if ((token.text == "}" || token.text == ">") && levels.size() > 1) {
      levels.pop_back();
    }
  }
  return levels.back().descriptor;
}

std::vector<std::string> ValueNames(const EnumDescriptor& descriptor) {
  std::vector<std::string> names;
  for (int i = 0; i < descriptor.value_count(); ++i) names.push_back(descriptor.value(i)->name());
  return names;
}

// How a text writes the field that other programs call `name`, in a message with these fields or in the `override` of
// it: "optimizer { learning_rate: ... }" for "lr" in a training. "" if there is none.
std::string UsualFieldText(const Descriptor& message, const std::string& name) {
  const std::string path = UsualPath(name);
  if (path == name) return "";
  std::vector<std::string> names = absl::StrSplit(path, '.');
  names.insert(names.begin(), "override");
  for (size_t first = 0; first < names.size(); ++first) {
    const Descriptor* descriptor = &message;
    const FieldDescriptor* field = nullptr;
    for (size_t i = first; i < names.size() && descriptor != nullptr; ++i) {
      field = descriptor->FindFieldByName(names[i]);
      descriptor = field == nullptr ? nullptr : field->message_type();
      if (field == nullptr || (descriptor == nullptr && i + 1 < names.size())) {
        field = nullptr;
        break;
      }
    }
    if (field == nullptr) continue;
    const bool is_message = field->message_type() != nullptr;
    std::string text = absl::StrCat(names.back(), is_message ? " { ... }" : ": ...");
    for (size_t i = names.size() - 1; i-- > first;) text = absl::StrCat(names[i], " { ", text, " }");
    return text;
  }
  return "";
}

// Adds the valid names to the parser's message about an unknown one. `parent` is the message that the parser is in, if
// known.
std::string Explain(const Message& root, const Descriptor* parent, const std::string& message) {
  size_t position = 0;
  if (absl::StartsWith(message, "Message type \"")) {
    const std::string type = NextQuoted(message, &position);
    const std::string field = NextQuoted(message, &position);
    const Descriptor* descriptor = root.GetDescriptor()->file()->pool()->FindMessageTypeByName(type);
    if (descriptor != nullptr) {
      const std::string unknown = UnknownName("field", field, FieldNames(*descriptor));
      const std::string usual = UsualFieldText(*descriptor, field);
      const bool has_meaning = usual.empty() || absl::StrContains(unknown, "did you mean");
      return has_meaning ? unknown : absl::StrCat(unknown, "; did you mean ", usual, "?");
    }
  }
  if (absl::StartsWith(message, "Expected integer, got: \"") && parent != nullptr) {
    // A name in a field of ids, which has a twin for names.
    for (int i = 0; i < parent->field_count(); ++i) {
      const std::string twin = parent->field(i)->name() + "_class";
      if (parent->FindFieldByName(twin) == nullptr) continue;
      return absl::StrCat(message, "; '", parent->field(i)->name(), "' takes ids, '", twin, "' names");
    }
  }
  if (absl::StartsWith(message, "Unknown enumeration value of \"")) {
    const std::string value = NextQuoted(message, &position);
    const std::string field = NextQuoted(message, &position);
    const FieldDescriptor* descriptor = parent == nullptr ? nullptr : parent->FindFieldByName(field);
    if (descriptor != nullptr && descriptor->enum_type() != nullptr) {
      return absl::StrCat(field, ": ", UnknownName("value", value, ValueNames(*descriptor->enum_type())));
    }
  }
  return message;
}

class Errors : public google::protobuf::io::ErrorCollector {
 public:
  Errors(const std::string& file, absl::string_view text, const Message& root)
      : file_(file), text_(text), root_(root) {}
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& message) override {
    // The parser numbers lines and columns from 0, and gives -1 if it knows none.
    const std::string place = line < 0 ? file_ : absl::StrCat(file_, ":", line + 1, ":", column + 1);
    const Descriptor* parent = lines_.empty() ? MessageAt(text_, root_.GetDescriptor(), line, column) : nullptr;
    lines_.push_back(absl::StrCat(place, ": ", Explain(root_, parent, message)));
  }
  absl::Status ToStatus() const { return absl::InvalidArgumentError(absl::StrJoin(lines_, "\n")); }

 private:
  const std::string& file_;
  const absl::string_view text_;
  const Message& root_;
  std::vector<std::string> lines_;
};

}  // namespace

TextSource::TextSource(std::string file, std::unique_ptr<TextFormat::ParseInfoTree> tree, const Descriptor* descriptor)
    : file_(std::move(file)), tree_(std::move(tree)), descriptor_(descriptor) {}

std::string TextSource::Where(absl::string_view path) const {
  const TextFormat::ParseInfoTree* tree = tree_.get();
  const Descriptor* descriptor = descriptor_;
  int line = -1;
  for (absl::string_view part : absl::StrSplit(path, '.', absl::SkipEmpty())) {
    if (tree == nullptr || descriptor == nullptr) break;
    int index = -1;
    if (const size_t bracket = part.find('['); bracket != absl::string_view::npos) {
      if (!absl::SimpleAtoi(absl::StripSuffix(part.substr(bracket + 1), "]"), &index)) break;
      part = part.substr(0, bracket);
    }
    const FieldDescriptor* field = descriptor->FindFieldByName(std::string(part));
    if (field == nullptr) break;
    if (field->is_repeated() && index < 0) index = 0;
    TextFormat::ParseLocation location = tree->GetLocation(field, index);
    // Only the first element of a list in brackets has a location.
    if (location.line < 0 && field->is_repeated()) location = tree->GetLocation(field, 0);
    if (location.line >= 0) line = location.line;
    tree = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE ? tree->GetTreeForNested(field, index) : nullptr;
    descriptor = field->message_type();
  }
  std::string where = line < 0 ? file_ : absl::StrCat(file_, ":", line + 1);
  if (!path.empty()) absl::StrAppend(&where, ": ", path);
  return where;
}

absl::StatusOr<TextSource> ParseTextProto(absl::string_view text, const std::string& file, Message* message) {
  auto tree = std::make_unique<TextFormat::ParseInfoTree>();
  Errors errors(file, text, *message);
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.WriteLocationsTo(tree.get());
  parser.SetRecursionLimit(kDeepest);
  google::protobuf::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  if (!parser.Parse(&input, message)) return errors.ToStatus();
  return TextSource(file, std::move(tree), message->GetDescriptor());
}

absl::StatusOr<TextSource> ReadTextProto(const std::string& path, Message* message, Completeness completeness) {
  OPENSET_ASSIGN_OR_RETURN(const std::string text, ReadGivenFile(path, kMaxTextBytes));
  OPENSET_ASSIGN_OR_RETURN(TextSource source, ParseTextProto(text, path, message));
  OPENSET_RETURN_IF_ERROR(CheckRules(*message, source, completeness));
  return source;
}

absl::Status CheckRules(const Message& message, const TextSource& source, Completeness completeness) {
  std::vector<std::string> lines;
  for (const FieldProblem& problem : FindProblems(message, completeness)) {
    lines.push_back(absl::StrCat(source.Where(problem.path), ": ", problem.message));
  }
  return lines.empty() ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrJoin(lines, "\n"));
}

std::string ToText(const Message& message) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);  // "Bär", not "B\303\244r"
  std::string text;
  printer.PrintToString(message, &text);
  return text;
}

}  // namespace openset
