// Running the `openset` command in tests.
#ifndef OPENSET_TOOLS_TESTING_OPENSET_PROGRAM_H_
#define OPENSET_TOOLS_TESTING_OPENSET_PROGRAM_H_

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "experiments/store/record.proto.h"

namespace openset {

struct ProgramResult {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// A test's own folder, with its specs and a store, and the program in it. As the folder of the specs, it is a library
// in addition to the one that comes with the program.
class OpensetProgram {
 public:
  // `name` tells several of one test apart.
  explicit OpensetProgram(const std::string& name = "");

  const std::string& folder() const { return folder_; }
  std::string store() const { return folder_ + "/openset-store"; }

  // Writes a file below the folder.
  void Write(const std::string& path, const std::string& content) const;
  std::string Read(const std::string& path) const;
  // A file that comes with the program: "data/catalog/mnist.textproto".
  std::string Shipped(const std::string& path) const;

  // Generates a data set of coloured images in the folder's `data`, and the task "fashion_and_gradients": it is
  // fashion_mnist_6_4 with these for external images, in place of CIFAR-10, which no test may take for granted. For
  // `run ... --data=data`.
  void GenerateExternalImages() const;

  // openset ARGUMENTS, in the folder.
  ProgramResult Run(const std::vector<std::string>& arguments) const;

  // Starts it in a process group of its own, its output in the folder's out.txt and err.txt; returns its pid.
  pid_t Start(const std::vector<std::string>& arguments) const;
  // The same on a terminal of its own, of which `terminal` is the other side: closing it closes the terminal.
  // `columns`: its width; 0: it does not say.
  pid_t StartOnTerminal(const std::vector<std::string>& arguments, int* terminal, int columns = 0) const;

  // On a terminal of so many columns: all that it shows there, as the terminal gets it, is `out`.
  ProgramResult RunOnTerminal(const std::vector<std::string>& arguments, int columns) const;

  // Starts it again and again, `signal` to it at times drawn from the seed, until one attempt ends by itself; that must
  // succeed. Workers end with it. The times grow, so that it ends on a slow machine too. Returns the number of signals.
  int RunWithKills(const std::vector<std::string>& arguments, uint64_t seed, int signal = SIGKILL) const;

  // Records in the store by trial id, without their provenance (which tells runs apart). A damaged one fails the test.
  std::map<std::string, std::string> Records() const;
  // Any one of them.
  TrialRecord AnyRecord() const;

 private:
  std::map<std::string, TrialRecord> LoadRecords() const;
  [[noreturn]] void Execute(const std::vector<std::string>& arguments) const;

  std::string folder_;
};

// The processes that a running one has started, from /proc.
std::vector<pid_t> ChildrenOf(pid_t parent);

// Flips a bit in the middle of a file.
void FlipBit(const std::string& path);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_OPENSET_PROGRAM_H_
