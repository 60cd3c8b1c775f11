// A JSON object as text, written member by member: what is large need not be in memory as a whole.
#ifndef OPENSET_CORE_TEXT_JSON_STREAM_H_
#define OPENSET_CORE_TEXT_JSON_STREAM_H_

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace openset {

// Writes what JsonText(object, 2) gives for the same members, to the byte, and a line end. Its life: Member() and
// Array() any number of times, each name once, then Finish().
class JsonStream {
 public:
  // `out` outlives it; whether it takes what is written, it says itself.
  explicit JsonStream(std::ostream* out) : out_(*out) {}

  void Member(absl::string_view name, const nlohmann::ordered_json& value);
  // `element(0)`, ..., `element(count - 1)`, each made when it is written.
  void Array(absl::string_view name, int64_t count, const std::function<nlohmann::ordered_json(int64_t)>& element);
  void Finish();

 private:
  void Begin(absl::string_view name);
  // Hands the text on once it is long.
  void Flush(bool all);

  std::ostream& out_;
  std::string text_;
  bool is_empty_ = true;
};

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_JSON_STREAM_H_
