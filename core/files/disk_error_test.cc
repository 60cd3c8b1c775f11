#include "core/files/disk_error.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(IsDiskError, TellsAFullOrVanishedDiskByTheSystemsWords) {
  EXPECT_TRUE(IsDiskError(absl::UnavailableError("cannot write store/x: No space left on device")));
  EXPECT_TRUE(IsDiskError(absl::InternalError("cannot sync x: Disk quota exceeded; more")));
  EXPECT_TRUE(IsDiskError(absl::UnavailableError("cannot open x: Stale file handle")));
  EXPECT_FALSE(IsDiskError(absl::UnavailableError("cannot open x: Permission denied")));
  EXPECT_FALSE(IsDiskError(absl::AbortedError("the training diverged")));
  EXPECT_FALSE(IsDiskError(absl::OkStatus()));
}

}  // namespace
}  // namespace openset
