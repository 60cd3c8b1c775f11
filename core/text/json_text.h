// JSON as text. All JSON is written here.
#ifndef OPENSET_CORE_TEXT_JSON_TEXT_H_
#define OPENSET_CORE_TEXT_JSON_TEXT_H_

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

#include "absl/strings/string_view.h"
#include "core/text/one_line.h"
#include "nlohmann/json.hpp"

namespace openset {

// `json` (nlohmann::json or ordered_json) as text: on one line, or readable with `indent` blanks per level. Doesn't
// throw: U+FFFD replaces bytes that are not UTF-8, and null replaces numbers that are not finite. The text contains no
// control characters for a terminal.
template <typename Json>
std::string JsonText(const Json& json, int indent = -1) {
  return WithoutControls(json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace));
}

// ---- Writes a JSON object member by member, so that a large one needn't be in memory as a whole.

// Writes the same bytes as JsonText(object, 2) for the same members, and a line end. Call Member() and Array() any
// number of times, with each name once, then Finish().
class JsonStream {
 public:
  // `out` must outlive the object. The caller checks its state.
  explicit JsonStream(std::ostream* out) : out_(*out) {}

  void Member(absl::string_view name, const nlohmann::ordered_json& value);
  // The elements element(0), ..., element(count - 1); each is computed when it is written.
  void Array(absl::string_view name, int64_t count, const std::function<nlohmann::ordered_json(int64_t)>& element);
  void Finish();

 private:
  void Begin(absl::string_view name);
  // Passes the text to `out` if it is long, or if `all` is true.
  void Flush(bool all);

  std::ostream& out_;
  std::string text_;
  bool is_empty_ = true;
};

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_JSON_TEXT_H_
