#include "tools/testing/openset_program.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/proto/record_file.h"
#include "core/random.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

namespace fs = std::filesystem;

std::string Runfile(const std::string& path) { return *RunfilesFolder() + "/openset/" + path; }

int ExitCodeOf(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

OpensetProgram::OpensetProgram(const std::string& name) {
  const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
  folder_ = JoinPath(testing::TempDir(), std::string(info->test_suite_name()) + "." + info->name() + name);
  fs::remove_all(folder_);
  fs::create_directories(folder_);
}

void OpensetProgram::Write(const std::string& path, const std::string& content) const {
  const std::string file = JoinPath(folder_, path);
  fs::create_directories(fs::path(file).parent_path());
  std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
}

std::string OpensetProgram::Read(const std::string& path) const {
  return ReadFile(JoinPath(folder_, path)).value_or("");
}

std::string OpensetProgram::path() const { return Runfile("tools/openset_unstamped"); }

std::string OpensetProgram::Shipped(const std::string& path) const { return ReadFile(Runfile(path)).value_or(""); }

void OpensetProgram::GenerateExternalImages() const {
  Write("data/catalog/gradients.textproto", R"(
name: "gradients"
class_name: ["some", "others"]
channels: 3 height: 32 width: 32
layout {
  part { name: "train" samples: 1000 samples_per_class: 500 cifar_binary { file { path: "gradients/train.bin" } } }
  part { name: "test" samples: 200 samples_per_class: 100 cifar_binary { file { path: "gradients/test.bin" } } }
}
)");
  std::string task = Shipped("data/tasks/fashion_mnist_6_4.textproto");
  ASSERT_EQ(absl::StrReplaceAll({{"data_set: \"cifar10\"", "data_set: \"gradients\""},
                                 {"name: \"fashion_mnist_6_4\"", "name: \"fashion_and_gradients\""}},
                                &task),
            2);
  Write("data/tasks/fashion_and_gradients.textproto", task);
  for (const auto& [part, images] : {std::pair("train", 1000), std::pair("test", 200)}) {
    RandomStream random(0, part);
    std::string bytes;
    for (int i = 0; i < images; ++i) {
      bytes.push_back(static_cast<char>(i % 2));
      for (int c = 0; c < 3; ++c) {
        // From one value at the top left to others at the right and at the bottom, with noise.
        const double start = random.Uniform(40, 216), right = random.Uniform(-40, 40), down = random.Uniform(-40, 40);
        for (int y = 0; y < 32; ++y) {
          for (int x = 0; x < 32; ++x) {
            const double value = start + (right * x + down * y) / 32 + 10 * random.Normal();
            bytes.push_back(static_cast<char>(static_cast<uint8_t>(std::clamp(value, 0.0, 255.0))));
          }
        }
      }
    }
    Write(absl::StrCat("data/gradients/", part, ".bin"), bytes);
  }
}

MeanValues OpensetProgram::Means(const std::string& study) const {
  MeanValues means;
  const auto report = nlohmann::json::parse(Read(absl::StrCat("openset-store/reports/", study, "/report.json")));
  for (const nlohmann::json& cell : report.at("cells")) {
    if (cell.at("n") >= 1 && cell.value("group", "pool") == "pool") {
      means[cell.at("method")][cell.at("metric")] = cell.at("mean");
    }
  }
  return means;
}

void OpensetProgram::Execute(const std::vector<std::string>& arguments) const {
  std::vector<std::string> words = {path()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  if (chdir(folder_.c_str()) != 0) _exit(125);
  unsetenv("BUILD_WORKING_DIRECTORY");
  signal(SIGHUP, SIG_DFL);  // for tests that run under nohup
  execv(argv[0], argv.data());
  _exit(126);
}

pid_t OpensetProgram::Start(const std::vector<std::string>& arguments) const {
  const std::string out = JoinPath(folder_, "out.txt"), err = JoinPath(folder_, "err.txt");
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDOUT_FILENO);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
    Execute(arguments);
  }
  setpgid(pid, pid);
  return pid;
}

