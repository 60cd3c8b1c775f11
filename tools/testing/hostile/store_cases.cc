// The content of a store except records: checkpoints, outputs, claims, logs; and the user's cache.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/formats/npy.h"
#include "core/proto/record_file.h"
#include "core/testing/archive_bytes.h"
#include "experiments/spec/action.pb.h"
#include "experiments/store/processes/run_state.pb.h"
#include "tools/testing/hostile/hostile_case.h"

namespace openset {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

const Fixture& Any() {
  static const auto* const fixture = new Fixture();
  return *fixture;
}

const Words& Verify() {
  static const auto* const words = new Words{"records", "verify", "--store=store"};
  return *words;
}

// If the first trial's record is missing, `run` has to evaluate its existing outputs.
Words RunWords() { return {"run", "study.textproto", "--deploy=deploy.textproto", "--worker=/bin/true"}; }

void AddResults(std::vector<HostileCase>* cases) {
  static const std::string* const checkpoint = new std::string(Any().CheckpointPath(0));
  static const std::string* const outputs = new std::string(Any().OutputsPath(0));
  const auto add = [&](const HostileCase& base, const std::string& path) {
    for (HostileCase& one : CasesOfFile(base, path)) cases->push_back(std::move(one));
  };
  for (const char* file : {"checkpoint.safetensors", "summary.rec", "action.textproto"}) {
    HostileCase base{"checkpoint", file, Verify(), {}, End::kNoted, file, {"work/store"}};
    add(base, absl::StrCat(*checkpoint, "/", file));
  }
  for (const char* file : {"outputs.npz", "summary.rec"}) {
    HostileCase base{"outputs", file, Verify(), {}, End::kNoted, file, {"work/store"}};
    add(base, absl::StrCat(*outputs, "/", file));
  }
  HostileCase again{"outputs", "for an evaluation", RunWords(), {}, End::kAnswered, "", {"work/store"}};
  again.make = [](const Fixture& fixture) { fs::remove(fixture.Path(fixture.RecordPath(0))); };
  add(again, *outputs + "/outputs.npz");
  HostileCase place{"checkpoint", "in the folder's place", Verify(), {}, End::kAnswered, "", {"work/store"}};
  add(place, *checkpoint);
  // Summaries with other content and correct checksums.
  for (const std::string& payload : {std::string(), std::string(100000, '\x0b'),
                                     std::string("\x0a\xff\xff\xff\xff\x07"), std::string(1000, '\xff')}) {
    HostileCase one{
        "checkpoint",  absl::StrCat("a summary of ", payload.size(), " bytes"), Verify(), {}, End::kNoted, "",
        {"work/store"}};
    one.make = [payload](const Fixture& fixture) {
      fixture.Write(*checkpoint + "/summary.rec", FramedRecord(payload));
    };
    cases->push_back(one);
    one.input = "outputs";
    one.make = [payload](const Fixture& fixture) { fixture.Write(*outputs + "/summary.rec", FramedRecord(payload)); };
    cases->push_back(one);
  }
  // Outputs whose digest is in the summary.
  for (const auto& [what, array] : std::vector<std::pair<std::string, NpyArray>>{
           {"labels beyond the outputs", MakeNpy(std::vector<int64_t>(50, 1000000000), {50})},
           {"labels below -1", MakeNpy(std::vector<int64_t>(50, std::numeric_limits<int64_t>::min()), {50})},
           {"labels of another length", MakeNpy(std::vector<int64_t>(3, 0), {3})},
           {"a label", MakeNpy(std::vector<int64_t>{0}, {})},
           {"labels that are texts", MakeNpy({"a", "b"})}}) {
    HostileCase one{"outputs", what, RunWords(), {}, End::kNoted, "", {"work/store"}};
    one.make = [array](const Fixture& fixture) {
      const std::string logits = FormatNpy(MakeNpy(std::vector<float>(150, 0.5F), {50, 3}));
      const std::string bytes =
          ZipBytes({{"label.npy", FormatNpy(array)}, {"logits.npy", logits}, {"class_id.npy", FormatNpy(array)}});
      InferSummary summary;
      ReadRecordFile(fixture.Path(*outputs + "/summary.rec"), &summary).IgnoreError();
      summary.set_outputs_sha256(Sha256Hex(bytes));
      fixture.Write(*outputs + "/summary.rec", EncodeRecord(summary));
      fixture.Write(*outputs + "/outputs.npz", bytes);
      fs::remove(fixture.Path(fixture.RecordPath(0)));
    };
    cases->push_back(one);
  }
}

// Claims on the missing evaluation, and the states of their processes.
void AddClaims(std::vector<HostileCase>* cases) {
  const auto add = [&](const std::string& what, const std::function<void(const Fixture&, const std::string&)>& put,
                       End end = End::kAnswered) {
    HostileCase one{"claim", what, RunWords(), {}, end, "", {"work/store"}};
    one.make = [put](const Fixture& fixture) {
      fs::remove(fixture.Path(fixture.RecordPath(0)));
      fs::create_directories(fixture.Path("work/store/running"));
      fs::create_directories(fixture.Path("work/store/runs"));
      put(fixture, fixture.trials()[0]);
    };
    cases->push_back(one);
  };
  const std::string running = "work/store/running/";
  const std::string other = "elsewhere.01234567.1.1";
  add("two that name each other", [=](const Fixture& fixture, const std::string& key) {
    fixture.Write(running + key, other + "+1\n");
    fixture.Write(running + key + "~" + other + "+1", other + "+2\n");
    fixture.Write(running + key + "~" + other + "+2", other + "+1\n");
  });
  add("one that names itself", [=](const Fixture& fixture, const std::string& key) {
    fixture.Write(running + key, other + "+1\n");
    fixture.Write(running + key + "~" + other + "+1", other + "+1\n");
  });
  add("a chain of 20,000", [=](const Fixture& fixture, const std::string& key) {
    fixture.Write(running + key, other + "+0\n");
    for (int i = 0; i < 20000; ++i) {
      std::ofstream(fixture.Path(absl::StrCat(running, key, "~", other, "+", i))) << other << "+" << i + 1 << "\n";
    }
  });
  for (const std::string& name :
       {std::string(), std::string("x"), std::string("../../../outside/file"), std::string("a/b"),
        std::string("\x1b]0;owned\a+1"), std::string("\xff\xfe+1"), std::string(255, 'x'), std::string(100000, 'x'),
        std::string("....+1"), std::string("a.b.99999999999999.1+1"), std::string("a\0b+1", 5)}) {
    add(absl::StrCat("one of the name ", name.substr(0, 20)),
        [=](const Fixture& fixture, const std::string& key) { fixture.Write(running + key, name + "\n"); });
  }
  const auto state = [&](const std::string& what, const std::function<void(RunState*)>& change) {
    add("a process whose " + what, [=](const Fixture& fixture, const std::string& key) {
      RunState lives;
      lives.set_id(other), lives.set_host("elsewhere"), lives.set_pid(1), lives.set_sequence(1);
      lives.set_lease_seconds(1), lives.set_experiment("study");
      change(&lives);
      fixture.Write(running + key, other + "+1\n");
      fixture.Write("work/store/runs/" + other + ".rec", EncodeRecord(lives));
    });
  };
  state("lease is 2^31 - 1 seconds", [](RunState* s) { s->set_lease_seconds(std::numeric_limits<int32_t>::max()); });
  state("lease is -1 seconds", [](RunState* s) { s->set_lease_seconds(-1); });
  state("id is another's", [](RunState* s) { s->set_id("../../../outside/file"); });
  state("id has control characters", [](RunState* s) { s->set_id("\x1b]0;x\a.1.1.1"), s->set_host("\x1b[2J"); });
  state("host is not UTF-8", [](RunState* s) { s->set_host("\xff\xfe"); });
  state("numbers are extreme", [](RunState* s) {
    s->set_sequence(std::numeric_limits<int64_t>::min()), s->set_actions(-1), s->set_ended(1 << 30);
    s->set_fraction(-1e308), s->set_seconds_left(1e308);
  });
  for (const char* command : {"run", "status"}) {
    for (const std::string place : {"running/KEY", "runs/elsewhere.01234567.1.1.rec"}) {
      HostileCase base{"claim", absl::StrCat(command, ", ", place), RunWords(), {}, End::kAnswered, "", {"work/store"}};
      if (command == std::string("status")) base.command = {"status", "study.textproto", "--deploy=deploy.textproto"};
      base.make = [](const Fixture& fixture) { fs::remove(fixture.Path(fixture.RecordPath(0))); };
      std::string path = "work/store/" + place;
      if (place == "running/KEY") path = "work/store/running/" + Any().trials()[0];
      for (HostileCase& one : CasesOfFile(base, path)) cases->push_back(std::move(one));
    }
  }
  HostileCase shown{"claim", "what a process says of itself", {"status", "--store=store"}, {}, End::kHarmless, ""};
  shown.make = [other](const Fixture& fixture) {
    RunState lives;
    lives.set_id(other), lives.set_host("\x1b[2J"), lives.set_experiment("\x1b]0;x\a\xff"), lives.set_slurm_job("\n\n");
    lives.set_fraction(1e308), lives.set_seconds_left(1e308);
    RunningAction* action = lives.add_running();
    action->set_description("\xe2\x80\xae x"), action->set_what("\x1b"), action->set_metric("\x9b"),
        action->set_kind("\n");
    action->set_epoch(-1), action->set_epochs(std::numeric_limits<int32_t>::max()), action->set_loss(1e308);
    fixture.Write("work/store/runs/" + other + ".rec", EncodeRecord(lives));
  };
  cases->push_back(shown);
}

void AddLogs(std::vector<HostileCase>* cases) {
  static const std::string* const key = new std::string(Any().Record(0).checkpoint_key());
  HostileCase base{"log", "", {"explain", Any().trials()[0], "--store=store"}, {}, End::kAnswered, ""};
  for (HostileCase& one : CasesOfFile(base, "work/store/logs/" + *key + ".log")) cases->push_back(std::move(one));
  // Failed attempts: `status` and the report show why they failed.
  HostileCase failed{"log", "an attempt",   {"status", "study.textproto", "--store=store", "--data=files"},
                     {},    End::kAnswered, ""};
  for (HostileCase& one : CasesOfFile(failed, "work/store/attempts/" + *key + "/1.rec"))
    cases->push_back(std::move(one));
  for (const std::string& text : {std::string("\x1b]0;owned\a"), std::string("\xff\xfe"), std::string("a\nb\nc"),
                                  std::string(1000000, 'x'), std::string("\xe2\x80\xae"), std::string("</script>")}) {
    for (const Words& command :
         {failed.command, {"report", "study.textproto", "--store=store", "--data=files", "--format=html"}}) {
      HostileCase one = failed;
      one.what = absl::StrCat("an attempt that failed by ", text.substr(0, 20));
      one.command = command;
      one.make = [text](const Fixture& fixture) {
        const std::string evaluation = fixture.trials()[0];
        fs::remove(fixture.Path(fixture.RecordPath(0)));
        FailureRecord failure;
        failure.set_schema_version(2), failure.set_kind(text), failure.set_key(evaluation);
        failure.set_description(text), failure.set_message(text), failure.set_log_tail(text), failure.set_host(text);
        failure.set_code(99), failure.set_epoch(-1);
        failure.set_failed_at_seconds(std::numeric_limits<int64_t>::max());
        fixture.Write("work/store/attempts/" + evaluation + "/1.rec", EncodeRecord(failure));
      };
      cases->push_back(one);
    }
  }
  HostileCase number{"log", "the attempt of number 2147483647", failed.command, {}, End::kAnswered, ""};
  number.make = [](const Fixture& fixture) {
    for (const char* n : {"2147483647", "99999999999999999999", "-1", "0", "x"}) {
      fixture.Write(absl::StrCat("work/store/attempts/", fixture.trials()[0], "/", n, ".rec"), "x");
    }
  };
  cases->push_back(number);
}

// The folders of a store, and the names in them.
void AddStores(std::vector<HostileCase>* cases) {
  const auto add = [&](const std::string& what, const Words& command, End end, const std::string& named,
                       const std::function<void(const Fixture&)>& make, std::vector<std::string> writes = {}) {
    cases->push_back({"store", what, command, make, end, named, std::move(writes)});
  };
  HostileCase version{"store", "version", {"records", "ls", "--store=store"}, {}, End::kRefused, "store"};
  for (HostileCase& one : CasesOfFile(version, "work/store/version")) cases->push_back(std::move(one));
  add("the quarantine of number 2147483647", Verify(), End::kNoted, "",
      [](const Fixture& fixture) {
        fixture.Write("work/store/quarantine/2147483647/reason", "x\n");
        fixture.Write(fixture.RecordPath(0), "x");
      },
      {"work/store"});
  add("reasons that a terminal obeys", Verify(), End::kAnswered, "",
      [](const Fixture& fixture) { fixture.Write("work/store/quarantine/1/reason", "\x1b]0;x\a\n"); }, {"work/store"});
  for (const char* room : {"records", "checkpoints", "outputs", "replicas", "attempts", "quarantine", "runs", "running",
                           "logs", "tmp", "partial", "programs", "slurm", "data", "reports"}) {
    const std::string path = absl::StrCat("work/store/", room);
    add(absl::StrCat(room, " is a link to other people's files"), {"records", "gc", "--store=store", "--older_than=0"},
        End::kRefused, absl::StrCat("store/", room, ": is a link"),
        [path](const Fixture& fixture) {
          fs::remove_all(fixture.Path(path));
          fs::create_directory_symlink(fixture.Path("outside"), fixture.Path(path));
        },
        {"work/store"});
    add(absl::StrCat(room, " is a pipe"), Verify(), End::kAnswered, "",
        [path](const Fixture& fixture) {
          fs::remove_all(fixture.Path(path));
          mkfifo(fixture.Path(path).c_str(), 0600);
        },
        {"work/store"});
    add(absl::StrCat("in ", room, " names that a terminal obeys"), Verify(), End::kAnswered, "",
        [path](const Fixture& fixture) {
          fixture.Write(path + "/\x1b]0;x\a", "x");
          fixture.Write(path + "/\xff\xfe", "x");
          fixture.Write(path + "/a\nb", "x");
        },
        {"work/store"});
  }
  // Old files with names similar to temporary files, which are not ours.
  for (const char* name : {"my.tmp.notes/file", "thesis.tmp.2024", "x.tmp.", ".tmp.1", "a.tmp.host.1.1.1/file"}) {
    for (const Words& command : {Words{"records", "gc", "--store=store", "--older_than=0"}, Verify()}) {
      add(absl::StrCat("somebody's ", name), command, End::kAnswered, "",
          [name](const Fixture& fixture) {
            fixture.Write(absl::StrCat("work/store/", name), "x");
            const auto old = fs::file_time_type::clock::now() - std::chrono::hours(24 * 100);
            for (const auto& entry : fs::recursive_directory_iterator(fixture.Path("work/store"))) {
              if (entry.is_regular_file() || entry.is_directory()) fs::last_write_time(entry.path(), old);
            }
          },
          {"work/store/tmp", "work/store/quarantine", "work/store/logs"});
    }
  }
  HostileCase folder{
      "store", "gc in a folder that is none", {"records", "gc", "--store=files", "--older_than=0"}, {}, End::kRefused,
      "files"};
  folder.make = [](const Fixture& fixture) { fixture.Write("work/files/my.tmp.notes/file", "x"); };
  cases->push_back(folder);
}

// A limit on the store's size: files that are not the store's stay, even if they are old and large.
void AddSizes(std::vector<HostileCase>* cases) {
  const auto add =
      [&](const std::string& what, const std::function<void(const Fixture&)>& make,
          std::vector<std::string> writes = {"work/store/checkpoints", "work/store/outputs", "work/store/tmp"},
          End end = End::kAnswered) {
        HostileCase one{"store", "gc --max_size: " + what, {"records", "gc", "--store=store", "--max_size=0"}, {}, end,
                        "",      std::move(writes)};
        one.make = [make](const Fixture& fixture) {
          make(fixture);
          const auto old = fs::file_time_type::clock::now() - std::chrono::hours(24 * 100);
          for (const char* folder : {"work/store", "outside"}) {
            for (const auto& entry : fs::recursive_directory_iterator(fixture.Path(folder))) {
              if (entry.is_symlink()) continue;
              if (entry.is_regular_file() || entry.is_directory()) fs::last_write_time(entry.path(), old);
            }
          }
        };
        cases->push_back(one);
      };
  add("all of it", [](const Fixture&) {});
  static const std::string* const key = new std::string(Any().Record(0).outputs_key());
  for (const char* room : {"checkpoints", "outputs", "logs", "quarantine", "tmp"}) {
    const std::string path = absl::StrCat("work/store/", room);
    add(
        absl::StrCat(room, " leads to other people's files"),
        [path](const Fixture& fixture) {
          fs::remove_all(fixture.Path(path));
          fs::create_directory_symlink(fixture.Path("outside"), fixture.Path(path));
        },
        {}, End::kRefused);
    add(absl::StrCat("in ", room, " a link to other people's files"),
        [path](const Fixture& fixture) {
          fs::create_directories(fixture.Path(path + "/" + key->substr(0, 2)));
          fs::create_directory_symlink(fixture.Path("outside/folder"),
                                       fixture.Path(absl::StrCat(path, "/", key->substr(0, 2), "/aa", key->substr(2))));
          fs::create_directory_symlink(fixture.Path("outside/folder"), fixture.Path(path + "/1"));
        },
        {"work/store/checkpoints", "work/store/outputs", "work/store/tmp", "work/store/logs", "work/store/quarantine"});
    add(absl::StrCat("in ", room, " somebody's notes"), [path](const Fixture& fixture) {
      fixture.Write(path + "/my notes/file", "x");
      fixture.Write(path + "/ab/notes", "x");
    });
  }
  add("a file of a petabyte", [](const Fixture& fixture) {
    fixture.Write("work/store/logs/large", "x");
    std::error_code too_large_for_the_disk;
    fs::resize_file(fixture.Path("work/store/logs/large"), uint64_t{1} << 50, too_large_for_the_disk);
  });
  add("a record that can't be read", [](const Fixture& fixture) { fixture.Write(fixture.RecordPath(0), "x"); });
}

// The request of `openset score`, stored next to its report.
void AddRequests(std::vector<HostileCase>* cases) {
  const std::string path = "work/store/reports/score_net/score.textproto";
  for (const char* command : {"report", "status"}) {
    HostileCase base{"store",
                     absl::StrCat(command, ", a request of score"),
                     {command, "score_net", "--store=store", "--data=files", "--library=."},
                     {},
                     End::kAnswered,
                     ""};
    for (HostileCase& one : CasesOfFile(base, path)) cases->push_back(std::move(one));
    std::string nested, many;
    for (int i = 0; i < 90; ++i) nested += "also { ";
    nested += std::string(90, '}');
    for (int i = 0; i < 20000; ++i) many += "also { task: 'task' split: 0 methods: 'plain' }\n";
    for (const std::string& text :
         {std::string("model: '/dev/zero' task: 'task'"), std::string("model: '\\033[2J' task: '\\377'"),
          std::string("model: 'weights.safetensors' network: '../../x' task: 'task'"),
          std::string("model: 'net.pt' task: '../../outside/file' split: -1 size: 2147483647 channels: -1"),
          std::string("model: 'net.pt' task: 'task' mean: nan std: 0 outputs: -2147483648 outputs: 2147483647"),
          "model: 'net.pt' task: 'task' " + nested, "model: 'net.pt' task: 'task' " + many}) {
      HostileCase one = base;
      absl::StrAppend(&one.what, ": ", text.substr(0, 60));
      one.make = [path, text](const Fixture& fixture) {
        fixture.Write(path, "folder: '" + fixture.Path("work") + "'\n" + text);
      };
      cases->push_back(one);
    }
  }
}

// ~/.cache/openset, which only the user can write, or a faulty program of theirs.
void AddCaches(std::vector<HostileCase>* cases) {
  for (const char* file : {"records", "digests", "probes", "data"}) {
    HostileCase base{"cache", file,           {"report", "study.textproto", "--store=store", "--data=files"},
                     {},      End::kAnswered, ""};
    for (HostileCase& one : CasesOfFile(base, absl::StrCat("home/.cache/openset/", file)))
      cases->push_back(std::move(one));
  }
  HostileCase home{"cache", "the folder",   {"plan", "study.textproto", "--store=store", "--data=files"},
                   {},      End::kAnswered, ""};
  for (HostileCase& one : CasesOfFile(home, "home/.cache")) cases->push_back(std::move(one));
}

}  // namespace

std::vector<HostileCase> StoreCases() {
  std::vector<HostileCase> cases;
  AddResults(&cases);
  AddClaims(&cases);
  AddLogs(&cases);
  AddStores(&cases);
  AddSizes(&cases);
  AddRequests(&cases);
  AddCaches(&cases);
  return cases;
}

}  // namespace openset
