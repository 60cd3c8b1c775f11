#include "core/files/disk_error.h"

#include <cerrno>
#include <cstring>
#include <map>
#include <string>

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(ReadError, OnlyAMissingEntryIsNotFoundAndOnlyCircularLinksAreCorrupt) {
  const std::map<int, absl::StatusCode> codes = {
      {ENOENT, absl::StatusCode::kNotFound},          {ENOTDIR, absl::StatusCode::kNotFound},
      {EACCES, absl::StatusCode::kPermissionDenied},  {EPERM, absl::StatusCode::kPermissionDenied},
      {EMFILE, absl::StatusCode::kResourceExhausted}, {ENFILE, absl::StatusCode::kResourceExhausted},
      {ENOMEM, absl::StatusCode::kResourceExhausted}, {EAGAIN, absl::StatusCode::kResourceExhausted},
      {ELOOP, absl::StatusCode::kDataLoss},           {ENAMETOOLONG, absl::StatusCode::kInvalidArgument}};
  for (int error = 1; error < 134; ++error) {  // Linux has 133
    const auto code = codes.find(error);
    EXPECT_EQ(ReadError(error, "cannot open x"),
              absl::Status(code == codes.end() ? absl::StatusCode::kUnavailable : code->second,
                           std::string("cannot open x: ") + std::strerror(error)));
  }
}

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
