#include "core/text/json_text.h"

#include <cmath>

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(JsonText, ReplacesInvalidUtf8) {
  const nlohmann::json json = {{"na\xffme", "\xc3"}};
  EXPECT_EQ(JsonText(json), "{\"na\uFFFDme\":\"\uFFFD\"}");
  EXPECT_EQ(JsonText(nlohmann::ordered_json{{"b", 1}, {"a", std::nan("")}}), R"({"b":1,"a":null})");
}

TEST(JsonText, EscapesControlCodesAndRoundTrips) {
  const nlohmann::json json = {"\x1b[31m", "\u009b31m", "\x7f", "\u202e", "ü"};
  const std::string text = JsonText(json, 1);
  EXPECT_EQ(text, "[\n \"\\u001b[31m\",\n \"\\u009b31m\",\n \"\\u007f\",\n \"\\u202e\",\n \"ü\"\n]");
  EXPECT_EQ(nlohmann::json::parse(text), json);
}

}  // namespace
}  // namespace openset
