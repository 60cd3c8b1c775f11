#include "experiments/spec/command_sources.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

class CommandSources : public ::testing::Test {
 protected:
  CommandSources() : folder_(TemporaryName(::testing::TempDir() + "/sources")) {
    for (const auto& [path, text] : {std::pair{"train.py", "print(1)\n"},
                                     {"lib/b.py", "b = 2\n"},
                                     {"lib/sub/c.py", "c = 3\n"},
                                     {"lib/__pycache__/b.pyc", "no"},
                                     {"lib/.hidden", "no"}}) {
      const std::string whole = JoinPath(folder_, path);
      EXPECT_TRUE(MakeFolders(whole.substr(0, whole.rfind('/'))).ok());
      EXPECT_TRUE(WriteFileAtomically(whole, text).ok());
    }
  }

  CommandSpec Command(const std::vector<std::string>& sources) {
    CommandSpec command;
    command.set_run("python train.py");
    for (const std::string& source : sources) command.add_source(source);
    return command;
  }

  // The message of the only problem.
  std::string Problem(const std::vector<std::string>& sources) {
    CommandSpec command = Command(sources);
    const std::vector<FieldProblem> problems = ResolveCommand(folder_, &command);
    return problems.size() == 1 ? absl::StrCat(problems[0].path, ": ", problems[0].message) : "";
  }

  const std::string folder_;
};

TEST_F(CommandSources, DigestIsThatOfTheSortedFiles) {
  CommandSpec command = Command({"train.py", "lib/"});
  ASSERT_TRUE(ResolveCommand(folder_, &command).empty());
  EXPECT_EQ(command.folder(), std::filesystem::path(folder_).lexically_normal().string());
  EXPECT_EQ(command.source_sha256(),
            Sha256Hex(absl::StrCat(Sha256Hex("b = 2\n"), " lib/b.py\n", Sha256Hex("c = 3\n"), " lib/sub/c.py\n",
                                   Sha256Hex("print(1)\n"), " train.py\n")));
  CommandSpec again = Command({"lib", "train.py", "lib/b.py"});
  ASSERT_TRUE(ResolveCommand(folder_, &again).empty());
  EXPECT_EQ(again.source_sha256(), command.source_sha256());
  // A file that changes another field leaves the folder of the sources to the file that names them.
  CommandSpec changed = Command({});
  changed.set_folder("/elsewhere");
  ASSERT_TRUE(ResolveCommand(folder_, &changed).empty());
  EXPECT_FALSE(changed.has_folder());
}

TEST_F(CommandSources, CopiesWhatWasHashed) {
  CommandSpec command = Command({"train.py", "lib"});
  ASSERT_TRUE(ResolveCommand(folder_, &command).empty());
  const std::string to = folder_ + ".copy";
  ASSERT_TRUE(MakeFolders(to).ok());
  ASSERT_TRUE(CopySources(command, to).ok());
  EXPECT_EQ(ReadFile(to + "/lib/sub/c.py").value(), "c = 3\n");
  EXPECT_FALSE(FileExists(to + "/lib/.hidden"));
  ASSERT_TRUE(WriteFileAtomically(folder_ + "/lib/b.py", "b = 4\n").ok());
  EXPECT_EQ(CopySources(command, to).code(), absl::StatusCode::kDataLoss);
  // A digest that was given: the files are others, or gone.
  EXPECT_EQ(ResolveCommand(folder_, &command).at(0).path, "training.command.source_sha256");
  ASSERT_EQ(unlink((folder_ + "/train.py").c_str()), 0);
  EXPECT_TRUE(ResolveCommand(folder_, &command).empty());
  EXPECT_EQ(CopySources(command, to).code(), absl::StatusCode::kNotFound);
}

TEST_F(CommandSources, AreFoundByTheirDigest) {
  CommandSpec command = Command({"train.py", "lib"});
  ASSERT_TRUE(ResolveCommand(folder_, &command).empty());
  const std::string other = folder_ + ".other", empty = folder_ + ".empty";
  ASSERT_TRUE(MakeFolders(other + "/lib").ok());
  ASSERT_TRUE(MakeFolders(empty).ok());
  ASSERT_TRUE(WriteFileAtomically(other + "/train.py", "print(1)\n").ok());
  command.clear_folder();
  ASSERT_TRUE(FindSources({empty, other, folder_}, &command).ok());
  EXPECT_EQ(command.folder(), folder_);
  const absl::Status missing = FindSources({empty, other}, &command);
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  for (const std::string& part :
       {std::string("train.py, lib (SHA-256 of all, as source_sha256: ") + command.source_sha256(),
        "no such file or folder: " + empty + "/train.py", "those in " + other + " have "}) {
    EXPECT_THAT(std::string(missing.message()), HasSubstr(part));
  }
  CommandSpec none;
  EXPECT_TRUE(FindSources({}, &none).ok());
}

TEST_F(CommandSources, SaysWhatItDoesNotRead) {
  EXPECT_THAT(Problem({"train.py", "missing.py"}), HasSubstr("training.command.source[1]: no such file or folder: "));
  for (const char* outside : {"../other.py", "lib/../../other.py", "/etc/passwd"}) {
    EXPECT_THAT(Problem({outside}), HasSubstr("must be a path below the folder of this file"));
  }
  ASSERT_EQ(symlink("/etc/passwd", (folder_ + "/link").c_str()), 0);
  EXPECT_THAT(Problem({"link"}), HasSubstr("is a link: name what it leads to"));
  EXPECT_THAT(Problem({"."}), HasSubstr("is a link"));
}

}  // namespace
}  // namespace openset
