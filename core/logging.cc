#include "core/logging.h"

namespace openset {

void InitLogging(const char* program) {
  FLAGS_logtostderr = true;
  google::InitGoogleLogging(program);
  google::InstallFailureSignalHandler();
}

}  // namespace openset
