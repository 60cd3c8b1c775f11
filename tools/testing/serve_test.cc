// `openset serve`, asked by a plain client while a study runs.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/temporary_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/testing/http_client.h"
#include "tools/testing/near_far_study.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A store's server. Its program has another folder than the one that runs studies, so that each has its own output.
class Server {
 public:
  Server(const OpensetProgram& program, std::vector<std::string> flags) : program_(program) {
    flags.insert(flags.begin(), {"serve", "--port=0"});
    pid_ = program.Start(flags);
    for (int tries = 0; tries < 1200 && address().find('\n') == std::string::npos; ++tries) {
      int status = 0;
      if (waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = 0;
        return;
      }
      usleep(50'000);
    }
    const std::string text = address();
    const size_t colon = text.find(':', text.find("//"));
    EXPECT_TRUE(absl::SimpleAtoi(text.substr(colon + 1, text.find('/', colon) - colon - 1), &port_)) << text;
  }
  ~Server() { End(); }

  // "http://127.0.0.1:6736/ shows ...\n".
  std::string address() const { return program_.Read("out.txt"); }
  // The token in it; "" if there is none. There is one if the folder of the tests is closed to other users.
  std::string token() const {
    const size_t begin = address().find("?token=");
    return begin == std::string::npos ? "" : address().substr(begin + 7, 32);
  }
  // With the token.
  HttpReply Ask(const std::string& path) const {
    return Get(port_, path, absl::StrCat("Cookie: openset_token=", token(), "\r\n"));
  }
  int port() const { return port_; }
  bool runs() const { return pid_ != 0; }

  // Ctrl-C: the exit code.
  int End() {
    if (pid_ == 0) return -1;
    int status = 0;
    kill(pid_, SIGINT);
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  const OpensetProgram& program_;
  pid_t pid_ = 0;
  int port_ = 0;
};

// The path in the first link with this text.
std::string LinkTo(const std::string& name, const std::string& html) {
  const size_t end = html.find(absl::StrCat("\">", name, "</a>"));
  const size_t begin = html.rfind("href=\"", end);
  return end == std::string::npos ? "" : html.substr(begin + 6, end - begin - 6);
}

std::map<std::string, std::string> FilesOf(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    files[entry.path().string()] = entry.is_regular_file() ? *ReadFile(entry.path().string()) : "";
  }
  return files;
}

TEST(Serve, ShowsAStudyWhileItRunsAndAfter) {
  const OpensetProgram studies("studies"), viewer("viewer");
  WriteNearFarStudy(studies);
  // The store exists from the beginning.
  studies.Write("openset-store/version", "openset store 3\n");
  Server server(viewer, {"--store=" + studies.store(), "--library=" + studies.folder()});
  ASSERT_TRUE(server.runs()) << viewer.Read("err.txt");
  EXPECT_THAT(server.address(), HasSubstr("http://127.0.0.1:"));
  EXPECT_THAT(server.Ask("/").body, HasSubstr("The store has no record yet."));

  const pid_t run = studies.Start({"run", "study.textproto"});
  bool was_seen = false;
  int status = 0;
  while (waitpid(run, &status, WNOHANG) == 0) {
    const HttpReply live = server.Ask("/live.json");
    ASSERT_EQ(live.status, 200);
    const nlohmann::json parsed = nlohmann::json::parse(live.body);
    for (const nlohmann::json& one : parsed.at("runs")) {
      EXPECT_EQ(one.at("study"), "study");
      was_seen |= !one.at("actions").empty();
      if (!was_seen) continue;
      EXPECT_EQ(server.Ask(absl::StrCat("/study/", one.at("id").get<std::string>())).status, 200);
    }
    usleep(50'000);
  }
  ASSERT_EQ(status, 0) << studies.Read("err.txt");
  EXPECT_TRUE(was_seen);

  const auto before = FilesOf(studies.store());
  const std::string all = server.Ask("/").body;
  const std::string study = LinkTo("study", all);
  ASSERT_NE(study, "") << all.substr(all.find("<body>"), 2000);
  const HttpReply page = server.Ask(study);
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.head, HasSubstr("Content-Security-Policy: default-src 'none'; "));
  // The means of the report, the curves, and the mistakes as images.
  const nlohmann::json report = nlohmann::json::parse(studies.Read("openset-store/reports/study/report.json"));
  int means = 0;
  for (const nlohmann::json& cell : report.at("cells")) {
    EXPECT_THAT(page.body, HasSubstr(absl::StrCat("\"mean\":", cell.at("mean").dump())));
    ++means;
  }
  EXPECT_EQ(means, 2 * (3 + 4));  // of report_test
  EXPECT_THAT(page.body, AllOf(HasSubstr("data-chart=\"roc"), HasSubstr("\"sheet\":\"data:image/png;base64,")));
  const std::string id = studies.AnyRecord().trial_id();
  EXPECT_THAT(server.Ask(study + "/records").body, HasSubstr("/record/" + id));
  EXPECT_THAT(server.Ask("/record/" + id).body,
              AllOf(HasSubstr("trial_id: &quot;" + id), HasSubstr("\"sheet\":\"data:image/png;base64,")));
  EXPECT_THAT(server.Ask("/failures").body, HasSubstr("0 actions failed"));
  EXPECT_EQ(FilesOf(studies.store()), before);  // it only reads
  EXPECT_EQ(server.End(), 0);
  EXPECT_EQ(viewer.Read("err.txt"), "");
}

TEST(Serve, RefusesOthers) {
  const OpensetProgram program;
  program.Write("openset-store/version", "openset store 3\n");
  Server server(program, {});
  ASSERT_TRUE(server.runs()) << program.Read("err.txt");
  const auto status = [&server](const std::string& bytes) { return ReplyOf(Exchange(server.port(), bytes)).status; };
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 421);
  EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), 421);
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"), 405);
  EXPECT_EQ(status("OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n"), 405);
  EXPECT_EQ(status("GET /live.json HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n\r\n"), 403);
  for (const char* path : {"/../openset-store/version", "/version", "/%2e%2e/version", "//etc/passwd", "/reports",
                           "/study/..", "/record/..%2fversion", "http://localhost/version"}) {
    EXPECT_EQ(server.Ask(path).status, 404) << path;
  }
  EXPECT_THAT(server.Ask("/").head, Not(HasSubstr("Access-Control")));
  const ProgramResult taken =
      OpensetProgram("other").Run({"serve", "--store=" + program.store(), absl::StrCat("--port=", server.port())});
  EXPECT_EQ(taken.exit_code, 2);
  EXPECT_THAT(taken.err, HasSubstr("in use; --port=0 takes a port that is free"));
}

