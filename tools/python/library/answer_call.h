// Answers a call of the library, in C++.
#ifndef OPENSET_TOOLS_PYTHON_LIBRARY_ANSWER_CALL_H_
#define OPENSET_TOOLS_PYTHON_LIBRARY_ANSWER_CALL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "eval/files/sample_arrays.h"
#include "tools/evaluation/request.pb.h"

namespace openset {

struct CallAnswer {
  std::string text;  // JSON, as the command writes it
  std::vector<double> unknown_score;
  std::vector<int64_t> prediction;
  std::vector<int64_t> rejected;   // 0 or 1
  std::vector<std::string> hints;  // as the command prints them, without "hint: "
};

// `arrays[i]` has the arrays of the set call.set(i). Errors: as the command that does the same, with the names of sets
// instead of files; kInvalidArgument also for a call without a kind, and for too few or too many sets.
absl::StatusOr<CallAnswer> AnswerCall(const Call& call, absl::Span<const std::vector<ArrayView>> arrays);

}  // namespace openset

#endif  // OPENSET_TOOLS_PYTHON_LIBRARY_ANSWER_CALL_H_
