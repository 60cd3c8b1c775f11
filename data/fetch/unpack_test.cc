#include "data/fetch/unpack.h"

#include <sys/stat.h>

#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/process/subprocess.h"
#include "core/testing/status_matchers.h"
#include "data/testing/damage.h"

namespace openset {
namespace {

class UnpackTest : public ::testing::Test {
 protected:
  UnpackTest() {
    std::filesystem::remove_all(root_);
    WriteTestFile("unpack/in/set/a.txt", "a");
    WriteTestFile("unpack/in/set/deep/b.txt", std::string(50000, 'b'));
  }

  std::string Tar() {
    const std::string archive = JoinPath(root_, "set.tar.gz");
    EXPECT_THAT(RunProgram({"tar", "-czf", archive, "-C", JoinPath(root_, "in"), "set"}), IsOk());
    return archive;
  }
  std::string Read(const std::string& path) { return ReadFile(JoinPath(root_, path)).value_or("nothing"); }

  const std::string root_ = JoinPath(::testing::TempDir(), "unpack");
};

TEST_F(UnpackTest, FillsAFolder) {
  WriteTestFile("unpack/out/set/a.txt", "old");
  WriteTestFile("unpack/out/set/c.txt", "c");
  ASSERT_THAT(Unpack(Tar(), Download::TAR, JoinPath(root_, "out")), IsOk());
  EXPECT_EQ(Read("out/set/a.txt"), "a");
  EXPECT_EQ(Read("out/set/c.txt"), "c");
  EXPECT_EQ(Read("out/set/deep/b.txt").size(), 50000);
  EXPECT_THAT(ListFolder(root_).value(), ElementsAre("in", "out", "set.tar.gz")) << "nothing is left behind";
}

TEST_F(UnpackTest, ACorruptArchiveChangesNothing) {
  const std::string archive = Tar();
  const std::string bytes = *ReadFile(archive);
  ASSERT_THAT(WriteFileAtomically(archive, bytes.substr(0, bytes.size() / 2)), IsOk());
  WriteTestFile("unpack/out/set/a.txt", "old");
  EXPECT_THAT(Unpack(archive, Download::TAR, JoinPath(root_, "out")),
              IsDataLoss("set.tar.gz: cannot be unpacked: corrupt: "));
  EXPECT_THAT(Unpack(archive, Download::ZIP, JoinPath(root_, "out")), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(Read("out/set/a.txt"), "old");
  EXPECT_THAT(ListFolder(JoinPath(root_, "out/set")).value(), ElementsAre("a.txt"));
  EXPECT_THAT(ListFolder(root_).value(), ElementsAre("in", "out", "set.tar.gz"));
}

// An archive that Python's zipfile wrote.
TEST_F(UnpackTest, UnpacksZip) {
  const std::string archive = JoinPath(root_, "set.zip");
  const std::string made =
      absl::StrCat("import zipfile; zipfile.ZipFile('", archive, "', 'w').writestr('d/z.txt', 'zip')");
  ASSERT_THAT(RunProgram({"python3", "-c", made}), IsOk());
  ASSERT_THAT(Unpack(archive, Download::ZIP, JoinPath(root_, "out")), IsOk());
  EXPECT_EQ(Read("out/d/z.txt"), "zip");
}

// All ways in which tar stores a long name, and all compressions.
TEST_F(UnpackTest, UnpacksAllKindsOfTar) {
  // A name that ustar can split.
  const std::string name =
      absl::StrCat("in/", std::string(90, 'f'), "/", std::string(60, 'g'), "/", std::string(80, 'n'));
  WriteTestFile(absl::StrCat("unpack/", name), "long");
  const std::string archive = JoinPath(root_, "set.tar");
  for (const char* format : {"gnu", "pax", "ustar", "v7"}) {
    for (const char* compression : {"--no-auto-compress", "--gzip", "--xz", "--bzip2"}) {
      SCOPED_TRACE(absl::StrCat(format, " ", compression));
      const bool is_short = std::string(format) == "v7";
      ASSERT_THAT(RunProgram({"tar", compression, absl::StrCat("--format=", format), "-cf", archive, "-C",
                              JoinPath(root_, "in"), is_short ? "set" : "."}),
                  IsOk());
      const std::string out = JoinPath(root_, "out");
      std::filesystem::remove_all(out);
      ASSERT_THAT(Unpack(archive, Download::TAR, out, "below/it"), IsOk());
      EXPECT_EQ(Read("out/below/it/set/a.txt"), "a");
      EXPECT_EQ(Read("out/below/it/set/deep/b.txt").size(), 50000);
      if (is_short) continue;
      EXPECT_EQ(Read(absl::StrCat("out/below/it/", name.substr(3))), "long");
    }
  }
}

// For each member: its name, its type (of tarfile), its link target, and the error. The second member would be written
// through the first.
TEST_F(UnpackTest, RefusesAnythingButFilesAndFoldersBelow) {
  WriteTestFile("unpack/victim/file", "mine");
  const std::string victim = JoinPath(root_, "victim");
  struct Hostile {
    std::string name, kind, target, error;
  };
  const std::vector<Hostile> all = {
      {"link", "SYMTYPE", victim, "member 'link' is a link"},
      {"link", "SYMTYPE", "../../victim", "member 'link' is a link"},
      {"link", "SYMTYPE", ".", "member 'link' is a link"},
      {"link", "LNKTYPE", absl::StrCat(victim, "/file"), "member 'link' is a link"},
      {"pipe", "FIFOTYPE", "", "member 'pipe' is a device or a pipe"},
      {"disk", "BLKTYPE", "", "member 'disk' is a device or a pipe"},
      {"null", "CHRTYPE", "", "member 'null' is a device or a pipe"},
      {"sparse", "GNUTYPE_SPARSE", "", "member 'sparse' has an unsupported type, 'S'"},
      {absl::StrCat(victim, "/file"), "REGTYPE", "", "has a name that begins with '/'"},
      {"../victim/file", "REGTYPE", "", "has a name that has '..' in it"},
      {"set/../../victim/file", "REGTYPE", "", "has a name that has '..' in it"},
      {"..", "DIRTYPE", "", "has a name that has '..' in it"},
      {"", "REGTYPE", "", "member '' has a name that is empty"},
      {"a\\nb", "REGTYPE", "", "has a control character in it"},
  };
  for (const Hostile& hostile : all) {
    SCOPED_TRACE(hostile.name + " " + hostile.kind);
    const std::string archive = JoinPath(root_, "hostile.tar");
    const std::string made = absl::StrCat(
        "import tarfile, io\n"
        "t = tarfile.open('",
        archive,
        "', 'w')\n"
        "def add(name, kind, target, content):\n"
        "  m = tarfile.TarInfo(name); m.type = kind; m.linkname = target; m.size = len(content)\n"
        "  t.addfile(m, io.BytesIO(content))\n"
        "add('good', tarfile.REGTYPE, '', b'good')\n"
        "add('",
        hostile.name, "', tarfile.", hostile.kind, ", '", hostile.target,
        "', b'')\n"
        "add('",
        hostile.name,
        "/file', tarfile.REGTYPE, '', b'theirs')\n"
        "t.close()\n");
    ASSERT_THAT(RunProgram({"python3", "-c", made}), IsOk());
    WriteTestFile("unpack/out/old", "old");
    EXPECT_THAT(Unpack(archive, Download::TAR, JoinPath(root_, "out")),
                StatusIs(absl::StatusCode::kDataLoss,
                         ::testing::AllOf(HasSubstr(hostile.error), HasSubstr("hostile.tar: cannot be unpacked"))));
    EXPECT_EQ(Read("victim/file"), "mine");
    EXPECT_THAT(ListFolder(victim).value(), ElementsAre("file"));
    EXPECT_THAT(ListFolder(JoinPath(root_, "out")).value(), ElementsAre("old")) << "nothing else changed";
  }
}

TEST_F(UnpackTest, RefusesTheSameInZips) {
  WriteTestFile("unpack/victim/file", "mine");
  const std::string archive = JoinPath(root_, "hostile.zip");
  struct Hostile {
    std::string name, mode, error;
  };
  for (const Hostile& hostile : {Hostile{"link", "0o120777", "is a link, a device or a pipe"},
                                 {"pipe", "0o010666", "is a link, a device"},
                                 {"disk", "0o060666", "is a link, a device"},
                                 {"../victim/file", "0o100644", "has '..' in it"},
                                 {"/victim/file", "0o100644", "begins with '/'"},
                                 {"a/../../victim/file", "0", "has '..' in it"}}) {
    SCOPED_TRACE(hostile.name);
    const std::string made = absl::StrCat(
        "import zipfile\n"
        "z = zipfile.ZipFile('",
        archive,
        "', 'w')\n"
        "z.writestr('good', 'good')\n"
        "i = zipfile.ZipInfo('",
        hostile.name, "'); i.create_system = 3; i.external_attr = ", hostile.mode,
        " << 16\n"
        "z.writestr(i, '",
        root_,
        "/victim')\n"
        "z.close()\n");
    ASSERT_THAT(RunProgram({"python3", "-c", made}), IsOk());
    EXPECT_THAT(Unpack(archive, Download::ZIP, JoinPath(root_, "out")), IsDataLoss(hostile.error));
    EXPECT_EQ(Read("victim/file"), "mine");
    EXPECT_THAT(ListFolder(JoinPath(root_, "out")).value(), ElementsAre());
  }
}

// Links that already exist in the data folder.
TEST_F(UnpackTest, MovesNothingThroughLinks) {
  WriteTestFile("unpack/victim/a.txt", "mine");
  std::filesystem::create_directories(JoinPath(root_, "out"));
  const std::string victim = JoinPath(root_, "victim");
  std::filesystem::create_directory_symlink(victim, JoinPath(root_, "out/set"));
  EXPECT_THAT(Unpack(Tar(), Download::TAR, JoinPath(root_, "out")), IsFailedPrecondition("out/set is in the way"));
  EXPECT_THAT(Unpack(Tar(), Download::TAR, JoinPath(root_, "out"), "set/more"),
              IsFailedPrecondition("out/set is in the way"));
  EXPECT_EQ(Read("victim/a.txt"), "mine");
  EXPECT_THAT(ListFolder(victim).value(), ElementsAre("a.txt"));
  // A link with the name of a file is replaced, not followed.
  std::filesystem::remove(JoinPath(root_, "out/set"));
  std::filesystem::create_directories(JoinPath(root_, "out/set"));
  std::filesystem::create_symlink(JoinPath(victim, "a.txt"), JoinPath(root_, "out/set/a.txt"));
  ASSERT_THAT(Unpack(Tar(), Download::TAR, JoinPath(root_, "out")), IsOk());
  EXPECT_EQ(Read("victim/a.txt"), "mine");
  EXPECT_EQ(Read("out/set/a.txt"), "a");
  // The data folder itself may be a link: the user chose it.
  std::filesystem::create_directory_symlink(JoinPath(root_, "out"), JoinPath(root_, "data"));
  EXPECT_THAT(Unpack(Tar(), Download::TAR, JoinPath(root_, "data")), IsOk());
  EXPECT_THAT(Unpack(Tar(), Download::TAR, JoinPath(root_, "data"), "../victim"), IsInvalidArgument("has '..' in it"));
}

TEST_F(UnpackTest, IgnoresPermissions) {
  const std::string file = JoinPath(root_, "in/set/a.txt");
  ASSERT_EQ(chmod(file.c_str(), 06777), 0);
  ASSERT_THAT(Unpack(Tar(), Download::TAR, JoinPath(root_, "out")), IsOk());
  struct stat info;
  ASSERT_EQ(stat(JoinPath(root_, "out/set/a.txt").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 06113, 0) << "no set user id, no execution, no writing for all";
}

// The header announces 2 GiB, which are not read. For zip archives, zip_reader_test tests the limit.
TEST_F(UnpackTest, RefusesADecompressionBomb) {
  const std::string archive = JoinPath(root_, "bomb.tar.gz");
  const std::string made = absl::StrCat("import gzip, tarfile\nm = tarfile.TarInfo('zeros'); m.size = 2 << 30\n",
                                        "gzip.open('", archive, "', 'wb').write(m.tobuf())\n");
  ASSERT_THAT(RunProgram({"python3", "-c", made}), IsOk());
  EXPECT_THAT(Unpack(archive, Download::TAR, JoinPath(root_, "out")),
              IsDataLoss("member 'zeros' brings the total to more than 1073741824 bytes"));
  EXPECT_THAT(ListFolder(JoinPath(root_, "out")).value(), ElementsAre());
}

}  // namespace
}  // namespace openset
