#include "tools/python/library/answer_call.h"

#include <fstream>

#include "core/testing/status_matchers.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

TEST(AnswerCallTest, ComparesResultsOfAFile) {
  const std::string path = testing::TempDir() + "/results.csv";
  std::ofstream(path) << "method,split,auroc\na,0,0.9\na,1,0.8\na,2,0.85\nb,0,0.7\nb,1,0.7\nb,2,0.7\n";
  Call call;
  call.mutable_compare_runs()->set_path(path);
  ASSERT_OK_AND_ASSIGN(const CallAnswer answer, AnswerCall(call, {}));
  const nlohmann::json found = nlohmann::json::parse(answer.text);
  EXPECT_NEAR(found["pairs"][0]["mean_difference"], (0.2 + 0.1 + 0.15) / 3, 1e-15);

  call.mutable_compare_runs()->set_baseline("c");
  EXPECT_THAT(std::string(AnswerCall(call, {}).status().message()), HasSubstr(path));
}

TEST(AnswerCallTest, SetsAreCounted) {
  Call call;
  call.add_set("a");
  EXPECT_EQ(AnswerCall(call, {}).status().message(), "the call has 1 sets and arrays of 0");
  EXPECT_EQ(AnswerCall(Call(), {}).status().message(), "the call asks for nothing");
}

}  // namespace
}  // namespace openset
