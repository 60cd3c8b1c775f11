// A user's own methods, presets, tasks and data sets in addition to those that come with the program.
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/files/formats/npz.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Tasks and methods of the program and of the library, and one of the program's methods with a preset of the library.
constexpr char kSpec[] =
    "name: 'study'\n"
    "task: ['mnist', 'tiny']\n"
    "method: ['mcp', 'mine', 'mcp+short']\n"
    "split: 0\n"
    "seed: 0\n"
    "metric { auroc {} }\n";

class LibraryTest : public ::testing::Test {
 protected:
  // Four classes of grey 16x16 images without checksums, a task on them, a method and a preset.
  void WriteLibrary(const std::string& below) const {
    program_.Write(below + "catalog/tiny_set.textproto",
                   "name: 'tiny_set' class_name: ['a', 'b', 'c', 'd'] channels: 1 height: 16 width: 16 layout { "
                   "part { name: 'train' samples: 40 samples_per_class: 10 "
                   "idx { images { path: 'tiny/images' } labels { path: 'tiny/labels' } } } "
                   "part { name: 'test' samples: 40 samples_per_class: 10 "
                   "idx { images { path: 'tiny/images' } labels { path: 'tiny/labels' } } } }");
    program_.Write(below + "tasks/tiny.textproto",
                   "name: 'tiny' data_set: 'tiny_set' split { known: [0, 1] unknown: [2, 3] }");
    program_.Write(below + "methods/mine.textproto", "base: 'mcp' title: 'Mine' score { max_logit {} }");
    program_.Write(below + "presets/short.textproto", "training { epochs: 1 }");
    std::string images("\0\0\x08\x03\0\0\0\x28\0\0\0\x10\0\0\0\x10", 16);
    std::string labels("\0\0\x08\x01\0\0\0\x28", 8);
    for (int i = 0; i < 40; ++i) {
      labels.push_back(static_cast<char>(i % 4));
      images.append(256, static_cast<char>(20 * (i % 4)));
    }
    program_.Write("data/tiny/images", images);
    program_.Write("data/tiny/labels", labels);
  }

