// Simulates failing disks, to test durability (core/files/system_calls.h).
#ifndef OPENSET_CORE_TESTING_FAULT_CALLS_H_
#define OPENSET_CORE_TESTING_FAULT_CALLS_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "core/files/system_calls.h"
#include "core/random.h"

namespace openset {

// System calls that may fail before they do anything, except that a file is closed even if close() fails.
class FallibleCalls : public SystemCalls {
 public:
  int Open(const std::string& path, int flags, mode_t mode) override;
  ssize_t Write(int fd, const char* bytes, size_t size) override;
  int Sync(int fd, SyncOf what) override;
  int Close(int fd) override;
  int Link(const std::string& from, const std::string& to) override;
  int Rename(const std::string& from, const std::string& to) override;
  int Unlink(const std::string& path) override;
  int MakeFolder(const std::string& path, mode_t mode) override;

 protected:
  // Called before each call. Returns whether the call should fail, and then sets errno.
  virtual bool Fails() = 0;
};

// Counts calls, and lets some of them fail.
class FailingCalls : public FallibleCalls {
 public:
  enum class Fault {
    kNone,
    kError,       // the call fails with `error`
    kShortWrite,  // a write takes one byte; other calls succeed
  };
  // The call with number `at` (from 0) fails and, with `for_ever`, all later ones too.
  FailingCalls(Fault fault, int error, int64_t at, bool for_ever)
      : fault_(fault), error_(error), at_(at), for_ever_(for_ever) {}

  int64_t calls() const { return calls_; }

  ssize_t Write(int fd, const char* bytes, size_t size) override;

 private:
  bool Fails() override;

  const Fault fault_;
  const int error_;
  const int64_t at_;
  const bool for_ever_;
  int64_t calls_ = 0;
};

// A folder on a disk whose power is cut after some calls. All later calls fail, and Restore() makes a folder with what
// may be left on a disk that guarantees only what was synced. Bytes of a file are safe once the file was synced after
// they were written; changes of names in a folder are safe once the folder was synced after them. Everything else
// survives or is lost at random; bytes that are not safe may be cut short or zero. If a rename changes names in two
// folders, one change may survive without the other.
class UnsafeDisk : public FallibleCalls {
 public:
  // `folder` exists and is empty.
  explicit UnsafeDisk(std::string folder);
  ~UnsafeDisk() override;

  // The power is cut before call number `calls`, from 0.
  void CutAfter(int64_t calls) { cut_at_ = calls; }
  bool is_cut() const { return calls_ > cut_at_; }
  // Syncs of this kind do nothing and report success, as if the code did not call them.
  void LeaveOut(SyncOf what) { left_out_ = what; }

  // Creates the folder `target` with what is left.
  void Restore(const std::string& target, RandomStream* random) const;

  int Sync(int fd, SyncOf what) override;
  int Rename(const std::string& from, const std::string& to) override;
  int Unlink(const std::string& path) override;

 private:
  using Names = std::map<std::string, uint64_t>;  // inodes by name
  struct Inode {
    int fd;  // open, so that its inode number is not reused
    std::string content;
    Names names;
    bool is_folder;
    bool synced = false;
  };

  bool Fails() override;
  uint64_t Keep(const std::string& path);  // remembers the inode of a path
  Names NamesOf(const std::string& folder);
  void RestoreFolder(uint64_t inode, const std::string& current, const std::string& target, RandomStream* random) const;
  void RestoreFile(uint64_t inode, const std::string& target, RandomStream* random) const;

  const std::string folder_;
  std::map<uint64_t, Inode> inodes_;
  std::optional<SyncOf> left_out_;
  int64_t cut_at_ = std::numeric_limits<int64_t>::max();
  int64_t calls_ = 0;
};

}  // namespace openset

#endif  // OPENSET_CORE_TESTING_FAULT_CALLS_H_
