// The suite through the command and through the C library: conformance_test OPENSET, in the runfiles.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/formats/npy.h"
#include "core/files/formats/npz.h"
#include "core/files/temporary_folder.h"
#include "core/process/subprocess.h"
#include "core/testing/status_matchers.h"
#include "nlohmann/json.hpp"
#include "tools/python/library/openset.h"

namespace openset {
namespace {

std::string program;

std::string PathOf(const std::string& name) { return absl::StrCat("conformance/v1/", name, ".npz"); }

nlohmann::json Expected() { return nlohmann::json::parse(*ReadFile("conformance/v1/expected.json")); }

// The arrays that scores are fitted to, or the others.
NpzArrays Part(const std::string& name, bool is_fit) {
  NpzArrays part;
  const NpzArrays all = *ReadNpz(PathOf(name));
  for (const auto& [array, values] : all) {
    const bool is_train = array.rfind("train_", 0) == 0;
    if (is_train == is_fit || array.rfind("head_", 0) == 0) part[is_train ? array.substr(6) : array] = values;
  }
  return part;
}

// The answer of the library.
class Answer {
 public:
  Answer(const std::string& request, const std::vector<const NpzArrays*>& sets) {
    std::vector<OpensetArray> arrays;
    for (size_t set = 0; set < sets.size(); ++set) {
      for (const auto& [name, array] : *sets[set]) {
        OpensetArray view = {};
        view.set = static_cast<int32_t>(set);
        view.rank = static_cast<int32_t>(array.shape.size());
        view.name = name.c_str();
        view.type = array.descr.c_str();
        view.item_bytes = static_cast<int64_t>(array.data.size()) / array.size();
        view.data = array.data.data();
        view.shape = array.shape.data();
        arrays.push_back(view);
      }
    }
    answer_ = openset_call(request.data(), static_cast<int64_t>(request.size()), arrays.data(),
                           static_cast<int64_t>(arrays.size()));
  }
  ~Answer() { openset_free(answer_); }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  std::string text() const {
    int64_t bytes = 0;
    const char* text = openset_text(answer_, &bytes);
    return std::string(text, bytes);
  }
  std::vector<double> scores() const {
    int64_t length = 0;
    const auto* values = static_cast<const double*>(openset_array(answer_, "unknown_score", &length));
    return {values, values + length};
  }

 private:
  OpensetAnswer* answer_;
};

std::string Command(const std::vector<std::string>& words) {
  std::vector<std::string> all = {program, "eval"};
  all.insert(all.end(), words.begin(), words.end());
  return CaptureOutput(all).value();
}

double ValueIn(const std::string& text) { return nlohmann::json::parse(text)["metrics"].front()["value"]; }

double Tolerance(const nlohmann::json& about, double value) {
  return about["tolerance"].get<double>() * std::max(1.0, std::abs(value));
}

TEST(Conformance, EachMetricFollowsItsDefinition) {
  const nlohmann::json expected = Expected();
  ASSERT_GE(expected["metric_cases"].size(), 15);
  for (const auto& [name, values] : expected["metric_cases"].items()) {
    const NpzArrays arrays = *ReadNpz(PathOf(name));
    for (const auto& [metric, about] : expected["metrics"].items()) {
      SCOPED_TRACE(absl::StrCat(name, ", ", metric));
      const std::string spec = about["openset"];
      if (!values.contains(metric)) continue;  // none for these samples
      const double value = values[metric];
      // command_test compares the command with the library on random arrays.
      if (name == "ties" || name == "infinities" || name == "float16") {
        EXPECT_NEAR(ValueIn(Command({PathOf(name), "--metrics=" + spec, "--format=json"})), value,
                    Tolerance(about, value));
      }
      const Answer answer("set: 'case' evaluate { metrics: '" + spec + "' }", {&arrays});
      EXPECT_NEAR(ValueIn(answer.text()), value, Tolerance(about, value));
    }
  }
}

TEST(Conformance, EachScoreFollowsItsDefinition) {
  const nlohmann::json expected = Expected();
  const TemporaryFolder folder = TemporaryFolder::Make("conformance").value();
  const std::string fit = folder.path() + "/fit.npz", test = folder.path() + "/test.npz",
                    out = folder.path() + "/out.npz";
  for (const auto& [name, scores] : expected["score_cases"].items()) {
    const NpzArrays fit_part = Part(name, true), test_part = Part(name, false);
    ASSERT_TRUE(fit_part.empty() || WriteNpz(fit, fit_part).ok());
    ASSERT_TRUE(WriteNpz(test, test_part).ok());
    for (const auto& [score, about] : expected["scores"].items()) {
      if (!scores.contains(score)) continue;
      SCOPED_TRACE(absl::StrCat(name, ", ", score));
      const std::string spec = about["openset"];
      std::vector<std::string> words = {test, "--score=" + spec, "--metrics=auroc", "--sample_scores=" + out};
      if (!fit_part.empty()) words.push_back("--fit=" + fit);
      Command(words);
      const std::vector<double> of_command = *ToDouble((*ReadNpz(out))["unknown_score"]);
      const std::string scored = " score { score: '" + spec + "' }";
      const std::vector<double> of_library =
          fit_part.empty() ? Answer("set: 'case'" + scored, {&test_part}).scores()
                           : Answer("set: 'case' set: 'fit' fit: 1" + scored, {&test_part, &fit_part}).scores();
      EXPECT_EQ(of_command, of_library);
      const std::vector<double> wanted = scores[score];
      ASSERT_EQ(of_command.size(), wanted.size());
      for (size_t row = 0; row < wanted.size(); ++row) {
        EXPECT_NEAR(of_command[row], wanted[row], Tolerance(about, wanted[row])) << "row " << row;
      }
      std::remove(out.c_str());
    }
    // A setting that is ignored would give the same scores.
    for (const nlohmann::json& pair : expected["must_differ"]) {
      if (!scores.contains(pair[0].get<std::string>())) continue;
      EXPECT_NE(scores[pair[0].get<std::string>()], scores[pair[1].get<std::string>()]) << pair;
    }
  }
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  openset::program = argv[1];
  return RUN_ALL_TESTS();
}
