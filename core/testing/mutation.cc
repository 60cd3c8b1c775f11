#include "core/testing/mutation.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

ABSL_FLAG(int, rounds, 1000, "Changed files of each format.");
ABSL_FLAG(uint64_t, first_seed, 0, "Seed of the first.");
ABSL_FLAG(double, seconds, 0, "Above 0: how long each format is tried, in place of --rounds.");

namespace {

// The code positions that were reached, by a hash of their addresses.
constexpr size_t kPlaces = 1 << 16;
uint8_t reached[kPlaces];
int64_t num_reached = 0;  // 0: the code is compiled without --config=fuzz

}  // namespace

// With --config=fuzz, the compiler calls it at each branch target.
extern "C" __attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc() {
  const auto address = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  uint8_t& place = reached[(address * 0x9e3779b97f4a7c15) >> 48];
  if (place != 0) return;
  place = 1;
  ++num_reached;
}

namespace openset {
namespace {

int64_t MebibytesUsed() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

// The most memory of a round. A larger allocation, which a file of a few hundred bytes may declare, ends the program.
// (Sanitizers reserve terabytes for themselves.)
void LimitAddressSpace() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  constexpr rlim_t kMoreBytes = rlim_t{4} << 30;
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  if (!(statm >> pages)) return;
  rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = std::min(limit.rlim_max, pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + kMoreBytes);
  setrlimit(RLIMIT_AS, &limit);
#endif
}

// CPU time of one round, which takes milliseconds; with a large input under a sanitizer, seconds.
#ifdef __SANITIZE_THREAD__
constexpr int kMostSeconds = 120;
#else
constexpr int kMostSeconds = 10;
#endif

char round_name[256];  // for the handler, which may not allocate

void EndHangingRound(int /*signal*/) {
  constexpr char kMessage[] = "\ntook too long and was ended (SIGPROF): ";
  (void)!write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  (void)!write(STDERR_FILENO, round_name, std::find(round_name, std::end(round_name), '\0') - round_name);
  (void)!write(STDERR_FILENO, "\n", 1);
  _exit(1);
}

// While it exists, ends the process if a round hangs.
class HangGuard {
 public:
  HangGuard() {
    signal(SIGPROF, &EndHangingRound);
    StartRound("", 0);
  }
  ~HangGuard() { SetSeconds(0); }
  HangGuard(const HangGuard&) = delete;
  HangGuard& operator=(const HangGuard&) = delete;

  void StartRound(absl::string_view name, uint64_t seed) {
    std::snprintf(round_name, sizeof(round_name), "%.*s, seed %llu", static_cast<int>(name.size()), name.data(),
                  static_cast<unsigned long long>(seed));
    SetSeconds(kMostSeconds);
  }

 private:
  static void SetSeconds(int seconds) {
    itimerval timer = {};
    timer.it_value.tv_sec = seconds;
    setitimer(ITIMER_PROF, &timer, nullptr);
  }
};

size_t noted_bytes = 0;  // of the round's input; 0 if unknown

// Rounds with inputs of some size.
struct Timed {
  int64_t rounds = 0;
  int64_t bytes = 0;
  double seconds = 0;
};

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Times of rounds, by the number of digits of their inputs' sizes.
class RoundTimes {
 public:
  void Add(uint64_t seed, double seconds) {
    Timed& timed = by_digits_[noted_bytes == 0 ? 0 : absl::StrCat(noted_bytes).size()];
    ++timed.rounds;
    timed.bytes += static_cast<int64_t>(noted_bytes);
    timed.seconds += seconds;
    if (seconds > slowest_) slowest_ = seconds, slowest_seed_ = seed;
  }

  void Print(absl::string_view name) const {
    Timed all;
    std::string lines;
    for (const auto& [digits, timed] : by_digits_) {
      all.rounds += timed.rounds;
      all.seconds += timed.seconds;
      if (digits == 0) continue;
      absl::StrAppend(
          &lines,
          absl::StrFormat("  %d inputs of %d digits of bytes: %.4f us of the CPU a byte, %.2f ms each\n", timed.rounds,
                          digits, timed.seconds * 1e6 / timed.bytes, timed.seconds * 1e3 / timed.rounds));
    }
    if (all.rounds == 0) return;
    std::printf("%.*s: %lld rounds, %.2f ms of the CPU each, the slowest %.1f ms (seed %llu)\n%s",
                static_cast<int>(name.size()), name.data(), static_cast<long long>(all.rounds),
                all.seconds * 1e3 / all.rounds, slowest_ * 1e3, static_cast<unsigned long long>(slowest_seed_),
                lines.c_str());
    std::fflush(stdout);
  }

