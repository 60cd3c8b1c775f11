// Foreign names and texts in a library, a spec or a file don't run anything, don't control a terminal, and don't end a
// command.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/process/subprocess.h"
#include "core/text/one_line.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSpec[] =
    "name: 'study'\n"
    "task: 'fashion_mnist_6_4'\n"
    "method: 'softmax'\n"
    "split: 0\n"
    "seed: 0\n"
    "metric { accuracy {} }\n";

// ESC ] 0 (the window's title), CSI as one character, a right-to-left override, a byte that is not UTF-8, a line end.
constexpr char kHostile[] =
    "a\x1b]0;t\x07\xc2\x9b"
    "31m\xe2\x80\xae\xff\nopenset: all is well";

class ForeignTextTest : public ::testing::Test {
 protected:
  // Neither output controls a terminal, and both are valid text.
  void ExpectPlain(const ProgramResult& result) const {
    for (const std::string& text : {result.out, result.err}) EXPECT_EQ(text, Printable(text));
  }

  // A command ends with exit code 2 and a line with `message`.
  void ExpectRefused(const std::vector<std::string>& words, const std::string& message) const {
    const ProgramResult result = program_.Run(words);
    EXPECT_EQ(result.exit_code, 2) << result.out;
    EXPECT_THAT(result.err, HasSubstr(message));
    ExpectPlain(result);
  }

  const OpensetProgram program_;
};

TEST_F(ForeignTextTest, CompletionExecutesNoName) {
  const std::vector<std::string> names = {"x';touch pwn;'", "y$(touch pwn)",  "z`touch pwn`", "-a",
                                          "v\x1b[31m",      "w\ntouch pwn\n", "u;touch pwn"};
  for (const char* kind : {"methods", "presets", "tasks", "specs", "catalog", "published"}) {
    for (const std::string& name : names) program_.Write(absl::StrCat("lab/", kind, "/", name, ".textproto"), "");
  }
  program_.Write("lab/methods/mine.textproto", "base: 'mcp'");
  for (const std::string& name : names) program_.Write(absl::StrCat(name, ".textproto"), "");
  const ProgramResult result = program_.Run({"complete", ":show", ":methods", ":", "--library=lab"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("\nmine\n"), Not(HasSubstr("pwn"))));
  program_.Write("complete.bash", program_.Run({"completion", "bash"}).out);
  std::string script = absl::StrCat("cd '", program_.folder(), "'\nexport OPENSET_LIBRARY=lab\nsource complete.bash\n");
  for (const char* words : {"run ''", "run y", "run x", "show methods ''", "list tasks ''", "show presets ''",
                            "show data ''", "run --methods = ''", "report study --redo = ''", "task splits ''"}) {
    const std::vector<std::string> all = absl::StrSplit(words, ' ');
    absl::StrAppend(&script, "COMP_WORDS=(", program_.path(), " ", words, "); COMP_CWORD=", all.size(),
                    "; _openset; line=\"openset ${COMPREPLY[*]}\"\n");
  }
  // Evaluates completed file names as the shell does with a command line.
  absl::StrAppend(&script, "COMP_WORDS=(", program_.path(), " run ''); COMP_CWORD=2; _openset\n",
                  "for word in \"${COMPREPLY[@]}\"; do eval \": $word\"; done\necho \"${#COMPREPLY[@]}\"\n");
  program_.Write("test.bash", script);
  const absl::StatusOr<std::string> output = CaptureOutput({"bash", JoinPath(program_.folder(), "test.bash")});
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_FALSE(FileExists(JoinPath(program_.folder(), "pwn")));
  EXPECT_FALSE(FileExists("pwn"));
}

