// Text files from other people: specs, methods, presets, tasks, catalogs, published tables.
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/testing/hostile/hostile_case.h"

namespace openset {
namespace {

const std::vector<std::string>& Plan() {
  static const auto* const plan = new std::vector<std::string>{"plan", "study.textproto", "--data=files"};
  return *plan;
}

// A text file: its path, and a text in it after which fields can be inserted.
struct TextInput {
  std::string input, path, anchor;
  std::vector<std::string> command;
  bool listed = false;  // also read by commands that look at all of its folder
};

std::vector<TextInput> TextInputs() {
  return {{"spec", "work/study.textproto", "seed: 0\n", Plan()},
          {"method", "work/experiments/methods/plain.textproto", "score { max_softmax {} }\n", Plan()},
          {"preset", "work/experiments/presets/short.textproto", "training { epochs: 1 }\n", Plan()},
          {"task", "work/data/tasks/task.textproto", "data_set: \"digits\"\n", Plan()},
          {"catalog", "work/data/catalog/digits.textproto", "channels: 1\n", Plan()},
          {"published table",
           "work/experiments/published/table.textproto",
           "table: \"Table 1\"\n",
           {"report", "study.textproto", "--store=store", "--data=files"}}};
}

// Cases for any text file.
std::vector<HostileCase> CasesOfText(const TextInput& of) {
  const std::string file = of.path.substr(of.path.rfind('/') + 1);
  HostileCase base{of.input, "", of.command, {}, End::kRefused, file};
  std::vector<HostileCase> cases = CasesOfFile(base, of.path);
  // A preset may be empty.
  if (of.input == "preset") cases[0].end = End::kHarmless, cases[0].named = "";
  const auto with = [&](const std::string& what, const std::string& more) {
    HostileCase one = base;
    one.what = what;
    one.make = [of, more](const Fixture& fixture) { fixture.Replace(of.path, of.anchor, of.anchor + more); };
    cases.push_back(one);
  };
  with("an unknown field with control characters", "x\x1b[2Jy: 1\n");
  with("an unknown field that is long", std::string(100000, 'x') + ": 1\n");
  with("a field twice", of.anchor == "seed: 0\n" ? "name: 'study' name: 'study'\n" : of.anchor + of.anchor);
  with("an open brace", "{");
  with("a text that does not end", "note: 'x");
  with("100,000 open braces", std::string(100000, '{'));
  with("a number that is none", "name: 1e999\n");
  with("a value of another type", "name { x: 1 }\n");
  with("an extension", "[openset.evil]: 1\n");
  with("a type of anything", "[type.googleapis.com/openset.Evil] { }\n");
  with("a zero byte", std::string("\0", 1));
  with("2 MB of comments and a mistake", std::string(2000000, '#') + "\nx: 1\n");
  with("an escape of nothing", "note: '\\xZZ'\n");
  return cases;
}

// Names that are looked up, become files, go to a terminal, or to a shell.
std::vector<std::string> HostileNames() {
  return {"../../outside/file",
          "/etc/passwd",
          "x';touch pwn;'",
          "y$(touch pwn)",
          "`touch pwn`",
          "a\\nb",
          "\\033]0;owned\\007",
          "\\xff\\xfe",
          "\\342\\200\\256gnp",
          "\\302\\23331m",
          "-rf",
          ".",
          "..",
          "",
          std::string(101, 'n'),
          std::string(100000, 'n'),
          "a b",
          "a/b",
          "\\000",
          "<script>",
          "=1+1",
          "%s%n"};
}

HostileCase Case(const std::string& input, const std::string& what, const std::function<void(const Fixture&)>& make,
                 const std::string& named, End end = End::kRefused) {
  return {input, what, Plan(), make, end, named};
}

void AddNames(std::vector<HostileCase>* cases) {
  for (const std::string& name : HostileNames()) {
    const std::string what = absl::StrCat("the name ", name.substr(0, 30));
    const auto replaced = [name](const std::string& path, const std::string& from, const std::string& to) {
      return [=](const Fixture& fixture) { fixture.Replace(path, from, to + "\"" + name + "\""); };
    };
    cases->push_back(
        Case("spec", what, replaced("work/study.textproto", "name: \"study\"", "name: "), "study.textproto"));
    cases->push_back(Case("spec", what + " of a task", replaced("work/study.textproto", "task: \"task\"", "task: "),
                          "study.textproto"));
    cases->push_back(Case("spec", what + " of a method", replaced("work/study.textproto", "\"pairs+short\"", ""),
                          "study.textproto"));
    cases->push_back(Case(
        "spec", what + " of a preset",
        [name](const Fixture& fixture) {
          fixture.Replace("work/study.textproto", "\"pairs+short\"", "\"pairs+" + name + "\"");
        },
        "study.textproto"));
    // An axis's name is shown, never looked up.
    cases->push_back(Case(
        "spec", what + " of an axis",
        [name](const Fixture& fixture) {
          fixture.Replace("work/study.textproto", "seed: 0\n",
                          "seed: 0\naxis { path: 'training.epochs' value: ['1', '2'] name: \"" + name + "\" }\n");
        },
        "", End::kAnswered));
    cases->push_back(Case("method", what,
                          replaced("work/experiments/methods/plain.textproto", "name: \"plain\"", "name: "),
                          "plain.textproto"));
    cases->push_back(
        Case("task", what, replaced("work/data/tasks/task.textproto", "name: \"task\"", "name: "), "task.textproto"));
    cases->push_back(Case("task", what + " of a data set",
                          replaced("work/data/tasks/task.textproto", "data_set: \"digits\"", "data_set: "), "task"));
    cases->push_back(Case(
        "task", what + " of a group",
        [name](const Fixture& fixture) {
          fixture.Replace("work/data/tasks/task.textproto", "data_set: \"digits\"\n",
                          "data_set: \"digits\" unknown { group: \"" + name + "\" data_set: 'digits' class_id: 4 }\n");
        },
        "task.textproto", name.empty() ? End::kAnswered : End::kRefused));
    cases->push_back(Case("catalog", what, replaced("work/data/catalog/digits.textproto", "name: \"digits\"", "name: "),
                          "digits.textproto"));
    HostileCase file =
        Case("catalog", what + " of a file",
             replaced("work/data/catalog/digits.textproto", "\"digits/test-images\"", ""), "", End::kNoted);
    file.command = {"data", "verify", "digits", "--library=.", "--data=files"};
    cases->push_back(file);
    // A plan needs no data: it reports missing files and continues.
    file.command = Plan();
    file.end = End::kAnswered;
    file.named = "";
    cases->push_back(file);
    // Class names are shown, never looked up: most of these are harmless.
    HostileCase shown = Case("catalog", what + " of a class",
                             replaced("work/data/catalog/digits.textproto", "\"zero\"", ""), "", End::kAnswered);
    shown.command = {"show", "data", "digits"};
    cases->push_back(shown);
    // A file with such a name.
    if (name.find_first_of("/\\") == std::string::npos && name.size() < 200 && !name.empty() && name[0] != '.') {
      HostileCase completed{"method", "a file called " + name, {"complete", ":show", ":methods", ":"},
                            {},       End::kHarmless,          ""};
      completed.make = [name](const Fixture& fixture) {
        fixture.Write("work/experiments/methods/" + name + ".textproto", "base: 'plain'\n");
      };
      completed.environment = {{"OPENSET_LIBRARY", "."}};
      cases->push_back(completed);
      completed.command = {"list", "methods", "--library=."};
      cases->push_back(completed);
    }
  }
}

void AddReferences(std::vector<HostileCase>* cases) {
  const auto method = [](const std::string& from, const std::string& to) {
    return [=](const Fixture& fixture) { fixture.Replace("work/experiments/methods/plain.textproto", from, to); };
  };
  cases->push_back(Case("method", "a base that is itself", method("name: \"plain\"", "name: 'plain' base: 'plain'"),
                        "plain.textproto"));
  cases->push_back(
      Case("method", "a base that comes back", method("name: \"plain\"", "name: 'plain' base: 'pairs'"), ".textproto"));
  cases->push_back(Case(
      "method", "10,000 bases",
      [](const Fixture& fixture) {
        for (int i = 0; i < 2000; ++i) {
          fixture.Write(absl::StrCat("work/experiments/methods/b", i, ".textproto"),
                        absl::StrCat("name: 'b", i, "' base: 'b", i + 1, "'\n"));
        }
        fixture.Replace("work/study.textproto", "\"pairs+short\"", "\"b0\"");
      },
      "b1999"));
  cases->push_back(Case(
      "preset", "1,000 presets",
      [](const Fixture& fixture) {
        std::string name = "\"pairs";
        for (int i = 0; i < 1000; ++i) name += "+short";
        fixture.Replace("work/study.textproto", "\"pairs+short\"", name + "\"");
      },
      "", End::kAnswered));
  for (const char* file :
       {"/dev/zero", "../../outside/file", "/", "", "nowhere", "data:../../x", "{split}", "/dev/stdin"}) {
    cases->push_back(
        Case("method", absl::StrCat("weights in ", file),
             method("head { linear {} }", absl::StrCat("head { linear {} } weights { file: \"", file, "\" }")),
             "plain.textproto", std::string(file) == "../../outside/file" ? End::kAnswered : End::kRefused));
  }
  cases->push_back(
      Case("method", "a network that is a text",
           method("osrci_cnn {} head { linear {} }", "torch_script { file: '../presets/short.textproto' }"), "",
           End::kAnswered));
  HostileCase twice = Case(
      "spec", "two specs of a name",
      [](const Fixture& fixture) { fixture.Write("work/experiments/specs/study.textproto", "name: 'study'"); }, "study",
      End::kAnswered);
  twice.command = {"plan", "study", "--library=.", "--data=files"};
  cases->push_back(twice);
}

}  // namespace

std::vector<HostileCase> SpecCases() {
  std::vector<HostileCase> cases;
  for (const TextInput& of : TextInputs()) {
    for (HostileCase& one : CasesOfText(of)) cases.push_back(std::move(one));
  }
  AddNames(&cases);
  AddReferences(&cases);
  return cases;
}

}  // namespace openset
