#include "core/text/json_stream.h"

#include <sstream>
#include <string>

#include "core/text/json_text.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

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
