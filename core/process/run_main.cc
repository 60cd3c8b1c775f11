#include "core/process/run_main.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>

namespace openset {
namespace {

constexpr int kFailed = 1;

const char* program = "";

// Describes the exception that is being handled, without allocating memory.
void SayWhatWasThrown() {
  char line[1000];
  const auto say = [&line](const char* what, const char* detail) {
    const int length = std::snprintf(line, sizeof(line) - 1, "%s: %s%s", program, what, detail);
    char* end = line + std::min<size_t>(std::max(length, 0), sizeof(line) - 2);
    std::replace_if(
        line, end, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    *end++ = '\n';
    (void)!write(STDERR_FILENO, line, end - line);
  };
  try {
    throw;
  } catch (const std::bad_alloc&) {
    say("out of memory", "");
  } catch (const std::length_error&) {  // for a string or list that is larger than any memory
    say("out of memory", "");
  } catch (const std::exception& error) {
    say("internal error: ", error.what());
  } catch (...) {
    say("internal error", "");
  }
}

// For other threads, and for exceptions thrown from noexcept code.
[[noreturn]] void EndProcess() {
  if (std::current_exception() != nullptr) {
    SayWhatWasThrown();
  } else {
    constexpr char kLine[] = ": internal error: terminated\n";
    (void)!write(STDERR_FILENO, program, std::strlen(program));
    (void)!write(STDERR_FILENO, kLine, sizeof(kLine) - 1);
  }
  _exit(kFailed);
}

}  // namespace

int RunMain(const char* name, const std::function<int()>& run) {
  program = name;
  std::set_terminate(&EndProcess);
  try {
    return run();
  } catch (...) {
    SayWhatWasThrown();
    return kFailed;
  }
}

}  // namespace openset