TEST(Serve, AsksForATokenBeyondThisMachine) {
  const OpensetProgram program;
  program.Write("openset-store/version", "openset store 3\n");
  Server server(program, {"--host=0.0.0.0"});
  ASSERT_TRUE(server.runs()) << program.Read("err.txt");
  const std::string address = server.address();
  const std::string token = address.substr(address.find("?token=") + 7, 32);
  EXPECT_EQ(Get(server.port(), "/").status, 401);
  EXPECT_EQ(Get(server.port(), "/?token=" + std::string(32, '0')).status, 401);
  const HttpReply welcome = Get(server.port(), "/?token=" + token);
  EXPECT_EQ(welcome.status, 303);
  EXPECT_THAT(welcome.head, AllOf(HasSubstr("Location: /\r\n"), HasSubstr("HttpOnly; SameSite=Strict")));
  EXPECT_EQ(Get(server.port(), "/", absl::StrCat("Cookie: openset_token=", token, "\r\n")).status, 200);
}

// Other users of the machine can reach the port, but not all of the store: a folder above it, the store, a room, a
// shard or a file is closed to them, or the data.
TEST(Serve, AsksForATokenWhereAnythingIsClosed) {
  namespace fs = std::filesystem;
  // Not in the folder of the tests, which may be closed.
  const absl::StatusOr<TemporaryFolder> made = TemporaryFolder::Make("serve-test");
  ASSERT_TRUE(made.ok());
  const std::string folder = made->path();
  for (fs::path above = fs::path(folder).parent_path(); above.has_relative_path(); above = above.parent_path()) {
    if ((fs::status(above).permissions() & fs::perms::others_exec) == fs::perms::none) GTEST_SKIP() << above;
  }
  const std::string store = folder + "/home/store", record = store + "/records/ab/file";
  fs::create_directories(store + "/records/ab");
  fs::create_directories(folder + "/data");
  std::ofstream(store + "/version") << "openset store 3\n";
  std::ofstream(record) << "x";
  fs::create_symlink("home", folder + "/link");
  const auto needs_token = [&](const std::string& path) {
    const OpensetProgram program("closed");
    Server server(program, {"--store=" + path, "--data=" + folder + "/data"});
    EXPECT_TRUE(server.runs()) << program.Read("err.txt");
    EXPECT_EQ(Get(server.port(), "/").status, server.token().empty() ? 200 : 401);
    EXPECT_EQ(server.Ask("/").status, 200);
    return !server.token().empty();
  };
  const std::string all[] = {folder, folder + "/home",   store,           store + "/records", store + "/records/ab",
                             record, store + "/version", folder + "/data"};
  for (const std::string& path : all) chmod(path.c_str(), 0755);
  EXPECT_FALSE(needs_token(store));
  EXPECT_FALSE(needs_token(folder + "/link/store"));
  for (const std::string& path : all) {
    for (const mode_t mode : {0700, 0750}) {
      chmod(path.c_str(), mode);
      EXPECT_TRUE(needs_token(folder + "/link/store")) << path;
      chmod(path.c_str(), 0755);
    }
  }
  chmod(record.c_str(), 0644);  // a file needs no x
  EXPECT_FALSE(needs_token(store));
  chmod(store.c_str(), 0711);
  EXPECT_TRUE(needs_token(store));
}

