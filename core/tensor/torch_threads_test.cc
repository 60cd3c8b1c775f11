#include "core/tensor/torch_threads.h"

#include <thread>

#include "core/tensor/torch_runtime.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(OneThreadScope, IsForItsThreadAndItsTime) {
  at::set_num_threads(3);
  {
    const OneThreadScope one;
    EXPECT_EQ(at::get_num_threads(), 1);
    std::thread([] { EXPECT_EQ(at::get_num_threads(), 3); }).join();
    {
      const OneThreadScope again;
      EXPECT_EQ(at::get_num_threads(), 1);
    }
    EXPECT_EQ(at::get_num_threads(), 1);
  }
  EXPECT_EQ(at::get_num_threads(), 3);
}

TEST(OneThreadScope, HoldsInAThreadThatHasNotUsedLibTorch) {
  at::set_num_threads(3);
  std::thread([] {
    const OneThreadScope one;
    EXPECT_EQ(at::get_num_threads(), 1);
  }).join();
}

}  // namespace
}  // namespace openset
