#include "core/process/run_main.h"

#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

using ::testing::ExitedWithCode;

// The process's end where its main is `run`.
void End(const std::function<int()>& run) { std::exit(RunMain("openset", run)); }

TEST(RunMainDeathTest, ReturnsTheExitCode) {
  EXPECT_EXIT(End([] { return 7; }), ExitedWithCode(7), "^$");
}

TEST(RunMainDeathTest, ExceptionsAreOneLine) {
  EXPECT_EXIT(End([]() -> int { throw std::bad_alloc(); }), ExitedWithCode(1),
              MatchesRegex("openset: out of memory\n"));
#ifndef __SANITIZE_THREAD__  // whose operator new ends the process in place of throwing
  EXPECT_EXIT(End([]() -> int { return static_cast<int>(std::string(SIZE_MAX / 4, 'x').size()); }), ExitedWithCode(1),
              MatchesRegex("openset: out of memory\n"));
#endif
  EXPECT_EXIT(End([]() -> int { throw std::runtime_error("two\nlines"); }), ExitedWithCode(1),
              MatchesRegex("openset: internal error: two lines\n"));
  EXPECT_EXIT(End([]() -> int { throw std::runtime_error(std::string(5000, 'x')); }), ExitedWithCode(1),
              MatchesRegex("openset: internal error: x+\n"));
  EXPECT_EXIT(End([]() -> int { throw 1; }), ExitedWithCode(1), MatchesRegex("openset: internal error\n"));
}

TEST(RunMainDeathTest, InOtherThreadsToo) {
  EXPECT_EXIT(End([] {
                std::thread([] { throw std::bad_alloc(); }).join();
                return 0;
              }),
              ExitedWithCode(1), MatchesRegex("openset: out of memory\n"));
  EXPECT_EXIT(End([]() -> int { std::terminate(); }), ExitedWithCode(1),
              MatchesRegex("openset: internal error: terminated\n"));
}

}  // namespace
}  // namespace openset
