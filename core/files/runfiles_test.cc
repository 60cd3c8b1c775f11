#include "core/files/runfiles.h"

#include <cstdlib>

#include "core/files/files.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(RunfilesFolder, HoldsTheDataOfThisTest) {
  ASSERT_TRUE(RunfilesFolder().ok()) << RunfilesFolder().status();
  EXPECT_TRUE(FileExists(*RunfilesFolder() + "/openset/core/files/formats/testdata/scores.npz"));
}

TEST(RunfilesFolder, IsFoundFromTheProgramAlone) {
  unsetenv("TEST_SRCDIR");
  unsetenv("RUNFILES_DIR");
  EXPECT_TRUE(FileExists(ProgramPath()));
  ASSERT_TRUE(RunfilesFolder().ok()) << RunfilesFolder().status();
  EXPECT_TRUE(FileExists(*RunfilesFolder() + "/openset/core/files/formats/testdata/scores.npz"));
}

}  // namespace
}  // namespace openset
