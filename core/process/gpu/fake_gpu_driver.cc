// A GPU driver's library and NVML for tests. Like the real one, it starts a thread, which lives as long as the process.
// FAKE_GPUS names its GPUs, separated by commas; "error" makes it fail. They have 16 GB and a compute capability
// of 9.0; those with "V100" in their name have 7.0. FAKE_GPU_CUDA is the CUDA that the driver can run, 13000 by
// default. FAKE_GPU_PROCESSES lists the processes on each: ids separated by commas, GPUs by semicolons; "error" makes
// it fail.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kFirstDevice = 10;

std::vector<std::string> Split(std::string list, char separator) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const size_t end = list.find(separator);
    parts.push_back(list.substr(0, end));
    list = end == std::string::npos ? "" : list.substr(end + 1);
  }
  return parts;
}

std::vector<std::string> Names() { return Split(std::getenv("FAKE_GPUS"), ','); }

std::string Processes() { return std::getenv("FAKE_GPU_PROCESSES"); }

struct Process {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};

}  // namespace

extern "C" {

int cuInit(unsigned) {
  static const bool started = [] {
    std::thread([] {
      while (true) pause();
    }).detach();
    return true;
  }();
  static_cast<void>(started);
  const std::vector<std::string> names = Names();
  if (names.empty()) return 100;
  return names[0] == "error" ? 999 : 0;
}

int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(Names().size());
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  if (ordinal < 0 || ordinal >= static_cast<int>(Names().size())) return 101;
  *device = kFirstDevice + ordinal;
  return 0;
}

int cuDeviceGetName(char* name, int size, int device) {
  std::strncpy(name, Names()[device - kFirstDevice].c_str(), size);
  return 0;
}

int cuDriverGetVersion(int* version) {
  const char* fake = std::getenv("FAKE_GPU_CUDA");
  *version = fake != nullptr ? std::atoi(fake) : 13000;
  return 0;
}

int cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = size_t{16} << 30;
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  const bool is_old = Names()[device - kFirstDevice].find("V100") != std::string::npos;
  *value = attribute == 75 ? (is_old ? 7 : 9) : 0;
  return 0;
}

int cuDeviceGetPCIBusId(char* id, int size, int device) {
  std::snprintf(id, size, "0000:%02X:00.0", device);
  return 0;
}

int nvmlInit_v2() { return Processes() == "error" ? 9 : 0; }

int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  unsigned bus = 0;
  if (std::sscanf(id, "0000:%02X:00.0", &bus) != 1) return 6;
  *device = reinterpret_cast<void*>(static_cast<uintptr_t>(bus));
  return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, Process* processes) {
  const size_t ordinal = reinterpret_cast<uintptr_t>(device) - kFirstDevice;
  const std::vector<std::string> gpus = Split(Processes(), ';');
  const std::vector<std::string> pids = Split(ordinal < gpus.size() ? gpus[ordinal] : "", ',');
  const unsigned room = *count;
  *count = static_cast<unsigned>(pids.size());
  if (room < pids.size()) return 7;
  for (size_t p = 0; p < pids.size(); ++p) {
    processes[p] = {static_cast<unsigned>(std::stoul(pids[p])), 1ull << 30, ~0u, ~0u};
  }
  return 0;
}
}
