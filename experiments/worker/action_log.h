// The log of a training or an inference: everything that its worker writes to standard error while it runs. It is
// appended to `logs/KEY.log` in the store, one attempt after the other.
#ifndef OPENSET_EXPERIMENTS_WORKER_ACTION_LOG_H_
#define OPENSET_EXPERIMENTS_WORKER_ACTION_LOG_H_

#include <string>

#include "experiments/worker/worker.proto.h"

namespace openset {

// Returns the path of the action's log; "" for actions without their own log.
std::string ActionLogPath(const WorkRequest& request);

// While an object of this class exists, appends this process's standard error to a file; a file that is still empty at
// the end is removed. If the file can't be written or the path is "", standard error is unchanged.
class ActionLog {
 public:
  explicit ActionLog(const std::string& path);
  ~ActionLog();
  ActionLog(const ActionLog&) = delete;
  ActionLog& operator=(const ActionLog&) = delete;

 private:
  const std::string path_;
  int before_ = -1;  // the original standard error; -1 if it was not redirected
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_ACTION_LOG_H_