TEST_F(ForeignTextTest, FilesWithoutANameAreLeftOutOrRefused) {
  program_.Write("lab/methods/x y.textproto", "base: 'mcp'");
  program_.Write("lab/methods/\xff\x1b.textproto", "base: 'mcp'");
  const ProgramResult list = program_.Run({"list", "methods", "--library=lab"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_THAT(list.err, AllOf(HasSubstr("lab/methods: a file is left out: 'x y' is not a valid name"),
                              HasSubstr("lab/methods: a file is left out: '\uFFFD ' is not a valid name")));
  ExpectPlain(list);
  program_.Write("study.textproto", absl::StrReplaceAll(kSpec, {{"'softmax'", "'lab/methods/x y.textproto'"}}));
  ExpectRefused({"plan", "study.textproto"}, "lab/methods/x y.textproto: 'x y' is not a valid name");
  program_.Write("study.textproto", absl::StrReplaceAll(kSpec, {{"'softmax'", "'../methods/softmax'"}}));
  ExpectRefused({"plan", "study.textproto"}, "study.textproto:3: method[0]: unknown method '../methods/softmax'");
  program_.Write("study.textproto", absl::StrReplaceAll(kSpec, {{"'study'", "'a study'"}}));
  ExpectRefused({"plan", "study.textproto"}, "study.textproto:1: name: 'a study' is not a valid name");
  program_.Write("study.textproto", kSpec);
  program_.Write("lab/catalog/$(touch pwn).textproto", "name: 'a'");
  ExpectRefused({"plan", "study.textproto", "--library=lab"}, "lab/catalog: '$(touch pwn)' is not a valid name");
}

TEST_F(ForeignTextTest, InvalidUtf8IsReportedWithItsPosition) {
  program_.Write("openset-store/version", "openset store 3\n");
  program_.Write("lab/methods/mine.textproto", "base: 'mcp'\ntitle: 'a\xff'");
  program_.Write("lab/tasks/mine.textproto", "name: 'mine'\ndata_set: 'mnist'\ntitle: '\xc3' split { known: 0 }");
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"axis { path: 'training.epochs' value: ['1', '2'] name: 'a\xff' }", "study.textproto:7: axis[0].name: "},
           {"axis { path: 'training.epochs' value: ['1', '\xff'] }", "study.textproto:7: axis[0].value[1]: "},
           {"axis { path: '\\377' value: ['1', '2'] }", "study.textproto:7: axis[0].path: "},
           {"question: '\xc3('", "study.textproto:7: question: "},
           {"method: 'mine'", "lab/methods/mine.textproto:2: title: "},
           {"task: 'mine'", "lab/tasks/mine.textproto:3: title: "},
           {"method: '\xff'", "study.textproto:7: method[1]: "}}) {
    program_.Write("study.textproto", absl::StrCat(kSpec, text, "\n"));
    for (const char* command : {"plan", "run", "report"}) {
      ExpectRefused({command, "study.textproto", "--library=lab"}, absl::StrCat(message, "must be text in UTF-8"));
    }
  }
  // A file with any name can be read.
  program_.Write("\xff\x1b[31m.textproto", kSpec);
  const ProgramResult plan = program_.Run({"plan", "\xff\x1b[31m.textproto", "--format=json"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_FALSE(nlohmann::json::parse(plan.out, nullptr, /*allow_exceptions=*/false).is_discarded());
}

TEST_F(ForeignTextTest, EvaluatesFilesOfAnyName) {
  const std::string scores = "label,prediction,unknown_score\n0,0,0.1\n1,1,0.2\n0,1,0.4\n-1,0,0.3\n-1,1,0.9\n";
  const std::string file = absl::StrCat(absl::StrReplaceAll(kHostile, {{"/", ""}}), ".csv");
  program_.Write(file, scores);
  program_.Write("b.csv", scores);
  for (const char* format : {"text", "json", "markdown", "csv", "latex"}) {
    for (const std::vector<std::string>& words : {std::vector<std::string>{"eval", file, "b.csv", "--as=methods"},
                                                  {"eval", file},
                                                  {"compare", file, "b.csv", "--replicates=20"}}) {
      std::vector<std::string> all = words;
      all.push_back(absl::StrCat("--format=", format));
      const ProgramResult result = program_.Run(all);
      EXPECT_EQ(result.exit_code, 0) << result.err;
      ExpectPlain(result);
      if (format == std::string("json")) {
        EXPECT_FALSE(nlohmann::json::parse(result.out, nullptr, /*allow_exceptions=*/false).is_discarded());
      }
    }
  }
}

TEST_F(ForeignTextTest, NoControlCodesReachTheTerminal) {
  const std::string quoted = absl::StrReplaceAll(kHostile, {{"\n", "\\n"}, {"\xff", ""}});
  program_.Write("lab/methods/mine.textproto", absl::StrCat("base: 'mcp' title: '", quoted, "'"));
  program_.Write("lab/presets/mine.textproto", absl::StrCat("note: '", quoted, "'"));
  program_.Write("lab/tasks/mine.textproto",
                 absl::StrCat("name: 'mine' data_set: 'mnist' title: '", quoted, "' split { known: 0 }"));
  program_.Write("lab/specs/mine.textproto", absl::StrCat(kSpec, "question: '", quoted, "'"));
  program_.Write("study.textproto", absl::StrCat(kSpec, "axis { path: 'score' name: '", quoted,
                                                 "' value: ['max_logit {}', 'energy {\\n\\n}'] }"));
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"list", "methods"},
                                             {"list", "presets"},
                                             {"list", "tasks"},
                                             {"list", "specs"},
                                             {"show", "method", "mine"},
                                             {"show", "spec", "mine"},
                                             {"task", "splits", "mine"},
                                             {"plan", "study.textproto", "--noprobe"},
                                             {"plan", "study.textproto", "--format=markdown"},
                                             {"plan", "study.textproto", "--format=json"},
                                             {"report", "study.textproto"},
                                             {"explain", kHostile},
                                             {"plan", kHostile},
                                             {"run", kHostile},
                                             {"eval", kHostile},
                                             {"data", "audit", kHostile},
                                             {"list", kHostile},
                                             {"show", "method", kHostile},
                                             {kHostile},
                                             {"plan", "study.textproto", absl::StrCat("--", kHostile)},
                                             {"records", "ls", kHostile},
                                             {"plan", "study.textproto", absl::StrCat("--set=", kHostile)},
                                             {"records", "merge", kHostile}}) {
    std::vector<std::string> all = words;
    if (words.size() < 3 || words[2][0] != '-') {
      if (words[0] == "list" || words[0] == "show" || words[0] == "task") all.push_back("--library=lab");
    }
    const ProgramResult result = program_.Run(all);
    EXPECT_LE(result.exit_code, 4) << result.err;
    ExpectPlain(result);
    for (const std::string& text : {result.out, result.err}) {
      EXPECT_THAT(absl::StrCat("\n", text), Not(HasSubstr("\nopenset: all is well"))) << absl::StrJoin(words, " ");
    }
  }
}

}  // namespace
}  // namespace openset
