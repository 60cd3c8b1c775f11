#include "tools/cli/flags/kinds.h"

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

TEST(MethodNames, FilesWithoutFolderAndExtension) {
  EXPECT_THAT(MethodNames({"runs/softmax.npz", "energy.v2.csv"}), ElementsAre("softmax", "energy.v2"));
  EXPECT_THAT(MethodNames({"a/scores.npz", "b/scores.npz"}), ElementsAre("a/scores.npz", "b/scores.npz"));
  EXPECT_THAT(MethodNames({"a/known.npz,a/svhn.npz"}), ElementsAre("known+svhn"));
}

}  // namespace
}  // namespace openset
