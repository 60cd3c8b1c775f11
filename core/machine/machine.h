// The machine that this process runs on, the resources that the process has used, and names of processes.
#ifndef OPENSET_CORE_MACHINE_MACHINE_H_
#define OPENSET_CORE_MACHINE_MACHINE_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace openset {

// ---- The machine that this process runs on, and the resources that the process has used.

// The host's name. Bytes other than letters, digits, '.', '-' and '_' are replaced by '_'.
std::string HostName();
// The same for a name from the kernel, which any privileged program may set. "host" if it is empty.
std::string HostNameOf(const std::string& kernel);

// The effective user of this process and the user's name on this machine, with unusual bytes replaced by '_'; "" if it
// has none.
int64_t UserId();
std::string UserName();

// The processor's name from the kernel; "unknown" if it has none.
std::string CpuName();

// The processor's instruction sets by which numeric libraries choose their kernels, in a fixed order: "sse4.2", "avx",
// "avx2", "fma", "avx512f" ...
std::vector<std::string> CpuFeatures();

// Memory of the machine, or the limit of this process's control group if that is less, in MB; 0 if the kernel doesn't
// say.
int64_t MachineMemoryMb();

// The bytes that can be allocated without swapping, by the kernel's estimate, or what is left of the control group's
// limit if that is less. 2^62 if the kernel doesn't say.
int64_t FreeMemoryBytes();

// The resident memory of this process, in bytes; 0 if the kernel doesn't say.
int64_t UsedMemoryBytes();

// Seconds that all threads of this process have run.
double CpuSeconds();

// The largest resident memory of this process, in bytes, since ForgetPeakMemory() if the kernel supports that
// (/proc/self/clear_refs), otherwise since its start.
int64_t PeakMemoryBytes();
void ForgetPeakMemory();

// The machine's boot and the namespace of process ids, as 8 hexadecimal digits. If they are equal, a process id means
// the same process. They may differ between containers with the same host name.
std::string ProcessSpace();

// Whether process ids here are the machine's own, which they are not in a container with its own namespace.
// `pid_namespace` is the kernel's link that shows it.
bool HasMachinePids(const std::string& pid_namespace = "/proc/self/ns/pid");

// Names a process of any machine, for use in file names: HOST.SPACE.PID.NUMBER. SPACE is ProcessSpace(),
// 8 hexadecimal digits. The number distinguishes several names with the same process id.

struct ProcessName {
  std::string host;  // letters, digits, '.', '-', '_'
  std::string space;
  pid_t pid = 0;  // at least 1
  uint64_t number = 0;

  // Whether host and process space are this process's, so that `pid` identifies the process here.
  bool IsHere() const;
};

// Parses a name; absent if it isn't one. A name has one spelling: no signs, blanks or leading zeros.
std::optional<ProcessName> ParseProcessName(absl::string_view text);

}  // namespace openset

#endif  // OPENSET_CORE_MACHINE_MACHINE_H_
