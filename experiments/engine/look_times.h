// When a process looks at what the other processes of its store do.
#ifndef OPENSET_EXPERIMENTS_ENGINE_LOOK_TIMES_H_
#define OPENSET_EXPERIMENTS_ENGINE_LOOK_TIMES_H_

#include <algorithm>
#include <optional>

#include "absl/time/time.h"

namespace openset {

// The times of looks, and of signs of life. The first of each is due at once. All times are those of one steady clock.
class LookTimes {
 public:
  // Returns whether a sign of life is due, one each `every`. If so, counts it as given.
  bool TakeSign(absl::Duration now, absl::Duration every) {
    if (signed_.has_value() && now - *signed_ < every) return false;
    signed_ = now;
    return true;
  }

  // Whether a look is due: one each `every`, or less often, so that looks take at most 1/20 of the time.
  bool IsLookDue(absl::Duration now, absl::Duration every) const {
    return !began_.has_value() || now - *began_ >= std::max(every, 20 * took_);
  }
  void Looked(absl::Duration began, absl::Duration ended) {
    began_ = began;
    took_ = ended - began;
  }

 private:
  std::optional<absl::Duration> signed_, began_;
  absl::Duration took_;
};

// How long a process waits for more work before it ends.
class Patience {
 public:
  // Absent: forever.
  explicit Patience(std::optional<absl::Duration> length) : length_(length) {}

  bool is_endless() const { return !length_.has_value(); }
  // Call it again and again. Returns whether the process has had no work for this long; the time before the first call
  // does not count.
  bool IsOver(absl::Duration now, bool has_work) {
    if (has_work || !busy_at_.has_value()) busy_at_ = now;
    return length_.has_value() && now - *busy_at_ >= *length_;
  }

 private:
  const std::optional<absl::Duration> length_;
  std::optional<absl::Duration> busy_at_;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_LOOK_TIMES_H_
