// Makes the system give no threads, to test that work goes on without them.
#ifndef OPENSET_CORE_TESTING_NO_THREADS_H_
#define OPENSET_CORE_TESTING_NO_THREADS_H_

#include <pthread.h>

#include <cstddef>

#include "gtest/gtest.h"

namespace openset {

// While an object of this class exists, the system starts no thread: no address space has room for its stack.
class NoThreads {
 public:
  NoThreads() {
    pthread_attr_t attributes;
    pthread_getattr_default_np(&attributes);
    pthread_attr_getstacksize(&attributes, &stack_);
    Set(size_t{1} << 50);
  }
  ~NoThreads() { Set(stack_); }

 private:
  static void Set(size_t stack) {
    pthread_attr_t attributes;
    pthread_getattr_default_np(&attributes);
    EXPECT_EQ(pthread_attr_setstacksize(&attributes, stack), 0);
    EXPECT_EQ(pthread_setattr_default_np(&attributes), 0);
    pthread_attr_destroy(&attributes);
  }

  size_t stack_ = 0;
};

}  // namespace openset

#endif  // OPENSET_CORE_TESTING_NO_THREADS_H_
