// The machine that this process runs on, and what it has taken of it so far.
#ifndef OPENSET_CORE_PROCESS_MACHINE_H_
#define OPENSET_CORE_PROCESS_MACHINE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace openset {

// Letters, digits, '.', '-' and '_': any other byte that the kernel has in it is shown as '_'.
std::string HostName();
// Of what the kernel has, which any privileged program may set. "host" for none.
std::string HostNameOf(const std::string& kernel);

// The effective user of this process, and what this machine calls it: letters, digits and the like, any other byte
// shown as '_'; "" where it has no name for it.
int64_t UserId();
std::string UserName();

// The processor's name as the kernel shows it; "unknown" where it does not.
std::string CpuName();

// Those of its instruction sets that numeric libraries choose their kernels by, in a fixed order: "sse4.2", "avx",
// "avx2", "fma", "avx512f" ...
std::vector<std::string> CpuFeatures();

// Memory of the machine, or what this process's control group may have of it, in MB; 0 where the kernel does not say.
int64_t MachineMemoryMb();

// Seconds that all threads of this process have run.
double CpuSeconds();

// The largest resident memory of this process, in bytes, since ForgetPeakMemory() where the kernel can forget it
// (/proc/self/clear_refs), else since it began.
int64_t PeakMemoryBytes();
void ForgetPeakMemory();

// Boot of the machine, and namespace of processes, as 8 hexadecimal digits: where they are equal, a process id means
// the same process. Containers that go by their machine's name may differ in it.
std::string ProcessSpace();

// Whether processes have the machine's own ids here: not in a container that counts them anew. `pid_namespace` is the
// link by which the kernel tells.
bool HasMachinePids(const std::string& pid_namespace = "/proc/self/ns/pid");

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_MACHINE_H_
