#include "tools/testing/eval/eval_fixture.h"

#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/random.h"

namespace openset {

NpyArray Reals(const std::vector<double>& values) { return MakeNpy(values, {static_cast<int64_t>(values.size())}); }
NpyArray Wholes(const std::vector<int64_t>& values) { return MakeNpy(values, {static_cast<int64_t>(values.size())}); }

const char kScores[] =
    "label,prediction,unknown_score\n"
    "0,0,0.1\n1,1,0.2\n1,1,0.4\n0,1,0.6\n-1,0,0.3\n-1,1,0.5\n";

void EvalTest::WriteArrays(const std::string& name, const NpzArrays& arrays) const {
  ASSERT_TRUE(WriteNpz(JoinPath(program_.folder(), name), arrays).ok());
}

void EvalTest::WriteLogits(const std::string& name, double strength, int64_t known, int64_t unknown,
                           uint64_t seed) const {
  RandomStream random(seed, "logits");
  std::vector<float> logits;
  std::vector<int64_t> label;
  for (int64_t i = 0; i < known + unknown; ++i) {
    label.push_back(i < known ? i % 3 : -1);
    for (int c = 0; c < 3; ++c) {
      logits.push_back(static_cast<float>(random.Normal() + (c == label.back() ? strength : 0)));
    }
  }
  WriteArrays(name, {{"label", Wholes(label)}, {"logits", MakeNpy(logits, {known + unknown, 3})}});
}

std::string EvalTest::Out(const std::vector<std::string>& arguments) const {
  const ProgramResult result = program_.Run(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.out;
}

std::string EvalTest::Error(const std::vector<std::string>& arguments) const {
  const ProgramResult result = program_.Run(arguments);
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_EQ(result.out, "");
  const std::vector<std::string> lines = absl::StrSplit(result.err, '\n', absl::SkipEmpty());
  EXPECT_EQ(lines.size(), 1) << result.err;
  return result.err;
}

}  // namespace openset
