// Environment variables, deploy files.
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files/runfiles.h"
#include "tools/testing/hostile/hostile_case.h"

namespace openset {
namespace {

namespace fs = std::filesystem;

void AddVariables(std::vector<HostileCase>* cases) {
  const auto add = [cases](const std::string& name, const std::string& value, const std::string& named,
                           End end = End::kAnswered,
                           std::vector<std::string> command = {"plan", "study.textproto", "--store=store",
                                                               "--data=files"}) {
    HostileCase one{
        "environment variable", absl::StrCat(name, "=", value.substr(0, 60)), std::move(command), Nothing, end, named};
    one.environment = {{name, value}};
    cases->push_back(one);
  };
  const std::string escapes = "\x1b]0;owned\a\n\xff";
  for (const std::string& value : {std::string("/dev/zero"), std::string(""), std::string("nowhere"),
                                   std::string(100000, 'x'), escapes, std::string(",,,,"), std::string("/")}) {
    add("OPENSET_DATA", value, "");
    add("OPENSET_LIBRARY", value, "");
    add("HOME", value, "");
    add("TMPDIR", value, "");
    add("XDG_CACHE_HOME", value, "");
  }
  add("OPENSET_LIBRARY", "nowhere", "nowhere", End::kRefused);
  add("OPENSET_LIBRARY", escapes, "OPENSET_LIBRARY", End::kRefused);
  for (const char* value : {"x", "-1", "99999999999999999999", "", "1;touch pwn", "../../x"}) {
    add("SLURM_ARRAY_TASK_ID", value, "");
    add("SLURM_ARRAY_JOB_ID", value, "");
    add("OMP_NUM_THREADS", value, "", End::kHarmless, {"eval", "logits.npz"});
    add("COLUMNS", value, "", End::kHarmless, {"eval", "logits.npz"});
    add("TZ", value, "", End::kHarmless, {"records", "ls", "--store=store"});
    add("LC_ALL", value, "", End::kHarmless, {"records", "ls", "--store=store"});
  }
  add("BUILD_WORKING_DIRECTORY", "/dev/zero", "");
  add("BUILD_WORKING_DIRECTORY", "/nowhere", "");
  add("TEST_SRCDIR", "/nowhere", "");
  add("RUNFILES_DIR", "/", "");
  add("PATH", "", "", End::kHarmless, {"eval", "logits.npz"});
}

// What the program reads on a machine with a GPU, which a fake driver simulates. PyTorch's folder is someone else's.
void AddTorch(std::vector<HostileCase>* cases) {
  static const auto* const fixture = new Fixture();
  const auto with = [](const std::string& version, const std::string& library) {
    return [=](const Fixture& of) {
      fs::create_directories(of.Path("gpu"));
      for (const char* name : {"libcuda.so.1", "libnvidia-ml.so.1"}) {
        fs::create_symlink(*RunfilesFolder() + "/openset/core/process/gpu/libfake_gpu_driver.so",
                           of.Path(absl::StrCat("gpu/", name)));
      }
      of.Write("work/torch/version.py", version);
      of.Write("work/torch/lib/libtorch_cuda.so", library);
    };
  };
  const std::string ours = "__version__ = '2.11.0+cu130'\n";
  const auto base = [&](const std::vector<std::string>& command, const std::string& torch) {
    HostileCase one{"environment variable", "", command, with(ours, "x"), End::kHarmless, ""};
    if (command[0] == "plan") one.end = End::kRefused;
    one.environment = {{"LD_LIBRARY_PATH", fixture->Path("gpu")},
                       {"FAKE_GPUS", "NVIDIA H200"},
                       {"FAKE_GPU_PROCESSES", ""},
                       {"OPENSET_TORCH", torch}};
    return one;
  };
  const std::vector<std::string> devices = {"devices"},
                                 plan = {"plan", "study.textproto", "--data=files", "--devices=cuda:0"};
  const std::string escapes = "\x1b]0;owned\a\n\xff";
  for (const std::vector<std::string>& command : {devices, plan}) {
    for (const std::string& value : {std::string("/dev/zero"), std::string("nowhere"), std::string(100000, 'x'),
                                     escapes, std::string("/"), std::string("../outside"), std::string("torch/lib")}) {
      HostileCase one = base(command, value);
      one.what = absl::StrCat(command[0], ", OPENSET_TORCH=", value.substr(0, 60));
      one.named = "OPENSET_TORCH";
      cases->push_back(one);
    }
    for (const char* file : {"version.py", "lib/libtorch_cuda.so"}) {
      HostileCase one = base(command, "torch");
      one.what = absl::StrCat(command[0], ", PyTorch's ", file);
      for (HostileCase& of : CasesOfFile(one, absl::StrCat("work/torch/", file))) {
        of.end = End::kAnswered;
        cases->push_back(std::move(of));
      }
    }
    for (const std::string& version : {std::string("\x1b[2J"), std::string("\xff\xfe"), std::string("2.11.0\n"),
                                       std::string("\xe2\x80\xae"), std::string(60000, '9'), std::string()}) {
      HostileCase one = base(command, "torch");
      one.what = absl::StrCat(command[0], ", a PyTorch of version ", version.substr(0, 20));
      one.named = "OPENSET_TORCH";
      one.make = with("__version__ = '" + version + "'\n", "x");
      cases->push_back(one);
    }
  }
  // The Python that is asked for its PyTorch and that draws figures.
  const auto python = [&](const std::string& what, const std::string& script) {
    for (std::vector<std::string> command :
         {devices, {"figure", "study.textproto", "--store=store", "--data=files", "--curve=roc", "--out=figure.pdf"}}) {
      HostileCase one = base(command, "");
      one.what = absl::StrCat(command[0], ", a Python that ", what);
      one.end = End::kAnswered;
      one.make = [=, before = one.make](const Fixture& of) {
        before(of);
        of.Write("bin/python", "#!/bin/sh\n" + script);
        fs::permissions(of.Path("bin/python"), fs::perms::owner_all);
      };
      one.environment["OPENSET_PYTHON"] = fixture->Path("bin/python");
      one.writes = {"work/figure.pdf"};
      cases->push_back(one);
    }
  };
  python("says what a terminal obeys", "printf '\\033]0;x\\007\\n\\377'; printf '\\033[2J' >&2; exit 3\n");
  python("says 500 MB", "head -c 500000000 /dev/zero; exit 3\n");
  python("says lines for ever, of which 200 MB are waited for", "yes | head -c 200000000 >&2; exit 1\n");
  python("is killed", "kill -9 $$\n");
  python("names another folder", "echo /dev\n");
  python("names a folder that a terminal obeys", "printf '/x\\033[2J'\n");
  python("says nothing", "exit 0\n");
  for (const std::string& value : {std::string("/dev/zero"), std::string("nowhere"), std::string("files"), escapes,
                                   std::string("-c"), std::string(100000, 'x')}) {
    HostileCase one = base(devices, "");
    one.what = absl::StrCat("OPENSET_PYTHON=", value.substr(0, 60));
    one.environment["OPENSET_PYTHON"] = value;
    cases->push_back(one);
    one.environment = {{"OPENSET_CUDA_LIBRARY", value}};
    one.what = absl::StrCat("OPENSET_CUDA_LIBRARY=", value.substr(0, 60));
    cases->push_back(one);
  }
  for (const char* gpus : {"error", "", ",,,,", "\x1b[2J", "NVIDIA H200,NVIDIA A100"}) {
    HostileCase one = base(devices, "torch");
    one.what = absl::StrCat("a driver that shows ", gpus);
    one.environment["FAKE_GPUS"] = gpus;
    cases->push_back(one);
  }
}

void AddDeploy(std::vector<HostileCase>* cases) {
  HostileCase base{"deploy file",     "", {"plan", "study.textproto", "--deploy=deploy.textproto"}, {}, End::kRefused,
                   "deploy.textproto"};
  for (HostileCase& one : CasesOfFile(base, "work/deploy.textproto")) {
    if (one.what == "nothing in it") one.end = End::kAnswered;  // an empty file is valid
    cases->push_back(std::move(one));
  }
  const auto with = [&](const std::string& more, End end = End::kRefused) {
    HostileCase one = base;
    one.what = more.substr(0, 80);
    one.end = end;
    if (end != End::kRefused) one.named = "";
    one.make = [more](const Fixture& fixture) {
      const std::string field = more.substr(0, more.find(':') + 1);
      std::string text = fixture.Read("work/deploy.textproto");
      const size_t at = text.find(field);
      if (at != std::string::npos && field.size() > 1) text.erase(at, text.find('\n', at) + 1 - at);
      fixture.Write("work/deploy.textproto", text + more + "\n");
    };
    cases->push_back(one);
  };
  for (const char* number : {"-1", "99999999999", "nan", "x", "'1'"}) {
    for (const char* field : {"jobs", "retries", "max_failures", "lease_seconds", "hang_seconds", "actions_per_gpu"}) {
      with(absl::StrCat(field, ": ", number));
    }
  }
  for (const char* field : {"jobs", "max_failures", "lease_seconds", "hang_seconds"}) {
    with(absl::StrCat(field, ": 2147483647"), End::kAnswered);
  }
  with("retries: 2147483647");
  with("lease_seconds: 601", End::kAnswered);
  with("memory_mb: 9223372036854775807", End::kAnswered);
  with("memory_mb: 1 memory { train_mb: 9223372036854775807 infer_mb: 9223372036854775807 }", End::kAnswered);
  with("memory_per_slot_mb: 9223372036854775807", End::kAnswered);
  with("store: '/dev/zero'", End::kAnswered);
  with("store: '/proc/self/mem'", End::kAnswered);
  with("store: '\\033]0;owned\\007'", End::kAnswered);
  with("store: '\\xff\\xfe'", End::kAnswered);
  with("store: 'a\\000b'", End::kAnswered);
  with(absl::StrCat("store: '", std::string(100000, 'x'), "'"), End::kAnswered);
  with(absl::StrCat("store: '", std::string(300, 'x'), "'"), End::kAnswered);
  with("data_folder: '/dev/zero'", End::kAnswered);
  with("data_folder: '\\033[2J'", End::kAnswered);
  for (const char* number : {"-1", "0", "nan", "'1'", "-1e300"}) with(absl::StrCat("store_gb: ", number));
  for (const char* number : {"1e308", "1e-300", "inf"}) {
    with(absl::StrCat("store_gb: ", number), End::kAnswered);
    // A run reduces the store to this size when it ends.
    cases->back().command = {"run", "study.textproto", "--deploy=deploy.textproto", "--worker=/bin/true"};
    cases->back().writes = {"work/store"};
  }
  with("private: 7");
  with("devices: '\\033[2J'");
  with("devices: 'cuda:99999999999'");
  with("devices: 'cuda:-1,0,0,0'");
  with("engine: 7");
  with("slurm { warning_seconds: 70000 }");
  with("slurm { pilots: -1 }");
  with("slurm { pilots: 100001 }");
  with("slurm { idle_seconds: 0 }");
  with("slurm { poll_seconds: -1 }");
  with(absl::StrCat("slurm { option: '", std::string(1000000, '-'), "' }"), End::kAnswered);
  with("slurm { prologue: 'rm -rf /' partition: '\\nx' time: '\\033' }", End::kAnswered);
}

}  // namespace

std::vector<HostileCase> SettingCases() {
  std::vector<HostileCase> cases;
  AddVariables(&cases);
  AddTorch(&cases);
  AddDeploy(&cases);
  return cases;
}

}  // namespace openset
