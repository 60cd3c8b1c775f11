// Shared by the tests of the commands that measure scores from files.
#ifndef OPENSET_TOOLS_TESTING_EVAL_EVAL_FIXTURE_H_
#define OPENSET_TOOLS_TESTING_EVAL_EVAL_FIXTURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/files/formats/npz.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {

NpyArray Reals(const std::vector<double>& values);    // [N]
NpyArray Wholes(const std::vector<int64_t>& values);  // [N]

// Four known samples, the last one misclassified, and two unknown ones. In the order of scores: known, known, unknown,
// known, unknown, known (misclassified).
extern const char kScores[];

class EvalTest : public ::testing::Test {
 protected:
  void WriteArrays(const std::string& name, const NpzArrays& arrays) const;

  // Writes the outputs of a simulated model of 3 classes; the logit of a known sample's class is raised by `strength`.
  void WriteLogits(const std::string& name, double strength, int64_t known = 60, int64_t unknown = 40,
                   uint64_t seed = 1) const;

  // Returns the standard output of a command that must exit with 0.
  std::string Out(const std::vector<std::string>& arguments) const;

  // Returns the only line on standard error of a command that must exit with 2.
  std::string Error(const std::vector<std::string>& arguments) const;

  const OpensetProgram program_;
};

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_EVAL_EVAL_FIXTURE_H_
