// Which failures are worth another attempt.
#ifndef OPENSET_EXPERIMENTS_ENGINE_RETRY_H_
#define OPENSET_EXPERIMENTS_ENGINE_RETRY_H_

#include <algorithm>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace openset {

struct RetryPolicy {
  // Attempts after the first one.
  int retries = 2;
  // Before the first of them; each later wait is four times as long, up to an hour.
  absl::Duration first_wait = absl::Seconds(1);
};

// What may pass: kUnavailable (a worker that died, was killed or could not be reached, a GPU that failed),
// kDeadlineExceeded (it hung), kResourceExhausted (memory, of a GPU that others use as well). All else would come
// again: a diverged training (kAborted), data that are damaged, what is invalid, an exception of LibTorch (kInternal).
inline bool MayPass(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) || absl::IsResourceExhausted(status);
}

// Before the attempt after `failed` ones, which is at least 1.
inline absl::Duration WaitBeforeRetry(const RetryPolicy& policy, int failed) {
  absl::Duration wait = policy.first_wait;
  for (int n = 1; n < failed && wait < absl::Hours(1); ++n) wait *= 4;
  return std::min(wait, absl::Hours(1));
}

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_RETRY_H_
