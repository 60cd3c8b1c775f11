// Turning the signals that ask a program to stop into something it can wait for.
#ifndef OPENSET_CORE_PROCESS_INTERRUPT_H_
#define OPENSET_CORE_PROCESS_INTERRUPT_H_

#include <signal.h>

namespace openset {

// While an object lives, SIGINT, SIGTERM, SIGHUP and SIGUSR1 do not end the process but make fd() readable; SIGHUP
// stays without effect where it is ignored (nohup). Afterwards they have the effect again that they had before; one
// that came and was not taken has none, as what it was to interrupt is over: the process ends with its own exit code.
// While several live, each signal is taken by one of them; an outer one so holds what comes before and after. Child
// processes started by core/process/subprocess.h get the signals' usual effect back.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Readable (poll) once a signal has come.
  int fd() const { return fd_; }
  // The number of a signal that has come since the last call, 0 for none.
  int Take();

 private:
  int fd_;
  sigset_t before_;  // blocked signals
};

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_INTERRUPT_H_
