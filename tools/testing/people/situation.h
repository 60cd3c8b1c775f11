// Situations from public bug reports of this field, and what the program must answer to each. A test of an area lists
// its situations and instantiates PeopleTest with them.
#ifndef OPENSET_TOOLS_TESTING_PEOPLE_SITUATION_H_
#define OPENSET_TOOLS_TESTING_PEOPLE_SITUATION_H_

#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {

struct Situation {
  std::string name;    // of the test: letters and digits
  std::string source;  // where people met it, as repository#number
  std::function<void(const OpensetProgram&)> make;
  std::vector<std::string> command;
  int exit_code = 0;
  std::vector<std::string> says;   // each of these is in standard output or standard error
  std::vector<std::string> never;  // none of these is
};

// Rows of a table of situations: the program answers with exit code 0, or refuses with 2.
inline Situation Answers(std::string name, std::string source, std::function<void(const OpensetProgram&)> make,
                         std::vector<std::string> command, std::vector<std::string> says,
                         std::vector<std::string> never = {}) {
  return {std::move(name), std::move(source), std::move(make), std::move(command), 0,
          std::move(says), std::move(never)};
}
inline Situation Refuses(std::string name, std::string source, std::function<void(const OpensetProgram&)> make,
                         std::vector<std::string> command, std::vector<std::string> says,
                         std::vector<std::string> never = {}) {
  return {std::move(name), std::move(source), std::move(make), std::move(command), 2,
          std::move(says), std::move(never)};
}

inline void PrintTo(const Situation& situation, std::ostream* out) { *out << situation.source; }

class PeopleTest : public ::testing::TestWithParam<Situation> {};

TEST_P(PeopleTest, Answers) {
  const Situation& situation = GetParam();
  const OpensetProgram program(situation.name);
  situation.make(program);
  const ProgramResult result = program.Run(situation.command);
  SCOPED_TRACE(absl::StrCat(situation.source, ": openset ", absl::StrJoin(situation.command, " ")));
  EXPECT_EQ(result.exit_code, situation.exit_code) << result.out << result.err;
  const std::string all = absl::StrCat(result.out, result.err);
  for (const std::string& text : situation.says) EXPECT_THAT(all, ::testing::HasSubstr(text));
  for (const std::string& text : situation.never) EXPECT_THAT(all, ::testing::Not(::testing::HasSubstr(text)));
}

inline std::string NameOfSituation(const ::testing::TestParamInfo<Situation>& info) { return info.param.name; }

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_PEOPLE_SITUATION_H_
