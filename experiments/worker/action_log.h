// The log of a training or an inference: what its worker writes to standard error meanwhile, attempts one behind the
// other, in `logs/KEY.log` of the store.
#ifndef OPENSET_EXPERIMENTS_WORKER_ACTION_LOG_H_
#define OPENSET_EXPERIMENTS_WORKER_ACTION_LOG_H_

#include <string>

#include "experiments/worker/worker.proto.h"

namespace openset {

// "" for actions without a log of their own.
std::string ActionLogPath(const WorkRequest& request);

// Sends this process's standard error to the end of a file, while it lives; a file that stays empty is removed. Where
// the file can't be written, or the path is "", standard error stays what it is.
class ActionLog {
 public:
  explicit ActionLog(const std::string& path);
  ~ActionLog();
  ActionLog(const ActionLog&) = delete;
  ActionLog& operator=(const ActionLog&) = delete;

 private:
  const std::string path_;
  int before_ = -1;  // what standard error was; -1: it is still that
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_ACTION_LOG_H_
