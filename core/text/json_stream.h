// Writes a JSON object member by member, so that a large one needn't be in memory as a whole.
#ifndef OPENSET_CORE_TEXT_JSON_STREAM_H_
#define OPENSET_CORE_TEXT_JSON_STREAM_H_

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace openset {

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

#endif  // OPENSET_CORE_TEXT_JSON_STREAM_H_
