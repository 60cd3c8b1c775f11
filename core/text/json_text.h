// JSON as text. All JSON is written here.
#ifndef OPENSET_CORE_TEXT_JSON_TEXT_H_
#define OPENSET_CORE_TEXT_JSON_TEXT_H_

#include <string>

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

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_JSON_TEXT_H_
