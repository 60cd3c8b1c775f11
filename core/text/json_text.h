// JSON as text, the only place that makes it.
#ifndef OPENSET_CORE_TEXT_JSON_TEXT_H_
#define OPENSET_CORE_TEXT_JSON_TEXT_H_

#include <string>

#include "core/text/one_line.h"
#include "nlohmann/json.hpp"

namespace openset {

// `json` (nlohmann::json or ordered_json) as text: on one line, or for people with `indent` blanks a level. It doesn't
// throw: U+FFFD replaces bytes that are not UTF-8, null a number that is not finite. Printed, it steers no terminal.
template <typename Json>
std::string JsonText(const Json& json, int indent = -1) {
  return WithoutControls(json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace));
}

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_JSON_TEXT_H_
