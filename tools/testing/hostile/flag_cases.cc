// Flags and arguments.
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

// Flags about the store's size, tables, comparisons, named networks and repeated trials.
void AddMore(std::vector<HostileCase>* cases) {
  const auto refuse = [cases](const std::vector<std::string>& command, const std::string& named) {
    cases->push_back(Flag(command, named));
  };
  const auto answer = [cases](const std::vector<std::string>& command) {
    cases->push_back(Flag(command, "", End::kAnswered));
  };
  const std::string escapes = "\x1b]0;owned\a\n\xff";
  for (const std::string& size :
       {std::string("-1"), std::string("-1GB"), std::string("nan"), std::string("inf"), std::string("1e400"),
        std::string("x"), std::string("GB"), std::string("1GBB"), std::string("0x10"), std::string("1,5GB"),
        std::string("99999999999999999999GB"), std::string("1;ls"), escapes, std::string(100000, '9')}) {
    refuse({"records", "gc", "--store=store", "--max_size=" + size}, "--max_size");
  }
  for (const char* size : {"0", "1e-300GB", "1e18", "0.0001TB", " 1 GB "}) {
    answer({"records", "gc", "--store=store", "--dry_run", absl::StrCat("--max_size=", size)});
  }
  refuse({"records", "gc", "--store=files", "--max_size=1GB"}, "files");
  refuse({"records", "gc", "--store=store", "--checkpoints_older_than=nan x"}, "--checkpoints_older_than");
  for (const std::string& query : {std::string(), std::string(" \t\n"), std::string("trial=2"), std::string("auroc>"),
                                   std::string("no_such_field=1"), std::string("seed=x"), escapes,
                                   "((((" + std::string(100000, '('), std::string("split=0 and")}) {
    refuse({"records", "rm", query, "--store=store", "--dry_run"}, "");
    refuse({"records", "ls", "full.zip", query.empty() ? "(" : query}, "");
  }
  refuse({"records", "rm", "split=0", "--store=store"}, "");  // nobody can be asked
  refuse({"records", "rm", "split=0", "--store=files"}, "files");
  refuse({"records", "export", "--store=store", "--bundle=out.zip", "--with=" + escapes}, "--with");
  refuse({"records", "export", "--store=store", "--bundle=out.zip", "--with=outputs,outputs,x"}, "--with");
  for (const char* digits : {"-2", "13", "2147483647", "nan", "99999999999"}) {
    refuse({"report", "study.textproto", "--store=store", "--data=files", absl::StrCat("--digits=", digits)},
           "--digits");
  }
  for (const std::string& word : {escapes, std::string("sem"), std::string(100000, 'x')}) {
    refuse({"report", "study.textproto", "--store=store", "--data=files", "--spread=" + word}, "--spread");
    refuse({"report", "study.textproto", "--store=store", "--data=files", "--sort=" + word}, "");
    refuse({"compare", "study.textproto", "--store=store", "--data=files", "--baseline=" + word}, "");
    refuse({"compare", "study.textproto", "--store=store", "--data=files", "--set", word}, "");
    refuse({"score", "--model=weights.safetensors", "--network=" + word, "--task=task", "--split=0", "--library=."},
           "network");
    refuse({"task", "new", "mine", "--data=digits", "--known=1,2", "--near=" + word, "--library=."}, "");
    refuse({"task", "new", "mine", "--data=digits", "--known=1,2", "--far=" + word, "--library=."}, "");
    refuse({"devices", word}, "");
    refuse({"plan", "study.textproto", "--data=files", "--devices=" + word}, "--devices");
    refuse({"reproduce", word, "--store=store"}, "");
    refuse({"report", word + ".zip"}, "");
  }
  refuse({"task", "new", "mine", "--data=digits", "--known=1,2", "--near=/dev/zero", "--library=."}, "/dev/zero");
  refuse({"task", "new", "mine", "--data=digits", "--known=1,2", "--far=digits,digits", "--library=."}, "");
  const std::vector<std::string> score = {"score",
                                          "--model=weights.safetensors",
                                          "--network=resnet18_cifar",
                                          "--task=task",
                                          "--split=0",
                                          "--library=.",
                                          "--data=files",
                                          "--store=scored",
                                          "--worker=/bin/true"};
  for (const char* more : {"--outputs=-1", "--outputs=nan", "--size=-1", "--size=2147483647", "--channels=0",
                           "--channels=2147483647", "--mean=x", "--std=x", "--train_limit=-1", "--test_limit=-1",
                           "--split=-1", "--split=99999999999", "--methods=../../outside/file", "--model=/dev/zero",
                           "--model=files", "--model=nowhere.pth", "--weights=/dev/zero", "--head=fc", "--features"}) {
    std::vector<std::string> command = score;
    command.push_back(more);
    refuse(command, "");
  }
  for (const char* more : {"--mean=nan", "--std=0", "--std=inf", "--mean=1e308,1e308,1e308", "--outputs=0,0,0",
                           "--outputs=2147483647,1,2"}) {
    std::vector<std::string> command = score;
    command.push_back(more);
    answer(command);
    cases->back().writes = {"work/scored"};
  }
  refuse({"reproduce", "full.zip", "--trials=-1"}, "--trials");
  refuse({"reproduce", "full.zip", "--trials=nan"}, "--trials");
  refuse({"reproduce", "full.zip", "--data=files", "--again=/dev/null"}, "/dev/null");
  refuse({"reproduce", "/dev/zero", "--store=store"}, "");
  refuse({"report", "/dev/zero.zip"}, "/dev/zero");
  refuse({"report", "auroc>", "--store=store"}, "");
  refuse({"report", "((((split=0", "--store=store"}, "");
  refuse({"compare", "study.textproto", "--set=training.epochs=-1", "--store=store", "--data=files"},
         "training.epochs");
  answer({"compare", "study.textproto", "--all_pairs", "--store=store", "--data=files", "--replicates=1"});
}

}  // namespace

std::vector<HostileCase> FlagCases() {
  std::vector<HostileCase> cases;
  AddFlags(&cases);
  AddMore(&cases);
  return cases;
}

}  // namespace openset