TEST(Serve, AnswersAtEachAddressOfThisMachine) {
  const OpensetProgram program;
  program.Write("openset-store/version", "openset store 3\n");
  Server server(program, {"--host=127.0.0.2"});
  ASSERT_TRUE(server.runs()) << program.Read("err.txt");
  const std::string address = server.address(), host = address.substr(7, address.find('/', 7) - 7);
  EXPECT_EQ(host, absl::StrCat("127.0.0.2:", server.port()));
  EXPECT_EQ(server.End(), 0);
}

// The store is removed, or its file system is unmounted, while the server runs.
TEST(Serve, SaysThatTheStoreIsGone) {
  const OpensetProgram program;
  program.Write("openset-store/version", "openset store 3\n");
  Server server(program, {});
  ASSERT_TRUE(server.runs()) << program.Read("err.txt");
  EXPECT_EQ(server.Ask("/").status, 200);
  std::filesystem::remove(program.store() + "/version");
  for (const char* path : {"/", "/live.json", "/failures"}) {
    EXPECT_EQ(server.Ask(path).status, 500) << path;
    EXPECT_THAT(server.Ask(path).body, HasSubstr("openset-store is not a store")) << path;
  }
  std::filesystem::remove_all(program.store());
  EXPECT_THAT(server.Ask("/").body, AllOf(HasSubstr("there is no store"), Not(HasSubstr("no record yet"))));
}

TEST(Serve, ErrorsSayWhatIsWrong) {
  const OpensetProgram program;
  EXPECT_THAT(program.Run({"serve"}).err, HasSubstr("openset-store"));
  program.Write("openset-store/version", "openset store 3\n");
  for (const auto& [flag, line] : {std::pair("--host=example.org", "--host: 'example.org' is not an IP address"),
                                   {"--port=65536", "--port: must lie in 0 .. 65535"},
                                   {"--port=-1", "--port: must lie in 0 .. 65535"}}) {
    const ProgramResult result = program.Run({"serve", flag});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr(line));
  }
}

}  // namespace
}  // namespace openset
