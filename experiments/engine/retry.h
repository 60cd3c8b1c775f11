// Which failures are retried, and when.
#ifndef OPENSET_EXPERIMENTS_ENGINE_RETRY_H_
#define OPENSET_EXPERIMENTS_ENGINE_RETRY_H_

#include <algorithm>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace openset {

struct RetryPolicy {
  // Attempts after the first one.
  int retries = 2;
  // The wait before the first retry; each later wait is four times as long, up to an hour.
  absl::Duration first_wait = absl::Seconds(1);
};

// Whether a failure may be temporary: kUnavailable (a worker died, was killed or could not be reached, or a GPU
// failed), kDeadlineExceeded (it hung), kResourceExhausted (memory, for example of a GPU that others also use). All
// other failures would recur: a diverged training (kAborted), corrupt data, invalid values, an exception of LibTorch
// (kInternal).
inline bool MayPass(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) || absl::IsResourceExhausted(status);
}

// Returns the wait before the next attempt after `failed` failed ones. Precondition: failed >= 1.
inline absl::Duration WaitBeforeRetry(const RetryPolicy& policy, int failed) {
  absl::Duration wait = policy.first_wait;
  for (int n = 1; n < failed && wait < absl::Hours(1); ++n) wait *= 4;
  return std::min(wait, absl::Hours(1));
}

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_RETRY_H_
