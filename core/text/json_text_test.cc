#include "core/text/json_text.h"

#include <cmath>
#include <sstream>

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

using Json = nlohmann::ordered_json;

TEST(JsonStream, WritesTheBytesOfTheWholeObject) {
  Json whole;
  whole["trials"] = Json::array({{{"id", "a\nb"}, {"of", {1, 2.5, nullptr}}}, {{"id", "\xc2\x9b\xff"}}});
  whole["none"] = Json::array();
  whole["cost"] = {{"hours", 0.1}, {"of", Json::object()}};
  whole["last"] = "x";
  std::ostringstream text;
  JsonStream stream(&text);
  stream.Array("trials", 2, [&](int64_t i) { return whole["trials"][i]; });
  stream.Array("none", 0, [](int64_t) { return Json(); });
  stream.Member("cost", whole["cost"]);
  stream.Member("last", whole["last"]);
  stream.Finish();
  EXPECT_EQ(text.str(), JsonText(whole, 2) + "\n");
}

TEST(JsonStream, OfNothingIsAnEmptyObject) {
  std::ostringstream text;
  JsonStream(&text).Finish();
  EXPECT_EQ(text.str(), "{}\n");
}

// 40 elements of 100 kB: if nothing were passed on, the buffer would have 4 MB.
TEST(JsonStream, WritesLongTextsBeforeTheEnd) {
  std::ostringstream text;
  JsonStream stream(&text);
  size_t written_before_the_last = 0;
  stream.Array("long", 40, [&](int64_t i) {
    if (i == 39) written_before_the_last = text.str().size();
    return Json(std::string(100000, 'x'));
  });
  EXPECT_GT(written_before_the_last, 2500000);
  stream.Finish();
  EXPECT_EQ(Json::parse(text.str())["long"].size(), 40);
}

}  // namespace
}  // namespace openset
