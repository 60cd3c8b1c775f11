// A GPU driver's library for gpus_test: FAKE_GPUS names its GPUs, separated by commas; "error" makes it refuse.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

std::vector<std::string> Names() {
  std::vector<std::string> names;
  std::string list = std::getenv("FAKE_GPUS");
  while (!list.empty()) {
    const size_t comma = list.find(',');
    names.push_back(list.substr(0, comma));
    list = comma == std::string::npos ? "" : list.substr(comma + 1);
  }
  return names;
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  const std::vector<std::string> names = Names();
  if (names.empty()) return 100;
  return names[0] == "error" ? 999 : 0;
}

int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(Names().size());
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = 10 + ordinal;
  return 0;
}

int cuDeviceGetName(char* name, int size, int device) {
  std::strncpy(name, Names()[device - 10].c_str(), size);
  return 0;
}
}
