// Flags and arguments, environment variables, deploy files.
#include "absl/strings/str_cat.h"
#include "tools/testing/hostile/hostile_case.h"

namespace openset {
namespace {

HostileCase Flag(const std::vector<std::string>& command, const std::string& named, End end = End::kRefused) {
  std::string what = "openset";
  for (const std::string& word : command) absl::StrAppend(&what, " ", word.substr(0, 60));
  return {"flag", what, command, Nothing, end, named};
}

void AddFlags(std::vector<HostileCase>* cases) {
  const auto refuse = [cases](const std::vector<std::string>& command, const std::string& named) {
    cases->push_back(Flag(command, named));
  };
  const auto answer = [cases](const std::vector<std::string>& command) {
    cases->push_back(Flag(command, "", End::kAnswered));
  };
  const std::string escapes = "\x1b]0;owned\a\n\xff";
  refuse({escapes}, "command");
  refuse({"help", escapes}, "command");
  refuse({"plan", escapes}, "openset");
  refuse({"plan", "study.textproto", "--" + escapes}, "flag");
  refuse({"plan", "study.textproto", "--jobs=" + escapes}, "--jobs");
  refuse({"report", "study.textproto", "--store=store", "--format=" + escapes}, "format");
  refuse({"records", escapes}, "action");
  refuse({"records", "ls", escapes, "--store=store"}, "");
  refuse({"records", "show", escapes, "--store=store"}, "");
  refuse({"explain", escapes, "--store=store"}, "");
  refuse({"show", escapes, "x"}, "");
  refuse({"show", "method", escapes}, "method");
  refuse({"list", escapes}, "");
  refuse({"eval", escapes + ".csv"}, "csv");
  refuse({"plan", std::string(100000, 'x')}, "");
  refuse({"plan", "study.textproto", "--" + std::string(100000, 'x')}, "flag");
  refuse({"plan", "study.textproto", "--data=files", "--set=" + std::string(100000, 'x')}, "--set");
  for (const char* number : {"-1", "99999999999999999999", "nan", "1e9", "0x", "1;ls"}) {
    refuse({"plan", "study.textproto", absl::StrCat("--jobs=", number)}, "--jobs");
    refuse({"plan", "study.textproto", absl::StrCat("--retries=", number)}, "--retries");
    refuse({"plan", "study.textproto", absl::StrCat("--memory_per_slot=", number)}, "--memory_per_slot");
    refuse({"eval", "scores.csv", "--ci", absl::StrCat("--replicates=", number)}, "--replicates");
  }
  for (const char* number : {"-1", "nan", "inf", "0", "1", "x"}) {
    refuse({"eval", "scores.csv", "--ci", absl::StrCat("--level=", number)}, "--level");
  }
  for (const char* number : {"-1", "nan", "-inf", "x"}) {
    refuse({"records", "gc", "--store=store", absl::StrCat("--older_than=", number)}, "--older_than");
  }
  refuse({"eval", "scores.csv", "--ci", "--replicates=2147483647"}, "--replicates");
  refuse({"eval", "scores.csv", "--metrics=fpr_at_tpr { tpr: nan }"}, "tpr");
  refuse({"eval", "scores.csv", "--metrics=" + std::string(100000, '{')}, "--metrics");
  refuse({"eval", "scores.csv", "--metrics=auroc, auroc"}, "--metrics");
  refuse({"eval", "scores.csv", "--score=energy { temperature: -1 }"}, "--score");
  refuse({"eval", "logits.npz", "--score=react {"}, "--score");
  refuse({"eval", "scores.csv", "--threads=-1"}, "--threads");
  answer({"eval", "scores.csv", "--out=/proc/nowhere/x"});
  refuse({"eval", "scores.csv", "--near=a", "--far=a"}, "");
  refuse({"records", "ls", "auroc>", "--store=store"}, "");
  refuse({"records", "ls", "((((auroc", "--store=store"}, "");
  refuse({"records", "ls", "method=" + std::string(100000, 'x') + " and", "--store=store"}, "");
  refuse({"records", "ls", "--sort=" + escapes, "--store=store"}, "");
  refuse({"records", "export", "--store=store", "--bundle=/proc/nowhere.zip"}, "/proc/nowhere.zip");
  refuse({"records", "export", "--store=store", "--bundle=store"}, "store");
  refuse({"records", "export", "--store=store", "--bundle=files/nowhere/b.zip"}, "b.zip");
  refuse({"records", "merge", "study.textproto", "--store=store"}, "study.textproto");
  refuse({"records", "spec", escapes, "--store=store"}, "");
  refuse({"reproduce", escapes, "--store=store"}, "");
  refuse({"records", "gc", "--store=files"}, "files");
  refuse({"records", "gc", "--store=/"}, "");
  refuse({"records", "verify", "--store=files"}, "files");
  refuse({"records", "merge", "files", "--store=merged"}, "files");
  refuse({"records", "merge", "/dev/zero", "--store=merged"}, "/dev/zero");
  refuse({"status", "--store=/dev/null"}, "/dev/null");
  refuse({"plan", "/dev/zero.textproto"}, "/dev/zero");
  refuse({"plan", "study.textproto", "--deploy=/dev/zero"}, "/dev/zero");
  refuse({"plan", "study.textproto", "--data=/dev/null"}, "");
  refuse({"plan", "study.textproto", "--library=/dev/null"}, "/dev/null");
  refuse({"task", "new", "../../outside/x", "--data=digits", "--known=1", "--library=."}, "outside");
  refuse({"task", "new", escapes, "--data=digits", "--known=1", "--library=."}, "");
  refuse({"task", "new", "x", "--data=digits", "--known=@/dev/zero", "--library=."}, "/dev/zero");
  refuse({"task", "new", "x", "--data=digits", "--known=2147483647", "--unknown=2147483647", "--library=."}, "");
  refuse({"data", "describe", "/dev/null"}, "/dev/null");
  for (const char* name : {"../x", ".", "a b", "x;y"}) {
    refuse({"data", "describe", "files/photos", absl::StrCat("--name=", name)}, "--name");
  }
  refuse({"data", "show", "digits", "--library=.", "--data=files", "--per_class=-1"}, "--per_class");
  refuse({"data", "show", "digits", "--library=.", "--data=files", "--tile=2147483647"}, "--tile");
  answer({"data", "show", "digits", "--library=.", "--data=files", "--per_class=2147483647", "--sheet=/proc/x.png"});
  refuse({"threshold", "scores.csv", "scores.csv", "--tpr=nan"}, "--tpr");
  refuse({"compare", "scores.csv", "nowhere.csv"}, "nowhere.csv");
  refuse({"figure", "study.textproto", "--store=store", "--data=files", "--x=" + escapes, "--y=auroc"}, "");
  answer({"report", "study.textproto", "--store=store", "--data=files", "--rows=" + escapes, "--columns=metric"});
  answer({"evaluate-worker"});
  answer({"plan", "study.textproto", "--seeds=" + std::string(3000, '9')});
  answer({"plan", "study.textproto", "--data=files", "--seeds=0..4294967295"});
  answer({"--", "--"});
  answer({""});
  refuse({"completion", escapes}, "");
}

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

void AddDeploy(std::vector<HostileCase>* cases) {
  HostileCase base{"deploy file",     "", {"plan", "study.textproto", "--deploy=deploy.textproto"}, {}, End::kRefused,
                   "deploy.textproto"};
  for (HostileCase& one : CasesOfFile(base, "work/deploy.textproto")) {
    if (one.what == "nothing in it") one.end = End::kAnswered;  // it says nothing
    cases->push_back(std::move(one));
  }
  const auto with = [&](const std::string& more, End end = End::kRefused) {
    HostileCase one = base;
    one.what = more.substr(0, 80);
    one.end = end;
    if (end != End::kRefused) one.named = "";
    one.make = [more](const Ground& ground) {
      const std::string field = more.substr(0, more.find(':') + 1);
      std::string text = ground.Read("work/deploy.textproto");
      const size_t at = text.find(field);
      if (at != std::string::npos && field.size() > 1) text.erase(at, text.find('\n', at) + 1 - at);
      ground.Write("work/deploy.textproto", text + more + "\n");
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
  with("devices: '\\033[2J'");
  with("devices: 'cuda:99999999999'");
  with("devices: 'cuda:-1,0,0,0'");
  with("engine: 7");
  with("slurm { warning_seconds: 70000 }");
  with("slurm { actions_per_task: 0 }");
  with("slurm { poll_seconds: -1 }");
  with(absl::StrCat("slurm { option: '", std::string(1000000, '-'), "' }"), End::kAnswered);
  with("slurm { prologue: 'rm -rf /' partition: '\\nx' time: '\\033' }", End::kAnswered);
}

}  // namespace

std::vector<HostileCase> FlagCases() {
  std::vector<HostileCase> cases;
  AddFlags(&cases);
  AddVariables(&cases);
  AddDeploy(&cases);
  return cases;
}

}  // namespace openset
