// Other users of this machine, to test file permissions between users. Needs root.
#ifndef OPENSET_CORE_TESTING_USERS_H_
#define OPENSET_CORE_TESTING_USERS_H_

#include <fcntl.h>
#include <grp.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "core/testing/small_disk.h"

namespace openset {

// User ids that no account uses; the users share a group.
struct User {
  uid_t id;
  gid_t group = 64000;
  mode_t mask = 022;  // umask
};

// In this process and its children, lets every user reach `path`, even if a folder above it (such as /root) is closed
// to them: mounts a tmpfs over each closed folder that shows only the next entry of the path. Returns false on failure.
// Precondition: EnterMountNamespace().
inline bool LetAllReach(const std::string& path) {
  namespace fs = std::filesystem;
  fs::path reached = "/";
  std::error_code error;
  const fs::path whole = fs::canonical(path, error);
  if (error) return false;
  for (const fs::path& part : whole.relative_path()) {
    struct stat info;
    if (stat(reached.c_str(), &info) != 0) return false;
    if ((info.st_mode & S_IXOTH) == 0) {
      const int closed = open(reached.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
      const std::string entry = absl::StrCat("/proc/self/fd/", closed, "/", part.string());
      const bool mounted = closed >= 0 && mount("tmpfs", reached.c_str(), "tmpfs", 0, "mode=755") == 0 &&
                           mkdir((reached / part).c_str(), 0755) == 0 &&
                           mount(entry.c_str(), (reached / part).c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0;
      close(closed);
      if (!mounted) return false;
    }
    reached /= part;
  }
  return true;
}

// Returns why the test can't use other users here, or "" if it can.
inline std::string NoUsersBecause(const std::string& path) {
  if (geteuid() != 0) return "only root can become other users";
  if (!EnterMountNamespace()) return "this process may not mount";
  const pid_t child = fork();
  if (child == 0) _exit(setgroups(0, nullptr) == 0 && setgid(64000) == 0 && setuid(64001) == 0 ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) return "this namespace has no other users";
  return LetAllReach(path) ? "" : absl::StrCat("other users can't reach ", path);
}

// Starts a child process of this user, which calls `act` and exits with its result.
inline pid_t StartAs(const User& user, const std::function<int()>& act) {
  const pid_t child = fork();
  if (child != 0) return child;
  umask(user.mask);
  if (setgroups(0, nullptr) != 0 || setgid(user.group) != 0 || setuid(user.id) != 0) _exit(125);
  _exit(act());
}

// The same, but waits for its end. Returns its exit code, or 128 plus the signal that ended it.
inline int RunAs(const User& user, const std::function<int()>& act) {
  int status = 0;
  waitpid(StartAs(user, act), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace openset

#endif  // OPENSET_CORE_TESTING_USERS_H_