  void ExpectPlanned(const std::vector<std::string>& flags) const {
    std::vector<std::string> arguments = {"plan", "study.textproto", "--noprobe"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const ProgramResult result = program_.Run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    for (const char* method : {"mcp", "mine", "mcp+short"}) {
      EXPECT_THAT(result.out, HasSubstr(absl::StrCat(method, " on tiny, split 0, seed 0")));
      EXPECT_THAT(result.out, HasSubstr(absl::StrCat(method, " on mnist, split 0, seed 0")));
    }
  }

  const OpensetProgram program_;
};

TEST_F(LibraryTest, TheFlagAddsFolders) {
  WriteLibrary("lab/");
  program_.Write("other/methods/other.textproto", "base: 'mine' score { energy {} }");
  program_.Write("study.textproto", kSpec);
  ExpectPlanned({"--library=lab"});
  ExpectPlanned({"--library=lab,other"});
  EXPECT_THAT(program_.Run({"plan", "study.textproto", "--library=other"}).err,
              HasSubstr("study.textproto:2: task[1]: unknown task 'tiny'"));
  EXPECT_THAT(program_.Run({"list", "method", "mine", "--library=lab"}).out, HasSubstr("Mine"));
}

// Every command finds the files of the current folder without a flag.
TEST_F(LibraryTest, TheCurrentFolderIsALibrary) {
  WriteLibrary("");
  program_.Write("specs/study.textproto", kSpec);
  EXPECT_THAT(program_.Run({"list", "method", "mine"}).out, HasSubstr("Mine"));
  EXPECT_THAT(program_.Run({"show", "method", "mine"}).out, HasSubstr("max_logit"));
  EXPECT_THAT(program_.Run({"task", "splits", "tiny"}).out, HasSubstr("tiny"));
  EXPECT_THAT(program_.Run({"data", "list"}).out, HasSubstr("tiny_set"));
  const ProgramResult planned = program_.Run({"plan", "study", "--noprobe"});
  EXPECT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_THAT(planned.out, HasSubstr("mine on tiny, split 0, seed 0"));
  // `score` finds the task; only the network is missing.
  EXPECT_THAT(program_.Run({"score", "--task=tiny", "--model=nowhere.pt"}).err, HasSubstr("--model: cannot open"));
  for (const char* command : {"score", "list", "show", "run"}) {
    const std::string help = absl::StrReplaceAll(program_.Run({command, "--help"}).out, {{"\n    ", " "}});
    EXPECT_THAT(help, HasSubstr("The current folder, the folders in the environment variable"));
  }
}

TEST_F(LibraryTest, TheEnvironmentAddsFolders) {
  WriteLibrary("lab/");
  program_.Write("study.textproto", kSpec);
  ASSERT_EQ(setenv("OPENSET_LIBRARY", "lab", /*overwrite=*/1), 0);
  ExpectPlanned({});
  unsetenv("OPENSET_LIBRARY");
}

TEST_F(LibraryTest, TheFolderOfTheSpecIsALibrary) {
  WriteLibrary("");
  program_.Write("study.textproto", kSpec);
  ExpectPlanned({});
}

// So is that of a task's file.
TEST_F(LibraryTest, TheFolderOfTheTaskIsALibrary) {
  WriteLibrary("lab/");
  EXPECT_THAT(program_.Run({"task", "splits", "lab/tasks/tiny.textproto"}).out, HasSubstr("tiny"));
  EXPECT_THAT(program_.Run({"task", "samples", "lab/tasks/tiny.textproto", "--data=data"}).out, HasSubstr("tiny_set"));
  ASSERT_EQ(program_
                .Run({"task", "samples", "lab/tasks/tiny.textproto", "--data=data", "--out=samples",
                      "--validation_per_class=2"})
                .exit_code,
            0);
  for (const auto& [part, rows] : {std::pair{"test", 40}, {"fit", 16}, {"validation", 4}}) {
    const NpzArrays arrays = *ReadNpz(absl::StrCat(program_.folder(), "/samples/", part, ".npz"));
    EXPECT_THAT(*ToTexts(arrays.at("class_names")), ElementsAre("a", "b")) << part;
    EXPECT_EQ(arrays.at("label").size(), rows) << part;
  }
  EXPECT_THAT(program_.Run({"score", "--task=lab/tasks/tiny.textproto", "--model=nowhere.pt"}).err,
              HasSubstr("--model: cannot open"));
}

// The worker finds the data set, too.
TEST_F(LibraryTest, TrainsOnOwnData) {
  WriteLibrary("lab/");
  program_.Write("study.textproto",
                 "name: 'study' task: 'tiny' method: 'mine+short' seed: 0 metric { auroc {} } override { "
                 "model { osrci_cnn {} head { linear {} } } input { size: 16 channels: 1 mean: 0.5 std: 0.5 } }");
  const ProgramResult result = program_.Run({"run", "study.textproto", "--library=lab", "--data=data"});
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  EXPECT_EQ(program_.AnyRecord().counts().known(), 20);
}

TEST_F(LibraryTest, AClashNamesBothFiles) {
  WriteLibrary("lab/");
  program_.Write("study.textproto", kSpec);
  const auto error = [&] {
    const ProgramResult result = program_.Run({"run", "study.textproto", "--library=lab"});
    EXPECT_EQ(result.exit_code, 2) << result.out;
    return result.err;
  };
  program_.Write("lab/methods/mcp.textproto", "title: 'My own MCP'");
  EXPECT_THAT(error(),
              AllOf(HasSubstr("study.textproto:3: method[0]: two files define method 'mcp': "),
                    HasSubstr("experiments/methods/mcp.textproto and "), HasSubstr("lab/methods/mcp.textproto")));
  program_.Write("lab/methods/mcp.textproto", program_.Shipped("experiments/methods/mcp.textproto"));  // a copy
  program_.Write("lab/catalog/mnist.textproto", "name: 'mnist'");
  EXPECT_THAT(error(), AllOf(HasSubstr("two files define data set 'mnist': "),
                             HasSubstr("data/catalog/mnist.textproto"), HasSubstr("lab/catalog/mnist.textproto")));
}

TEST_F(LibraryTest, NamesAFolderThatIsNotALibrary) {
  program_.Write("study.textproto", kSpec);
  program_.Write("empty/readme", "");
  EXPECT_THAT(program_.Run({"plan", "study.textproto", "--library=empty"}).err,
              HasSubstr("--library: empty has none of methods/"));
  const ProgramResult result = program_.Run({"plan", "study.textproto", "--library=nowhere"});
  EXPECT_THAT(result.err, HasSubstr("--library: nowhere doesn't exist"));
  EXPECT_EQ(result.exit_code, 2);
}

}  // namespace
}  // namespace openset
