#include "tools/testing/slurm/real_slurm.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/files/files.h"
#include "core/machine/machine.h"
#include "core/process/subprocess.h"

namespace openset {
namespace {

constexpr char kConfig[] = R"(
ClusterName=openset
SlurmctldHost=HOST
SlurmUser=root
SlurmdUser=root
SlurmctldPort=PORT1
SlurmdPort=PORT2
AuthType=auth/munge
AuthInfo=socket=FOLDER/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=FOLDER/state
SlurmdSpoolDir=FOLDER/spool
SlurmctldPidFile=FOLDER/slurmctld.pid
SlurmdPidFile=FOLDER/slurmd.pid
SlurmctldLogFile=FOLDER/slurmctld.log
SlurmdLogFile=FOLDER/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
KillWait=5
MaxArraySize=4
SchedulerParameters=sched_interval=1
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName=HOST CPUs=COUNT State=UNKNOWN
PartitionName=main Nodes=HOST Default=YES MaxTime=INFINITE State=UP
)";

}  // namespace

RealSlurm::RealSlurm(int cpus) : problem_(TryToStart(cpus)) {}

RealSlurm::~RealSlurm() {
  for (auto daemon = daemons_.rbegin(); daemon != daemons_.rend(); ++daemon) {
    kill(*daemon, SIGTERM);
    int status = 0;
    for (int waits = 0; waits < 1000 && waitpid(*daemon, &status, WNOHANG) == 0; ++waits) usleep(10000);
    if (kill(*daemon, 0) == 0) kill(*daemon, SIGKILL);
  }
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

pid_t RealSlurm::Start(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const std::string log = JoinPath(folder_, "daemons.log");
  const pid_t pid = fork();
  if (pid == 0) {
    const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  daemons_.push_back(pid);
  return pid;
}

std::string RealSlurm::TryToStart(int cpus) {
  for (const char* program : {"/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/bin/sbatch"}) {
    if (!FileExists(program)) return absl::StrCat(program, " is not there (Debian: slurm-wlm, munge)");
  }
  if (getuid() != 0) return "slurmd starts as root only";
  char folder[] = "/tmp/openset-slurm-XXXXXX";
  if (mkdtemp(folder) == nullptr) return "no folder can be made in /tmp";
  folder_ = folder;
  chmod(folder, 0755);
  for (const char* name : {"munge", "state", "spool"}) std::filesystem::create_directory(JoinPath(folder_, name));
  chmod(JoinPath(folder_, "munge").c_str(), 0700);
  const std::string key = JoinPath(folder_, "munge/key");
  std::ofstream(key) << std::string(1024, 'k');
  chmod(key.c_str(), 0400);
  const std::string config = JoinPath(folder_, "slurm.conf");
  const int port = 20000 + getpid() % 20000;
  std::ofstream(config) << absl::StrReplaceAll(kConfig, {{"HOST", HostName()},
                                                         {"FOLDER", folder_},
                                                         {"PORT1", absl::StrCat(port)},
                                                         {"PORT2", absl::StrCat(port + 1)},
                                                         {"COUNT", absl::StrCat(cpus)}});
  setenv("SLURM_CONF", config.c_str(), 1);
  const std::string munge = JoinPath(folder_, "munge");
  Start({"/usr/sbin/munged", "--foreground", "--force", "--key-file=" + key, "--socket=" + munge + "/socket",
         "--pid-file=" + munge + "/pid", "--log-file=" + munge + "/log", "--seed-file=" + munge + "/seed"});
  for (int waits = 0; waits < 100 && !FileExists(munge + "/socket"); ++waits) usleep(50000);
  Start({"/usr/sbin/slurmctld", "-D", "-f", config});
  Start({"/usr/sbin/slurmd", "-D", "-f", config});
  std::string nodes;
  for (int waits = 0; waits < 100; ++waits) {
    nodes = CaptureOutput({"sinfo", "--noheader", "--format=%T"}, {absl::Seconds(5)}).value_or("");
    if (absl::StartsWith(nodes, "idle")) return "";
    usleep(200000);
  }
  return absl::StrCat("its node did not become idle (", nodes,
                      "): ", ReadFile(JoinPath(folder_, "daemons.log")).value_or(""));
}

}  // namespace openset
