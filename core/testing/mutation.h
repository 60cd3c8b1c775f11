// Random changes of small valid files, for tests that a reader takes or refuses whatever it is given.
//
//   TEST(MutationTest, Archives) {
//     ForEachMutation("archive", valid, {"PK\5\6"}, [](const std::string& bytes) { ... });
//   }
//   int main(int argc, char** argv) { return RunMutationTests(argc, argv); }
//
// The flags --rounds (changed files of each kind, 1000), --first_seed and --seconds (of each kind, in place of
// --rounds) are then the program's.
#ifndef OPENSET_CORE_TESTING_MUTATION_H_
#define OPENSET_CORE_TESTING_MUTATION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/random.h"

namespace openset {

// One to six times: a byte or a bit changed, a range removed, doubled or moved, the end cut off, or one of `tokens`,
// texts that the format's readers look for, put in or over. "" stays "".
std::string Mutated(std::string bytes, const std::vector<std::string>& tokens, RandomStream* random);

// Calls `check` in --rounds rounds, with the stream (seed, `name`) of each, until a test has failed; the failure's
// trace has the seed. A round that takes 10 s of the CPU hangs: the process ends with exit code 1 and says which it
// was. Prints how many rounds there were, how long the slowest took, and, by the sizes that `check` told NoteBytes(),
// the time per byte: where that grows with the size, a reader is not linear.
void ForEachRound(absl::string_view name, const std::function<void(RandomStream* random)>& check);

// The size of this round's input, for what ForEachRound() prints.
void NoteBytes(size_t bytes);

// ForEachRound() with a changed version of `valid`, whose size is noted. Under --config=fuzz what reaches code that
// nothing before it has reached is changed further, so that inputs get deeper in; the last one is in
// TEST_TMPDIR/mutated, as no seed gives it again.
void ForEachMutation(absl::string_view name, const std::string& valid, const std::vector<std::string>& tokens,
                     const std::function<void(const std::string& bytes)>& check);

// Calls `read` once, as a round: for a large input, whose reader would take minutes if its time grew with the square of
// the size, and takes a second as it grows with the size. Needs no main of its own.
void ReadLarge(absl::string_view name, const std::function<void()>& read);

// Runs all tests; fails too if the process has grown by more than 256 MiB (2 GiB under --config=asan, which keeps what
// was freed), and ends at once where it asks for more than 4 GiB of address space beyond what it has (RLIMIT_AS; not
// under sanitizers): what a file of some hundred bytes declares must not be allocated. Returns main's exit code.
int RunMutationTests(int argc, char** argv);

}  // namespace openset

#endif  // OPENSET_CORE_TESTING_MUTATION_H_
