// Turns the signals that ask a program to stop into a file descriptor that it can wait for.
#ifndef OPENSET_CORE_PROCESS_INTERRUPT_H_
#define OPENSET_CORE_PROCESS_INTERRUPT_H_

#include <signal.h>

namespace openset {

// During its lifetime, SIGINT, SIGTERM, SIGHUP and SIGUSR1 don't end the process but make fd() readable; SIGHUP has no
// effect if it was ignored before (nohup). The destructor restores the previous handlers. A signal that arrived but was
// not taken is dropped, because the work that it should interrupt is over; the process ends with its own exit code. If
// there are several objects, each signal goes to one of them, so that an outer object receives those that come before
// and after an inner one. Child processes started by core/process/subprocess.h get the signals' default handlers.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Becomes readable (poll) when a signal comes.
  int fd() const { return fd_; }
  // The number of a signal that has come since the last call, 0 for none.
  int Take();

 private:
  int fd_;
  sigset_t before_;  // blocked signals
};

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_INTERRUPT_H_
