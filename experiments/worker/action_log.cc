#include "experiments/worker/action_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/system_calls.h"
#include "experiments/spec/action.proto.h"
#include "experiments/store/store.h"

namespace openset {

std::string ActionLogPath(const WorkRequest& request) {
  if (!request.action().has_train() && !request.action().has_infer()) return "";
  return Store(request.store()).LogPath(request.key());
}

ActionLog::ActionLog(const std::string& path) : path_(path) {
  if (path.empty()) return;
  // O_NONBLOCK: doesn't wait for a reader if the file is a pipe.
  const int file = OpenFile(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (file < 0) return;
  before_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (before_ >= 0) dup2(file, STDERR_FILENO);
  close(file);
}

ActionLog::~ActionLog() {
  if (before_ < 0) return;
  struct stat log = {};
  const bool is_empty = fstat(STDERR_FILENO, &log) == 0 && log.st_size == 0;
  dup2(before_, STDERR_FILENO);
  close(before_);
  if (is_empty) Calls().Unlink(path_);
}

}  // namespace openset
