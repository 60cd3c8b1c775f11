#include "tools/python/library/openset.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace {

// The memory that the test uses, the most that it used, and the most that it may.
std::atomic<size_t> used{0}, most_used{0}, limit{std::numeric_limits<size_t>::max()};

}  // namespace

// As the standard describes it, with a limit.
void* operator new(size_t size) {
  while (true) {
    void* const memory = used + size <= limit ? std::malloc(size > 0 ? size : 1) : nullptr;
    if (memory != nullptr) {
      used += malloc_usable_size(memory);
      most_used = std::max(most_used.load(), used.load());
      return memory;
    }
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}
void operator delete(void* memory) noexcept {
  used -= malloc_usable_size(memory);  // 0 for null
  std::free(memory);
}
void operator delete(void* memory, size_t /*size*/) noexcept { operator delete(memory); }

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

// The result of a call: its code and texts, and the array for `score`.
struct Found {
  int32_t code = 0;
  std::string text;
  std::string hints;
  std::vector<double> unknown_score;
};

Found Ask(const std::string& request, const std::vector<OpensetArray>& arrays) {
  OpensetAnswer* const answer = openset_call(request.data(), request.size(), arrays.data(), arrays.size());
  Found found;
  found.code = openset_code(answer);
  int64_t length = 0;
  const char* const text = openset_text(answer, &length);
  found.text = std::string(text, length);
  const char* const hints = openset_hints(answer, &length);
  found.hints = std::string(hints, length);
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

TEST(OpensetTest, GivesTheHintsOfTheCommand) {
  EXPECT_EQ(Ask("set: 's' evaluate { metrics: 'auroc' }", Scores()).hints, "[]");
  // No sample is unknown, and the labels are 0 and 1.
  const std::vector<int64_t> label = {0, 1, 1, 0};
  std::vector<OpensetArray> arrays = Scores();
  arrays[0].data = label.data();
  const nlohmann::json hints = nlohmann::json::parse(Ask("set: 's' evaluate { metrics: 'auroc' }", arrays).hints);
  ASSERT_EQ(hints.size(), 1);
  EXPECT_THAT(hints[0].get<std::string>(), StartsWith("no -1 among the labels, only 0 and 1"));
}

// Calls with less and less memory, also where other code can't report that there is none.
TEST(OpensetTest, LowMemoryIsAnAnswer) {
  openset_limit_threads(1);
  constexpr int64_t kSamples = 60000, kParts = 100, kReserve = 1 << 20;
  std::vector<int64_t> label(kSamples);
  std::vector<float> logits(3 * kSamples);
  for (int64_t i = 0; i < kSamples; ++i) label[i] = i % 4 - 1;
  for (size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(i * 7 % 101) - static_cast<float>(i % 3);
  const std::vector<int64_t> shape = {kSamples}, matrix = {kSamples, 3};
  const std::vector<OpensetArray> arrays = {Array(0, "label", "<i8", label.data(), shape),
                                            Array(0, "logits", "<f4", logits.data(), matrix)};
  for (const std::string& request :
       {std::string("set: 's' evaluate {}"), std::string("set: 's' evaluate { samples { near: 'no_such' } }"),
        std::string("set: 's' score { score: 'energy' }"), std::string("set: 's' threshold { target: 0.9 }")}) {
    Ask(request, arrays);  // makes what is made once
    most_used = used.load();
    const size_t before = used;
    const Found expected = Ask(request, arrays);
    const size_t needed = most_used - before;
    size_t largest_failed = 0;
    int answered = 0;
    for (int part = 0; part <= kParts; ++part) {
      const size_t left = needed * part / kParts;
      limit = used + left;
      OpensetAnswer* const answer = openset_call(request.data(), request.size(), arrays.data(), arrays.size());
      limit = std::numeric_limits<size_t>::max();
      if (answer == nullptr) {
        EXPECT_EQ(part, 0);
        continue;
      }
      int64_t length = 0;
      const char* const text = openset_text(answer, &length);
      const bool out_of_memory = openset_code(answer) == 3;
      if (out_of_memory) largest_failed = left;
      answered += !out_of_memory;
      EXPECT_EQ(openset_code(answer), out_of_memory ? 3 : expected.code) << part;
      EXPECT_EQ(std::string(text, length), out_of_memory ? "out of memory" : expected.text) << part;
      openset_free(answer);
    }
    EXPECT_GT(answered, 0) << request;
    // Also after the reserve was released; an error needs little memory.
    EXPECT_GT(largest_failed, expected.code == 0 ? 1.2 * kReserve : 0) << request;
    EXPECT_EQ(Ask(request, arrays).text, expected.text);
  }
  openset_limit_threads(1000);
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

TEST(OpensetTest, MessagesHaveNoControlCharacters) {
  const Found found = Ask("set: 's' evaluate { metrics: 'au\\033[31mroc\\n' }", Scores());
  EXPECT_EQ(found.code, 2);
  EXPECT_THAT(found.text, HasSubstr("au [31mroc"));
  for (const char c : found.text) EXPECT_GE(static_cast<unsigned char>(c), 32) << found.text;
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
