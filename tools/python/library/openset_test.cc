#include "tools/python/library/openset.h"

#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::vector<int64_t> kLabel = {0, 1, -1, -1};
const std::vector<double> kScore = {.1, .2, .15, .9};
const std::vector<int64_t> kFour = {4};

OpensetArray Array(int32_t set, const char* name, const char* type, const void* data,
                   const std::vector<int64_t>& shape) {
  OpensetArray array = {};
  array.set = set;
  array.rank = static_cast<int32_t>(shape.size());
  array.name = name;
  array.type = type;
  array.item_bytes = type[2] - '0';
  array.data = data;
  array.shape = shape.data();
  return array;
}

std::vector<OpensetArray> Scores(int32_t set = 0) {
  return {Array(set, "label", "<i8", kLabel.data(), kFour), Array(set, "unknown_score", "<f8", kScore.data(), kFour)};
}

// The result of a call: its code and text, and the array for `score`.
struct Found {
  int32_t code = 0;
  std::string text;
  std::vector<double> unknown_score;
};

Found Ask(const std::string& request, const std::vector<OpensetArray>& arrays) {
  OpensetAnswer* const answer = openset_call(request.data(), request.size(), arrays.data(), arrays.size());
  Found found;
  found.code = openset_code(answer);
  int64_t length = 0;
  const char* const text = openset_text(answer, &length);
  found.text = std::string(text, length);
  const auto* const score = static_cast<const double*>(openset_array(answer, "unknown_score", &length));
  found.unknown_score.assign(score, score + length);
  EXPECT_EQ(openset_array(answer, "no_such_array", &length), nullptr);
  EXPECT_EQ(length, 0);
  openset_free(answer);
  return found;
}

TEST(OpensetTest, MeasuresArrays) {
  const Found found = Ask("set: 's' evaluate { metrics: 'auroc' }", Scores());
  EXPECT_EQ(found.code, 0);
  // Of the four pairs of an unknown and a known sample, (0.15, 0.2) is in the wrong order.
  EXPECT_EQ(nlohmann::json::parse(found.text)["metrics"]["auroc"]["value"], 0.75);
}

TEST(OpensetTest, ComputesScores) {
  const std::vector<float> logits = {1, 3, 2, 0};
  const std::vector<int64_t> label = {0, -1}, two = {2}, matrix = {2, 2};
  const Found found = Ask("set: 's' score { score: 'max_logit' }", {Array(0, "label", "<i8", label.data(), two),
                                                                    Array(0, "logits", "<f4", logits.data(), matrix)});
  EXPECT_EQ(found.code, 0) << found.text;
  EXPECT_THAT(found.unknown_score, ElementsAre(-3, -2));
}

TEST(OpensetTest, ComparesAndChoosesThresholds) {
  std::vector<OpensetArray> two = Scores(0);
  for (const OpensetArray& array : Scores(1)) two.push_back(array);
  const Found same = Ask("set: 'a' set: 'b' compare { metrics: 'auroc' interval { replicates: 20 } }", two);
  EXPECT_THAT(same.text, HasSubstr("no detectable difference"));
  const Found chosen = Ask("set: 'v' set: 't' threshold { target: 1 }", two);
  EXPECT_EQ(nlohmann::json::parse(chosen.text)["threshold"], 0.2);  // the larger score of the known samples
}

TEST(OpensetTest, ListsScores) {
  const Found found = Ask("list_scores: true", {});
  EXPECT_THAT(found.text, StartsWith("[\""));
  EXPECT_THAT(found.text, HasSubstr("\"energy\""));
}

TEST(OpensetTest, ErrorsNameArrayAndRow) {
  const std::vector<int64_t> label = {0, -7, 0, 0};
  std::vector<OpensetArray> arrays = Scores();
  arrays[0].data = label.data();
  const Found found = Ask("set: 'samples' evaluate {}", arrays);
  EXPECT_EQ(found.code, 2);
  EXPECT_EQ(found.text, "samples: array 'label', row 1: is -7; it must lie in 0 .. 0, or be -1 for unknown");
}

TEST(OpensetTest, InvalidCallsReturnErrors) {
  const auto text = [](const std::string& request, const std::vector<OpensetArray>& arrays) {
    const Found found = Ask(request, arrays);
    EXPECT_EQ(found.code, 2) << request;
    return found.text;
  };
  EXPECT_EQ(text("", {}), "the call asks for nothing");
  EXPECT_THAT(text("evaluate { metric: 'auroc' }", {}), HasSubstr("metric"));
  EXPECT_THAT(text(std::string("\xff\0{", 3), {}), HasSubstr("request:1:1"));
  EXPECT_EQ(text("evaluate {}", {}), "the call has 0 sets of samples; it takes 1");
  EXPECT_EQ(text("set: 'a' compare {}", Scores()), "the call has 1 sets of samples; it takes 2 to 100");
  EXPECT_EQ(text("set: 'a' fit: 3 evaluate {}", Scores()), "fit: there is no set 3");
  EXPECT_EQ(text("set: 'a' evaluate {}", Scores(1)), "array 0 is of set 1, of 1");
  std::vector<OpensetArray> arrays = Scores();
  arrays[1].rank = 65;
  EXPECT_EQ(text("set: 'a' evaluate {}", arrays), "array 1: array 'unknown_score' has the rank 65");
  arrays[1] = Scores()[1];
  arrays[1].type = nullptr;
  EXPECT_EQ(text("set: 'a' evaluate {}", arrays), "array 1: it has no name or no type");
  arrays[1] = Scores()[1];
  arrays[1].data = nullptr;
  EXPECT_EQ(text("set: 'a' evaluate {}", arrays), "a: array 'unknown_score' has no data");

  OpensetAnswer* const none = openset_call(nullptr, 0, nullptr, 0);
  EXPECT_EQ(openset_code(none), 2);
  openset_free(none);
  openset_free(nullptr);
}

TEST(OpensetTest, ResultsDontDependOnThreadsOrConcurrentCalls) {
  const std::string request = "set: 's' evaluate { ci: true interval { replicates: 50 } }";
  openset_limit_threads(1);
  const std::string alone = Ask(request, Scores()).text;
  openset_limit_threads(1000);
  std::vector<std::string> found(4);
  std::vector<std::thread> threads;
  for (std::string& text : found) threads.emplace_back([&text, &request] { text = Ask(request, Scores()).text; });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : found) EXPECT_EQ(text, alone);
}

TEST(OpensetTest, NoRequestCrashesTheProcess) {
  const std::string valid =
      "set: 's' evaluate { samples { near: 'a' } metrics: 'auroc' ci: true interval { replicates: 20 level: 0.9 } }";
  openset::RandomStream random(1, "mutated requests");
  for (int round = 0; round < 300; ++round) {
    std::string request = valid;
    for (uint64_t change = 0; change <= random.Below(3); ++change) {
      const uint64_t at = random.Below(request.size());
      if (random.Below(2) == 0) {
        request[at] = static_cast<char>(random.Below(256));
      } else {
        request.erase(at, 1 + random.Below(5));
      }
    }
    EXPECT_THAT(Ask(request, Scores()).code, testing::AnyOf(0, 2)) << request;
  }
}

TEST(OpensetTest, NamesItsInterface) { EXPECT_EQ(openset_interface(), OPENSET_INTERFACE); }

}  // namespace
