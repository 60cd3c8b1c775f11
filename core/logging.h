// Logging, and CHECK for our own bugs; the only file that includes glog.
//
// LibTorch defines some macros of the same names. If both are needed, include core/tensor/torch.h first; glog's macros
// then replace LibTorch's. Never include this file from a header.
#ifndef OPENSET_CORE_LOGGING_H_
#define OPENSET_CORE_LOGGING_H_

#undef LOG
#undef LOG_IF
#undef VLOG
#undef VLOG_IF
#undef VLOG_IS_ON
#undef LOG_AT_FILE_LINE
#undef FATAL_IF
#undef CHECK
#undef DCHECK
#undef DLOG

#include <glog/logging.h>

namespace openset {

// Sends the log of this process to standard error, with a stack trace for fatal signals. Call it once, at the start of
// main().
void InitLogging(const char* program);

}  // namespace openset

#endif  // OPENSET_CORE_LOGGING_H_
