// Random changes to small valid files, to test that a reader accepts or refuses any input.
//
//   TEST(MutationTest, Archives) {
//     ForEachMutation("archive", valid, {"PK\5\6"}, [](const std::string& bytes) { ... });
//   }
//   int main(int argc, char** argv) { return RunMutationTests(argc, argv); }
//
// The program then has the flags --rounds (changed files of each kind, default 1000), --first_seed, and --seconds (for
// each kind, instead of --rounds).
#ifndef OPENSET_CORE_TESTING_MUTATION_H_
#define OPENSET_CORE_TESTING_MUTATION_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/random.h"

namespace openset {

// `bytes` after one to six random changes: a byte or bit is changed, a range is removed or copied to another place, the
// end is cut off, or one of `tokens`, texts that readers of the format look for, is inserted or overwrites bytes. ""
// stays "".
std::string Mutated(std::string bytes, const std::vector<std::string>& tokens, RandomStream* random);

// Calls `check` in --rounds rounds, each with the stream (seed, `name`), until a test fails; the failure's trace
// contains the seed. If a round takes 10 s of CPU time (120 s under
// --config=tsan), the process names it and ends with exit code 1. Prints the
// number of rounds, the time of the slowest and, by the input sizes passed to NoteBytes(), the time per byte: if that
// grows with the size, a reader is not linear.
void ForEachRound(absl::string_view name, const std::function<void(RandomStream* random)>& check);

// Sets the size of this round's input, for the times that ForEachRound() prints.
void NoteBytes(size_t bytes);

// ForEachRound() with a changed version of `valid`; notes its size. Under --config=fuzz, inputs that reach new code are
// changed further. No seed reproduces such inputs, so the last one is in TEST_TMPDIR/mutated.
void ForEachMutation(absl::string_view name, const std::string& valid, const std::vector<std::string>& tokens,
                     const std::function<void(const std::string& bytes)>& check);

// Calls `read` once, as a round. For a large input that takes a second if the time of its reader is linear in the size,
// and minutes if it is quadratic. Works without RunMutationTests().
void ReadLarge(absl::string_view name, const std::function<void()>& read);

// Runs all tests. Also fails if the process has grown by more than 256 MiB (2 GiB under sanitizers, which keep freed
// memory), because sizes that a small file declares must not be allocated. For the same reason, the process ends
// at once if it needs more than 4 GiB of additional address space (RLIMIT_AS; not under sanitizers). Returns the exit
// code of main().
int RunMutationTests(int argc, char** argv);

}  // namespace openset

#endif  // OPENSET_CORE_TESTING_MUTATION_H_
