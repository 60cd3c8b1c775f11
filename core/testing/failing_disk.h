// A disk that can't be read for a while, within a test. For other programs see failing_disk.cc.
#ifndef OPENSET_CORE_TESTING_FAILING_DISK_H_
#define OPENSET_CORE_TESTING_FAILING_DISK_H_

#include <string>

namespace openset {

// While it exists, calls of this process fail with `error` ("EIO") whose path contains `path`. `calls` is a list of
// open, read, list and stat; "" stands for all of them. The first `at` of these calls succeed, and then `times` fail,
// or all if that is -1. For tests with one thread, and one such object at a time.
class FailingDisk {
 public:
  FailingDisk(const std::string& path, const std::string& error, const std::string& calls = "", int at = 0,
              int times = -1);
  ~FailingDisk();
  FailingDisk(const FailingDisk&) = delete;
  FailingDisk& operator=(const FailingDisk&) = delete;

  // How many of these calls there were, failed or not.
  int calls() const;
};

}  // namespace openset

#endif  // OPENSET_CORE_TESTING_FAILING_DISK_H_
