// Bundles with a correct signature and wrong members: specs, tasks and catalog entries, outputs and checkpoints.
// Records are in record_cases.cc, and their stream in packed_cases.cc. Cases about members in general use bundles of
// version 1, in which records are members too.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/logging.h"
#include "core/proto/record_file.h"
#include "core/testing/archive_bytes.h"
#include "experiments/spec/action.pb.h"
#include "tools/testing/hostile/fixture.h"
#include "tools/testing/hostile/hostile_case.h"

namespace openset {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Members = std::vector<ZipMember>;
using Change = std::function<void(Members*)>;

const Fixture& Any() {
  static const auto* const fixture = new Fixture();
  return *fixture;
}

Words Merge() { return {"records", "merge", "full.zip", "--store=merged"}; }

// Commands that read a bundle's library; no other library has its names.
Words Reproduce() {
  return {"reproduce", "full.zip", "--data=files", "--worker=/bin/true", "--jobs=1", "--retries=0", "--again=again"};
}
Words SpecOf() { return {"records", "spec", "full.zip", Any().trials()[0], "--data=files"}; }

HostileCase Case(const std::string& what, const Words& command, const Change& change, End end, const std::string& named,
                 BundleForm form = BundleForm::kPacked) {
  HostileCase one{"bundle", what, command, {}, end, named, {"work/merged", "work/again"}};
  one.make = [change, command, form](const Fixture& fixture) {
    Members members = BundleMembers(fixture, "work/full.zip");
    change(&members);
    WriteSigned(fixture, "work/full.zip", members, form);
    if (command[1] == "spec" || command[0] == "reproduce") fs::remove_all(fixture.Path("work/data"));
  };
  return one;
}

ZipMember& Find(const std::string& name, Members* members) {
  const auto found =
      std::find_if(members->begin(), members->end(), [&](const ZipMember& member) { return member.name == name; });
  CHECK(found != members->end()) << name;
  return *found;
}

Change Holding(const std::string& name, const std::string& content) {
  return [=](Members* members) { Find(name, members).content = content; };
}

Change With(const ZipMember& member) {
  return [=](Members* members) { members->push_back(member); };
}

ZipMember Unfolding(const std::string& name, char of, int megabytes) {
  return {name, std::string(1 << 20, of), true, 0100644, -1, megabytes};
}

// Replaces a member by one that unpacks to many megabytes.
Change Unfolds(const std::string& name, char of, int megabytes) {
  return [=](Members* members) { Find(name, members) = Unfolding(name, of, megabytes); };
}

void AddMembers(std::vector<HostileCase>* cases) {
  const auto refuse = [cases](const std::string& what, const Change& change) {
    cases->push_back(Case(what, Merge(), change, End::kRefused, "full.zip", BundleForm::kMembers));
  };
  const std::string name = "records/ab/ab" + std::string(62, '1') + ".rec", manifest = "manifest.textproto";
  refuse("no members", [](Members* members) { members->clear(); });
  for (const char* needed : {"manifest.textproto", "schema.binpb"}) {
    refuse(absl::StrCat("no ", needed), [needed](Members* members) {
      members->erase(std::remove_if(members->begin(), members->end(),
                                    [&](const ZipMember& member) { return member.name == needed; }),
                     members->end());
    });
  }
  const std::string key = Any().Record(0).outputs_key(), other(64, 'a');
  for (const std::string& strange : {std::string("../../outside/file"),
                                     std::string("/var/lib/pwn"),
                                     std::string("records/\x1b]0;x\a.rec"),
                                     std::string("records/\xff\xfe.rec"),
                                     "records/" + std::string(60000, 'x') + ".rec",
                                     std::string("records/a\0b.rec", 15),
                                     std::string("records/x"),
                                     std::string("library/methods/x.textproto"),
                                     std::string("library/specs/.x.textproto"),
                                     std::string("library/specs/../x.textproto"),
                                     std::string("library/specs/a b.textproto"),
                                     std::string("library/specs/x.textproto/y"),
                                     std::string("library/specs/$(touch pwn).textproto"),
                                     std::string("library/specs/\x1b[2J.textproto"),
                                     "library/tasks/" + std::string(101, 'n') + ".textproto",
                                     std::string("library/catalog/x.so"),
                                     std::string("library/specs/"),
                                     std::string("outputs/"),
                                     "outputs/zz/" + key + "/outputs.npz",
                                     "outputs/aa/" + other + "/evil.so",
                                     "outputs/aa/" + other + "/../../../version",
                                     "outputs/aa/" + other,
                                     "outputs/aa/" + other + "/summary.rec/x",
                                     "outputs/aa/" + other + "/state.safetensors",
                                     "outputs/AA/" + std::string(64, 'A') + "/outputs.npz",
                                     "outputs/aa/" + other + "/\x1b]0;x\a",
                                     "checkpoints/aa/" + other + "/outputs.npz",
                                     "checkpoints/aa/" + other + "/.tmp.1",
                                     std::string("version"),
                                     std::string("running/") + other,
                                     std::string("quarantine/1/reason")}) {
    refuse("a member " + strange.substr(0, 60), With({strange, "x"}));
  }
  refuse("30,000 members that no bundle has", [](Members* members) {
    for (int i = 0; i < 30000; ++i) members->push_back({"records/x", ""});
  });
  refuse("a manifest that is no text", Holding(manifest, "\xff{{{"));
  refuse("a manifest of another version", Holding(manifest, "schema_version: 2147483647\n"));
  refuse("a manifest without a version", Holding(manifest, ""));
  refuse("a manifest that counts to -1", Holding(manifest, "schema_version: 2 records: -1 replicas: -1\n"));
  refuse("a manifest of line ends that unfolds", Unfolds(manifest, '\n', 200));
  refuse("a record that unfolds", With(Unfolding(name, '\0', 200)));
  refuse("a record that says it has 4 GB", With({name, "x", false, 0100644, 0xfffffffe}));
  const auto answer = [cases](const std::string& what, const Change& change, End end) {
    cases->push_back(Case(what, Merge(), change, end, "", BundleForm::kMembers));
  };
  answer("a record that is a link", With({name, "/etc/passwd", false, 0120777}), End::kNoted);
  answer(
      "20,000 records of one byte",
      [](Members* members) {
        for (int i = 0; i < 20000; ++i) {
          const std::string id = Sha256Hex(absl::StrCat(i));
          members->push_back({absl::StrCat("records/", id.substr(0, 2), "/", id, ".rec"), "x"});
        }
      },
      End::kNoted);
  answer("a schema of noise", Holding("schema.binpb", std::string(1000, '\x0b')), End::kHarmless);
  answer("a manifest that counts wrongly", Holding(manifest, "schema_version: 2 records: 9223372036854775807\n"),
         End::kHarmless);
  answer("sums of noise", With({"SHA256SUMS", "\x1b[2J\xff"}), End::kAnswered);
  answer("the manifest twice", With({manifest, "schema_version: 2\n"}), End::kAnswered);
}

// Specs, tasks and catalog entries, which `reproduce` and `records spec` find in it.
void AddLibraries(std::vector<HostileCase>* cases) {
  struct Kind {
    const char* name;
    const char* anchor;
    std::vector<std::string> lines;
  };
  const std::vector<Kind> kinds = {
      {"specs/study", "seed: 0\n", {"seed: [0..99999999999]", "task: '../../outside/file'", "override { training {"}},
      {"tasks/task",
       "split { known: [0, 1, 2] unknown: [3, 4] }\n",
       {"split { known: [0, 2147483647] unknown: [-1] }", "drawn { level { known: 3 unknown: 2 } repeats: 2147483647 }",
        "split { known: [0, 1] unknown: [3] } external { data_set: '/etc' class_id: 0 }"}},
      {"catalog/digits",
       "height: 8\n",
       {"height: 9223372036854775807", "height: 0",
        "height: 8 fetch { urls { file { url: '-K/etc/passwd' path: 'x' } } }",
        "height: 8 layout { part { name: 'more' image_folder { path: '/etc' } } }"}}};
  for (const Kind& kind : kinds) {
    const std::string member = absl::StrCat("library/", kind.name, ".textproto");
    const auto holds = [&](const std::string& what, const Change& change) {
      for (const Words& command : {Reproduce(), SpecOf()}) {
        cases->push_back(
            Case(absl::StrCat(command[0], ", ", kind.name, ": ", what), command, change, End::kAnswered, ""));
      }
    };
    holds("nothing", Holding(member, ""));
    holds("noise", Holding(member, std::string("\x00\xff\xfe\x1b]0;x\a{{{", 12)));
    holds("100,000 open braces", Holding(member, std::string(100000, '{')));
    holds("a field that a terminal obeys", Holding(member, "\x1b[2J\xe2\x80\xae: 1\n"));
    holds("a name that leads out", Holding(member, "name: '../../outside/file'\n"));
    holds("2 MB of comments", Holding(member, std::string(2000000, '#')));
    holds("60 MB that unfold", Unfolds(member, '\n', 60));
    holds("a link", [=](Members* members) { Find(member, members) = {member, "/etc/passwd", false, 0120777}; });
    for (const std::string& line : kind.lines) {
      holds(line, [=](Members* members) {
        std::string& text = Find(member, members).content;
        const size_t at = text.find(kind.anchor);
        CHECK(at != std::string::npos) << kind.anchor;
        text.replace(at, std::string(kind.anchor).size(), line + "\n");
      });
    }
  }
  const auto many = [](Members* members) {
    for (int i = 0; i < 30; ++i)
      members->push_back(Unfolding(absl::StrCat("library/tasks/t", i, ".textproto"), '\n', 60));
  };
  const auto small = [](Members* members) {
    for (int i = 0; i < 20000; ++i) members->push_back({absl::StrCat("library/tasks/t", i, ".textproto"), "name: 't'"});
  };
  for (const Words& command : {Words{"records", "ls", "full.zip"}, Words{"report", "full.zip"}, SpecOf()}) {
    cases->push_back(Case(command[0] + ", 1.8 GB of tasks", command, many, End::kRefused, "full.zip"));
    cases->push_back(Case(command[0] + ", 20,000 tasks", command, small, End::kAnswered, ""));
  }
}

// Folders of outputs and checkpoints, under the key of their action.
void AddFolders(std::vector<HostileCase>* cases) {
  for (const bool outputs : {true, false}) {
    const std::string key = outputs ? Any().Record(0).outputs_key() : Any().Record(0).checkpoint_key();
    const std::string folder = absl::StrCat(outputs ? "outputs/" : "checkpoints/", key.substr(0, 2), "/", key, "/");
    const std::string summary = folder + "summary.rec",
                      file = folder + (outputs ? "outputs.npz" : "checkpoint.safetensors");
    const auto add = [&](const std::string& what, const Change& change, End end, const std::string& named) {
      cases->push_back(
          Case(absl::StrCat(outputs ? "outputs" : "a checkpoint", ": ", what), Merge(), change, end, named));
    };
    const auto note = [&](const std::string& what, const Change& change) { add(what, change, End::kNoted, key); };
    const auto gone = [](const std::string& name) {
      return [name](Members* members) { Find(name, members).name = "library/specs/gone.textproto"; };
    };
    note("no summary", gone(summary));
    note("no file", gone(file));
    note("a summary of noise", Holding(summary, std::string(1000, '\xff')));
    for (const std::string& payload :
         {std::string(), std::string(100000, '\x0b'), std::string("\x0a\xff\xff\xff\xff\x07")}) {
      note(absl::StrCat("a summary of ", payload.size(), " bytes"), Holding(summary, FramedRecord(payload)));
    }
    note("a file of noise", Holding(file, "noise"));
    note("nothing in its file", Holding(file, ""));
    note("a link in its file's place", [=](Members* members) {
      Find(file, members) = {file, "../../../../../outside/file", false, 0120777};
    });
    note("a file of 300 MB that unfolds", Unfolds(file, '\0', 300));
    // A valid summary of another action, which would substitute another network or its outputs.
    note("the summary of another action", [=](Members* members) {
      ZipMember& member = Find(summary, members);
      if (outputs) {
        InferSummary changed;
        CHECK(DecodeRecord(member.content, &changed).ok());
        changed.mutable_action()->mutable_train(0)->set_seed(77);
        member.content = EncodeRecord(changed);
      } else {
        TrainSummary changed;
        CHECK(DecodeRecord(member.content, &changed).ok());
        changed.mutable_action()->set_seed(77);
        member.content = EncodeRecord(changed);
      }
    });
    // Too many messages to list each key.
    add(
        "500 folders of nothing but a summary",
        [=](Members* members) {
          const std::string content = Find(summary, members).content;
          for (int i = 0; i < 500; ++i) {
            const std::string more = Sha256Hex(absl::StrCat(i));
            members->push_back(
                {absl::StrCat(outputs ? "outputs/" : "checkpoints/", more.substr(0, 2), "/", more, "/summary.rec"),
                 content});
          }
          Find(file, members).content = "x";
        },
        End::kNoted, "501 corrupt");
    add(
        "a file that says it has 4 GB", [=](Members* members) { Find(file, members).declared = 0xfffffffe; },
        End::kRefused, "full.zip");
    add(
        "modes of a program that becomes its owner",
        [](Members* members) {
          for (ZipMember& member : *members) member.mode = 0106777;
        },
        End::kHarmless, "");
    add("an action that a terminal obeys", Holding(folder + "action.textproto", "\x1b]0;x\a\xff"), End::kAnswered, "");
    add("its file twice", With({file, "other"}), End::kAnswered, "");
    // Existing outputs and checkpoints stay: nothing in the store changes.
    HostileCase there =
        Case(absl::StrCat(file.substr(file.rfind('/') + 1), " of a key that is there"),
             {"records", "merge", "full.zip", "--store=store"}, Holding(file, "other"), End::kHarmless, "");
    there.writes = {};
    cases->push_back(there);
  }
  cases->push_back(Case(
      "the saved state of a training that unfolds", Merge(),
      [](Members* members) {
        const std::string key = Any().Record(0).checkpoint_key();
        members->push_back(
            Unfolding(absl::StrCat("checkpoints/", key.substr(0, 2), "/", key, "/state.safetensors"), '\0', 300));
      },
      End::kAnswered, ""));
}

// A published study: a folder with a spec and its records.
void AddStudies(std::vector<HostileCase>* cases) {
  HostileCase base{"bundle", "of a published study", {"report", "study", "--data=files"}, {}, End::kRefused, "study"};
  base.make = [](const Fixture& fixture) {
    fixture.Write("work/study/study.textproto", fixture.Read("work/study.textproto"));
  };
  for (HostileCase& one : CasesOfFile(base, "work/study/study.zip")) cases->push_back(std::move(one));
  for (const char* action : {"ls", "verify"}) {
    HostileCase looked{"bundle", action, {"records", action, "full.zip"}, {}, End::kRefused, "full.zip"};
    for (HostileCase& one : CasesOfFile(looked, "work/full.zip")) cases->push_back(std::move(one));
  }
}

}  // namespace

std::vector<HostileCase> BundleCases() {
  std::vector<HostileCase> cases;
  AddMembers(&cases);
  AddLibraries(&cases);
  AddFolders(&cases);
  AddStudies(&cases);
  return cases;
}

}  // namespace openset
