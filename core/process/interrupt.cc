#include "core/process/interrupt.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace openset {
namespace {

sigset_t Signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaddset(&signals, signal);
  // The kernel keeps a blocked signal even if it is ignored.
  struct sigaction hangup = {};
  if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaddset(&signals, SIGHUP);
  return signals;
}

}  // namespace

Interrupt::Interrupt() {
  const sigset_t signals = Signals();
  sigprocmask(SIG_BLOCK, &signals, &before_);
  fd_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

Interrupt::~Interrupt() {
  while (Take() != 0) {
  }
  close(fd_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int Interrupt::Take() {
  signalfd_siginfo info;
  return read(fd_, &info, sizeof(info)) == sizeof(info) ? static_cast<int>(info.ssi_signo) : 0;
}

}  // namespace openset
