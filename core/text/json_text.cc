#include "core/text/json_text.h"

#include "absl/strings/str_cat.h"

namespace openset {
namespace {

constexpr size_t kFlushedBytes = 1 << 20;

// Text indented by `blanks` more spaces. Strings contain no line breaks, because these are escaped.
void AppendIndented(const nlohmann::ordered_json& json, int blanks, std::string* text) {
  const std::string plain = JsonText(json, 2);
  const std::string margin(blanks, ' ');
  for (size_t begin = 0; begin < plain.size();) {
    const size_t end = plain.find('\n', begin);
    const size_t next = end == std::string::npos ? plain.size() : end + 1;
    text->append(plain, begin, next - begin);
    if (end != std::string::npos) text->append(margin);
    begin = next;
  }
}

}  // namespace

void JsonStream::Begin(absl::string_view name) {
  absl::StrAppend(&text_, is_empty_ ? "{\n  " : ",\n  ", JsonText(nlohmann::ordered_json(std::string(name))), ": ");
  is_empty_ = false;
}

void JsonStream::Flush(bool all) {
  if (!all && text_.size() < kFlushedBytes) return;
  out_ << text_;
  text_.clear();
}

void JsonStream::Member(absl::string_view name, const nlohmann::ordered_json& value) {
  Begin(name);
  AppendIndented(value, 2, &text_);
  Flush(false);
}

void JsonStream::Array(absl::string_view name, int64_t count,
                       const std::function<nlohmann::ordered_json(int64_t)>& element) {
  Begin(name);
  for (int64_t i = 0; i < count; ++i) {
    text_.append(i == 0 ? "[\n    " : ",\n    ");
    AppendIndented(element(i), 4, &text_);
    Flush(false);
  }
  text_.append(count == 0 ? "[]" : "\n  ]");
}

void JsonStream::Finish() {
  text_.append(is_empty_ ? "{}\n" : "\n}\n");
  Flush(true);
}

}  // namespace openset
