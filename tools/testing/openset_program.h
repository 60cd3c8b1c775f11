// Runs the `openset` command in tests.
#ifndef OPENSET_TOOLS_TESTING_OPENSET_PROGRAM_H_
#define OPENSET_TOOLS_TESTING_OPENSET_PROGRAM_H_

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "experiments/store/record.proto.h"
#include "gmock/gmock.h"

namespace openset {

struct ProgramResult {
  int exit_code = -1;
  std::string out;
  std::string err;
  std::string command;

  std::string printed() const { return absl::StrCat(out, err); }
};

// [method][metric]
using MeanValues = std::map<std::string, std::map<std::string, double>>;

inline std::ostream& operator<<(std::ostream& stream, const ProgramResult& result) {
  return stream << result.command << " with exit code " << result.exit_code << "\n" << result.printed();
}

// EXPECT_THAT(program.Run({"plan", "nowhere"}), FailsWith(2, HasSubstr("nowhere"))): `error` matches standard error.
MATCHER_P2(FailsWith, exit_code, error, absl::StrCat(negation ? "doesn't fail" : "fails", " with ", exit_code)) {
  return arg.exit_code == exit_code && ::testing::ExplainMatchResult(error, arg.err, result_listener);
}

// A study of two trials that takes about a second.
inline constexpr char kSmallStudy[] = R"(
name: "study"
task: "fashion_mnist_6_4"
method: ["softmax", "mcp"]
split: 0
seed: 0
override {
  model { osrci_cnn {} head { linear { bias: true } } }
  input { size: 16 channels: 1 mean: 0.286 std: 0.353 }
  training { epochs: 1 batch_size: 64 optimizer { learning_rate: 0.02 sgd {} } schedule { constant {} } }
}
train_limit_per_class: 20
test_limit_per_class: 10
metric { accuracy {} }
metric { auroc {} }
)";

// A study without its seeds. A trial takes a second or some on one core.
inline constexpr char kShortStudy[] = R"(
name: "study" task: "fashion_mnist_6_4" method: "softmax" split: 0
override {
  model { osrci_cnn {} head { linear { bias: true } } }
  input { size: 28 channels: 1 mean: 0.286 std: 0.353 }
  training {
    epochs: 4 batch_size: 100
    optimizer { learning_rate: 0.02 sgd { nesterov: true } }
    schedule { constant {} }
  }
}
train_limit_per_class: 200 test_limit_per_class: 50
metric { accuracy {} } metric { auroc {} }
)";

// The program, run in a folder of this test that has its specs and its store. The folder is a library, in addition to
// the one that comes with the program.
class OpensetProgram {
 public:
  // `name` distinguishes several objects of one test.
  explicit OpensetProgram(const std::string& name = "");

  const std::string& folder() const { return folder_; }
  // Of the program itself.
  std::string path() const;
  std::string store() const { return folder_ + "/openset-store"; }

  // Writes a file below the folder.
  void Write(const std::string& path, const std::string& content) const;
  std::string Read(const std::string& path) const;
  // Returns the content of a file that comes with the program: "data/catalog/mnist.textproto".
  std::string Shipped(const std::string& path) const;

  // Generates a data set of coloured images in the folder's `data`, and the task "fashion_and_gradients":
  // fashion_mnist_6_4 with these as external images instead of CIFAR-10, which no test may rely on. For `run ...
  // --data=data`.
  void GenerateExternalImages() const;

  // The means of the last report on this study, over the pool of all unknown samples. Those without a run are left out.
  MeanValues Means(const std::string& study) const;

  // Runs `openset ARGUMENTS` in the folder.
  ProgramResult Run(const std::vector<std::string>& arguments) const;
  // As Run(). If the exit code is not 0, the test fails and shows the program's output.
  ProgramResult MustRun(const std::vector<std::string>& arguments) const;

  // Starts it in its own process group, with its output in the folder's out.txt and err.txt. Returns its pid.
  pid_t Start(const std::vector<std::string>& arguments) const;
  // The same on its own terminal, of which `terminal` is the other side: closing it closes the terminal. `columns`: the
  // terminal's width; 0: unknown to the program.
  pid_t StartOnTerminal(const std::vector<std::string>& arguments, int* terminal, int columns = 0) const;

  // Runs it on a terminal of this width, on which `typed` is typed. `out` is everything that the terminal receives.
  ProgramResult RunOnTerminal(const std::vector<std::string>& arguments, int columns,
                              const std::string& typed = "") const;

  // Starts it repeatedly and sends it `signal` at times drawn from the seed, until one attempt ends by itself; that one
  // must succeed. Workers end with it. The times grow, so that this ends on a slow machine too. Returns the number of
  // signals.
  int RunWithKills(const std::vector<std::string>& arguments, uint64_t seed, int signal = SIGKILL) const;

  // The records in the store by trial id, without their provenance, which differs between runs. A corrupt record fails
  // the test.
  std::map<std::string, std::string> Records() const;
  // Any one of them.
  TrialRecord AnyRecord() const;

 private:
  std::map<std::string, TrialRecord> LoadRecords() const;
  [[noreturn]] void Execute(const std::vector<std::string>& arguments) const;

  std::string folder_;
};

// The child processes of a running process, from /proc.
std::vector<pid_t> ChildrenOf(pid_t parent);

// Flips a bit in the middle of a file.
void FlipBit(const std::string& path);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_OPENSET_PROGRAM_H_