pid_t OpensetProgram::StartOnTerminal(const std::vector<std::string>& arguments, int* terminal, int columns) const {
  winsize size = {};
  size.ws_row = 24;
  size.ws_col = static_cast<uint16_t>(columns);
  const pid_t pid = forkpty(terminal, nullptr, nullptr, columns > 0 ? &size : nullptr);
  if (pid == 0) Execute(arguments);
  EXPECT_GT(pid, 0);
  fcntl(*terminal, F_SETFD, FD_CLOEXEC);
  return pid;
}

ProgramResult OpensetProgram::RunOnTerminal(const std::vector<std::string>& arguments, int columns,
                                            const std::string& typed) const {
  ProgramResult result;
  int terminal = -1;
  const pid_t pid = StartOnTerminal(arguments, &terminal, columns);
  EXPECT_EQ(write(terminal, typed.data(), typed.size()), static_cast<ssize_t>(typed.size()));
  char bytes[4096];
  ssize_t got = 0;
  while ((got = read(terminal, bytes, sizeof(bytes))) > 0 || (got < 0 && errno == EINTR)) {  // EIO at the end
    result.out.append(bytes, std::max<ssize_t>(got, 0));
  }
  close(terminal);
  result.exit_code = ExitCodeOf(pid);
  return result;
}

ProgramResult OpensetProgram::Run(const std::vector<std::string>& arguments) const {
  ProgramResult result;
  result.exit_code = ExitCodeOf(Start(arguments));
  result.out = Read("out.txt");
  result.err = Read("err.txt");
  result.command = absl::StrCat("openset ", absl::StrJoin(arguments, " "));
  return result;
}

ProgramResult OpensetProgram::MustRun(const std::vector<std::string>& arguments) const {
  ProgramResult result = Run(arguments);
  EXPECT_EQ(result.exit_code, 0) << result;
  return result;
}

int OpensetProgram::RunWithKills(const std::vector<std::string>& arguments, uint64_t seed, int signal) const {
  RandomStream random(seed, "kill times");
  int kills = 0;
  for (double most = 1.0; kills < 40; most *= 1.3) {
    const pid_t pid = Start(arguments);
    const auto wait_microseconds = static_cast<int64_t>(1e6 * random.Uniform(0, most));
    int status = 0;
    pid_t ended = 0;
    for (int64_t waited = 0; waited < wait_microseconds && ended == 0; waited += 5000) {
      usleep(5000);
      ended = waitpid(pid, &status, WNOHANG);
    }
    if (ended == pid) {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << Read("err.txt");
      return kills;
    }
    kill(pid, signal);
    waitpid(pid, &status, 0);
    ++kills;
  }
  ADD_FAILURE() << "it never ended by itself";
  return kills;
}

std::map<std::string, TrialRecord> OpensetProgram::LoadRecords() const {
  std::map<std::string, TrialRecord> records;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(JoinPath(store(), "records"), error)) {
    if (!entry.is_regular_file()) continue;
    TrialRecord record;
    const absl::Status status = ReadRecordFile(entry.path().string(), &record);
    EXPECT_TRUE(status.ok()) << status;
    records[record.trial_id()] = record;
  }
  return records;
}

std::map<std::string, std::string> OpensetProgram::Records() const {
  std::map<std::string, std::string> records;
  for (auto& [id, record] : LoadRecords()) {
    record.clear_provenance();
    records[id] = record.SerializeAsString();
  }
  return records;
}

TrialRecord OpensetProgram::AnyRecord() const {
  const std::map<std::string, TrialRecord> records = LoadRecords();
  EXPECT_FALSE(records.empty());
  return records.empty() ? TrialRecord() : records.begin()->second;
}

std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::vector<pid_t> children;
  const std::vector<std::string> names = *ListFolder("/proc");
  for (const std::string& name : names) {
    int pid = 0;
    if (!absl::SimpleAtoi(name, &pid)) continue;
    const std::string status = ReadFile(absl::StrCat("/proc/", pid, "/status")).value_or("");
    if (status.find(absl::StrCat("\nPPid:\t", parent, "\n")) != std::string::npos) children.push_back(pid);
  }
  return children;
}

void FlipBit(const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto at = static_cast<std::streamoff>(fs::file_size(path) / 2);
  file.seekg(at);
  const char changed = static_cast<char>(file.get() ^ 4);
  file.seekp(at);
  file.put(changed);
}

}  // namespace openset
