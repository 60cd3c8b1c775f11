// Entries of all kinds in place of a file.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/logging.h"
#include "core/random.h"
#include "tools/testing/hostile/hostile_case.h"

namespace openset {
namespace {

namespace fs = std::filesystem;

// A path may be too long for a socket's name, so the socket is made with a short one.
void MakeSocket(const std::string& path) {
  const int made = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string folder = fs::path(path).parent_path().string();
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  std::strncpy(address.sun_path, "s", sizeof(address.sun_path) - 1);
  CHECK_EQ(bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  close(made);
  fs::rename("s", path);
  fs::current_path(before);
}

std::string Noise(size_t bytes) {
  RandomStream random(0, "noise");
  std::string noise;
  while (noise.size() < bytes) noise.push_back(static_cast<char>(random.Below(256)));
  return noise;
}

}  // namespace

std::vector<HostileCase> CasesOfFile(const HostileCase& base, const std::string& path) {
  std::vector<HostileCase> cases;
  // Adds a case with an entry that `put` makes in place of the file.
  const auto add = [&](const std::string& what, const std::function<void(const std::string& path)>& put) {
    HostileCase one = base;
    one.what = absl::StrCat(base.what, base.what.empty() ? "" : ": ", what);
    one.make = [path, put, before = base.make](const Fixture& fixture) {
      if (before) before(fixture);
      const std::string entry = fixture.Path(path);
      fs::remove_all(entry);
      fs::create_directories(fs::path(entry).parent_path());
      put(entry);
    };
    cases.push_back(one);
  };
  const auto holds = [](const std::string& content) {
    return [content](const std::string& entry) { std::ofstream(entry, std::ios::binary) << content; };
  };
  const auto leads = [](const std::string& target) {
    return [target](const std::string& entry) { fs::create_symlink(target, entry); };
  };
  add("nothing in it", holds(""));
  add("a folder", [](const std::string& entry) { fs::create_directories(entry + "/inner"); });
  add("a pipe that nobody writes to", [](const std::string& entry) { CHECK_EQ(mkfifo(entry.c_str(), 0600), 0); });
  add("a socket", MakeSocket);
  add("a link to itself", [](const std::string& entry) { fs::create_symlink(fs::path(entry).filename(), entry); });
  add("a link to nowhere", leads("nowhere"));
  add("a link to /dev/zero", leads("/dev/zero"));
  add("a link to /dev/tty", leads("/dev/tty"));
  add("a link to a folder", leads("/"));
  add("it is closed", [](const std::string& entry) {
    std::ofstream(entry) << "x";
    fs::permissions(entry, fs::perms::none);
  });
  add("10 GB of nothing", [](const std::string& entry) {
    std::ofstream(entry) << "x";
    fs::resize_file(entry, 10'000'000'000);
  });
  add("zeros", holds(std::string(65536, '\0')));
  add("noise", holds(Noise(4096)));
  add("what a terminal obeys", holds("\x1b]0;owned\a\x1b[2J\xc2\x9b"
                                     "31m\xe2\x80\xae gnp \r\n\b{{{\xff\xfe"));
  return cases;
}

std::vector<HostileCase> AllCases() {
  std::vector<HostileCase> cases;
  for (const auto room : {SpecCases, LimitCases, FlagCases, SettingCases, RecordCases, BundleCases, PackedCases,
                          StoreCases, ArrayCases, ImageCases, DownloadCases, WorkerCases, RequestCases}) {
    for (HostileCase& one : room()) cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace openset
