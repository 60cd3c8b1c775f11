// The memory of the test GPUs (memory_gpu.h).
#ifndef OPENSET_CORE_TENSOR_TESTING_DEVICE_MEMORY_ARENA_H_
#define OPENSET_CORE_TENSOR_TESTING_DEVICE_MEMORY_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>

namespace openset {

// Blocks in a range of addresses that can't be read or written unless a kernel runs, so that code which uses a device
// pointer on the host crashes at that line. Freed blocks are cached and reused, as in LibTorch's allocator, until
// Empty(). Thread-safe.
class DeviceMemoryArena {
 public:
  static DeviceMemoryArena& Get();

  // Null if there is no room.
  void* Take(size_t bytes, int device);
  void GiveBack(void* block);
  void Empty();

  // The device of a taken block; -1 for any other address.
  int DeviceOf(const void* block);
  // Bytes in taken blocks, and in freed blocks that are cached.
  int64_t bytes_taken();
  int64_t bytes_kept();

  // The memory is accessible as long as a Kernel exists.
  class Kernel {
   public:
    Kernel() { Get().Open(1); }
    ~Kernel() { Get().Open(-1); }
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
  };

 private:
  struct Block {
    size_t bytes;
    int device;
  };

  DeviceMemoryArena();
  void Open(int change);

  std::mutex mutex_;
  char* const base_;
  size_t next_ = 0;  // offset of the memory that was never taken
  int kernels_ = 0;
  int64_t bytes_taken_ = 0, bytes_kept_ = 0;
  std::unordered_map<const void*, Block> taken_;
  std::multimap<size_t, void*> kept_, emptied_;  // by size
};

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_TESTING_DEVICE_MEMORY_ARENA_H_
