#include "core/files/md5.h"

#include <utility>

#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

// RFC 1321, appendix A.5.
TEST(Md5, AsTheStandardHasIt) {
  const std::string path = JoinPath(::testing::TempDir(), "md5");
  for (const auto& [content, sum] : {std::pair{"", "d41d8cd98f00b204e9800998ecf8427e"},
                                     {"abc", "900150983cd24fb0d6963f7d28e17f72"},
                                     {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"}}) {
    ASSERT_THAT(WriteFileAtomically(path, content), IsOk());
    EXPECT_EQ(Md5HexOfFile(path).value(), sum);
  }
  EXPECT_THAT(Md5HexOfFile(path + ".absent"),
              StatusIs(absl::StatusCode::kNotFound, ::testing::HasSubstr("md5.absent")));
}

}  // namespace
}  // namespace openset