 private:
  std::map<size_t, Timed> by_digits_;
  double slowest_ = -1;
  uint64_t slowest_seed_ = 0;
};

}  // namespace

void NoteBytes(size_t bytes) { noted_bytes = bytes; }

std::string Mutated(std::string bytes, const std::vector<std::string>& tokens, RandomStream* random) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random->Below(static_cast<int64_t>(n))); };
  for (size_t changes = 1 + below(6); changes > 0 && !bytes.empty(); --changes) {
    const size_t at = below(bytes.size());
    const size_t length = std::min(1 + below(16), bytes.size() - at);
    switch (below(tokens.empty() ? 5 : 7)) {
      case 0:
        bytes[at] = static_cast<char>(below(256));
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(below(bytes.size()), bytes.substr(at, length));
        break;
      case 4:
        bytes.resize(at);
        break;
      case 5:
        bytes.insert(at, tokens[below(tokens.size())]);
        break;
      default: {
        const std::string& token = tokens[below(tokens.size())];
        bytes.replace(at, token.size(), token);
      }
    }
  }
  return bytes;
}

void ForEachRound(absl::string_view name, const std::function<void(RandomStream* random)>& check) {
  const uint64_t first = absl::GetFlag(FLAGS_first_seed);
  const double seconds = absl::GetFlag(FLAGS_seconds);
  const std::time_t start = std::time(nullptr);
  const auto is_over = [&](uint64_t rounds) {
    return seconds > 0 ? std::difftime(std::time(nullptr), start) >= seconds
                       : rounds >= static_cast<uint64_t>(absl::GetFlag(FLAGS_rounds));
  };
  HangGuard guard;
  RoundTimes times;
  for (uint64_t seed = first; !is_over(seed - first) && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    guard.StartRound(name, seed);
    RandomStream random(seed, name);
    noted_bytes = 0;
    const double before = CpuSeconds();
    check(&random);
    times.Add(seed, CpuSeconds() - before);
  }
  times.Print(name);
}

void ForEachMutation(absl::string_view name, const std::string& valid, const std::vector<std::string>& tokens,
                     const std::function<void(const std::string& bytes)>& check) {
  constexpr size_t kMostKept = 10000;
  std::vector<std::string> kept = {valid};  // and inputs that reached new code
  const std::string path = ::testing::TempDir() + "/mutated";
  ForEachRound(name, [&](RandomStream* random) {
    const bool guided = num_reached > 0;
    const std::string changed = Mutated(guided ? kept[random->Below(kept.size())] : valid, tokens, random);
    // No seed alone reproduces this input; after a crash, it is in this file.
    if (guided) std::ofstream(path, std::ios::binary) << changed;
    const int64_t before = num_reached;
    NoteBytes(changed.size());
    check(changed);
    if (guided && num_reached > before && kept.size() < kMostKept) kept.push_back(changed);
  });
  if (num_reached == 0) return;
  std::printf("%.*s: %lld places of the code reached, %d inputs kept; the last is %s\n", static_cast<int>(name.size()),
              name.data(), static_cast<long long>(num_reached), static_cast<int>(kept.size()), path.c_str());
}

void ReadLarge(absl::string_view name, const std::function<void()>& read) {
  HangGuard guard;
  guard.StartRound(name, 0);
  read();
}

int RunMutationTests(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  absl::ParseCommandLine(argc, argv);
  LimitAddressSpace();
  const int64_t before = MebibytesUsed();
  const int result = RUN_ALL_TESTS();
  const int64_t grown = MebibytesUsed() - before;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int64_t kMost = 2048;
#else
  constexpr int64_t kMost = 256;
#endif
  if (grown <= kMost) return result;
  std::fprintf(stderr, "memory grew by %d MiB\n", static_cast<int>(grown));
  return 1;
}

}  // namespace openset
