// Archives and downloads: files from a fake curl, for a catalog from someone else.
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/testing/archive_bytes.h"
#include "tools/testing/hostile/hostile_case.h"
#include "tools/testing/hostile/process_case.h"

namespace openset {
namespace {

using Words = std::vector<std::string>;

// Downloads into a separate folder, which contains a link to other people's files.
Words Fetch() { return {"data", "fetch", "fetched", "--library=.", "--data=brought"}; }

constexpr char kCatalog[] = "work/data/catalog/fetched.textproto";

}  // namespace

HostileCase DownloadCase(const std::string& what, const std::function<void(const Fixture&)>& make, End end,
                         const std::string& named) {
  HostileCase one{"download", what, Fetch(), make, end, named};
  one.writes = {"work/brought", "tmp/curl.log"};
  return one;
}

HostileCase ArchiveCase(const std::string& what, const std::string& unpack, const std::string& bytes, End end) {
  HostileCase one = DownloadCase(what, {}, end, end == End::kNoted ? "fetched" : "");
  one.input = "archive";
  one.make = [unpack, bytes](const Fixture& fixture) {
    fixture.Write("served/archive", bytes);
    std::string text = fixture.Read(kCatalog);
    text = text.substr(0, text.find("fetch {"));
    fixture.Write(kCatalog,
                  absl::StrCat(text, "fetch { title: 'official' urls { file { url: 'https://example.org/archive' ",
                               "path: '' unpack: ", unpack, " bytes: ", bytes.size(), " sha256: '", Sha256Hex(bytes),
                               "' } } }\n"));
    std::filesystem::create_directories(fixture.Path("work/brought"));
    std::filesystem::create_directory_symlink(fixture.Path("outside"), fixture.Path("work/brought/linked"));
    std::filesystem::create_symlink(fixture.Path("outside/file"), fixture.Path("work/brought/file"));
  };
  return one;
}

namespace {

void AddArchives(std::vector<HostileCase>* cases) {
  const std::string good("\0x\1y", 4), megabyte(1 << 20, '\0');
  const TarMember set{"fetched/train.bin", good};
  const auto tar = [&](const std::string& what, std::vector<TarMember> members, End end = End::kNoted) {
    members.push_back(set);
    cases->push_back(ArchiveCase("tar: " + what, "TAR", TarBytes(members), end));
  };
  tar("out of the folder", {{"../../outside/file", "x"}});
  tar("absolute", {{"/var/lib/openset_hostile_pwn", "x"}});
  tar("a link, and a file through it", {{"out", "", '2', "../../outside"}, {"out/file", "x"}});
  tar("a link out of the folder", {{"out", "", '2', "/etc/passwd"}});
  tar("a hard link out of the folder", {{"out", "", '1', "/etc/passwd"}});
  tar("a hard link to nothing", {{"out", "", '1', "nowhere"}});
  tar("a device", {{"zero", "", '3'}});
  tar("a pipe", {{"fetched/pipe", "", '6'}});
  tar("setuid", {{"fetched/suid", "x", '0', "", 06755}}, End::kAnswered);
  tar("nobody may read it", {{"fetched/closed", "x", '0', "", 0}}, End::kAnswered);
  tar("a folder that is closed", {{"closed", "", '5', "", 0}}, End::kAnswered);
  tar("through a link that is there", {{"linked/file", "x"}, {"linked/folder/file", "x"}});
  tar("over a link that is there", {{"file", "x"}}, End::kAnswered);
  tar("names that a terminal obeys", {{"fetched/\x1b]0;x\a", "x"}}, End::kAnswered);
  tar("a name that looks like an option", {{"--checkpoint-action=exec=touch pwn", "x"}}, End::kAnswered);
  tar("a file that says it has 8 EB", {{"fetched/large", "x", '0', "", 0644, 0x7f7f7f7f7f7f7f7f}});
  tar("a type that there is not", {{"fetched/x", "x", 'Z'}}, End::kAnswered);
  tar("a file over a folder", {{"fetched", "x"}}, End::kAnswered);
  cases->push_back(ArchiveCase("tar: noise", "TAR", std::string(5000, '\xa5')));
  cases->push_back(ArchiveCase("tar: nothing", "TAR", ""));
  cases->push_back(
      ArchiveCase("tar: half", "TAR", TarBytes({{"fetched/x", std::string(5000, 'x')}, set}).substr(0, 2000)));
  cases->push_back(ArchiveCase("tar: gzip of noise", "TAR", GzipBytes(std::string(5000, '\xa5'))));
  const auto zip = [&](const std::string& what, std::vector<ZipMember> members, End end = End::kNoted) {
    members.push_back({"fetched/train.bin", good});
    cases->push_back(ArchiveCase("zip: " + what, "ZIP", ZipBytes(members), end));
  };
  zip("out of the folder", {{"../../outside/file", "x"}});
  zip("absolute", {{"/var/lib/openset_hostile_pwn", "x"}});
  zip("a link, and a file through it", {{"out", "../../outside", false, 0120777}, {"out/file", "x"}});
  zip("a link out of the folder", {{"out", "/etc/passwd", false, 0120777}});
  zip("through a link that is there", {{"linked/file", "x"}});
  zip("setuid", {{"fetched/suid", "x", false, 0106755}}, End::kAnswered);
  zip("a pipe", {{"fetched/pipe", "", false, 0010644}}, End::kAnswered);
  zip("a name that looks like an option", {{"-x", "x"}}, End::kAnswered);
  zip("names that a terminal obeys", {{"fetched/\x1b]0;x\a", "x"}}, End::kAnswered);
  zip("a file that says it has 4 GB", {{"fetched/large", "x", false, 0100644, 0xfffffffe}}, End::kAnswered);
  zip("the same name twice", {{"fetched/train.bin", "x"}}, End::kAnswered);
  cases->push_back(ArchiveCase("zip: noise", "ZIP", std::string(5000, '\xa5')));
  cases->push_back(ArchiveCase("zip: nothing", "ZIP", ""));
}

void AddDownloads(std::vector<HostileCase>* cases) {
  const auto catalog = [&](const std::string& from, const std::string& to, End end = End::kRefused,
                           const std::string& named = "fetched.textproto") {
    HostileCase one = DownloadCase(
        to.substr(0, 80), [=](const Fixture& fixture) { fixture.Replace(kCatalog, from, to); }, end, named);
    cases->push_back(one);
  };
  const std::string url = "\"https://example.org/train.bin\"", path = "path: \"fetched/train.bin\"\n  bytes";
  for (const char* address :
       {"-Kevil", "--output=/nowhere/x", "file:///etc/passwd", "http://example.org/train.bin",
        "ftp://example.org/train.bin", "gopher://x/train.bin", "scp://x/train.bin", "dict://x", "", " ", "https://",
        "HTTPS://example.org/train.bin\\nx", "https://example.org/\\033]0;x\\007", "https://example.org/\\xff",
        "@/etc/passwd", "https://a\\000b/x"}) {
    catalog(url, absl::StrCat("\"", address, "\""));
  }
  catalog(url, absl::StrCat("\"https://example.org/", std::string(100000, 'x'), "\""));
  for (const char* where : {"../../outside/file", "/var/lib/openset_hostile_pwn", "..", "a/../../../outside/file",
                            "a\\nb", "\\033[2J", "\\xff", "a\\000b"}) {
    catalog(path, absl::StrCat("path: \"", where, "\"\n  bytes"));
  }
  catalog("bytes: 4", "bytes: -1");
  catalog("bytes: 4", "bytes: 9223372036854775807", End::kNoted, "has 4 bytes");
  catalog("sha256: \"", "sha256: \"x");
  catalog("  sha256", "  # ");
  const auto served = [&](const std::string& what, const std::string& bytes) {
    cases->push_back(DownloadCase(
        what, [bytes](const Fixture& fixture) { fixture.Write("served/train.bin", bytes); }, End::kNoted, "train.bin"));
  };
  served("another file", "abcd");
  served("a longer file", "abcdefgh");
  served("a shorter file", "a");
  served("nothing", "");
  served("100 MB", std::string(100 << 20, 'x'));
  served("a page", "<html>not found</html>\x1b[2J");
  const auto curl = [&](const std::string& what, const std::string& script) {
    cases->push_back(DownloadCase(what, [script](const Fixture& fixture) {
      fixture.Write("bin/curl", script);
      std::filesystem::permissions(fixture.Path("bin/curl"), std::filesystem::perms::owner_all);
    }));
  };
  curl("curl fails", "#!/bin/sh\nexit 22\n");
  curl("curl says what a terminal obeys", "#!/bin/sh\nprintf '\\033]0;x\\007' >&2\nexit 7\n");
  curl("curl says 10 MB", "#!/bin/sh\nhead -c 10000000 /dev/zero >&2\nexit 7\n");
  curl("curl is killed", "#!/bin/sh\nkill -9 $$\n");
  curl("curl is no program", "noise");
  HostileCase planted = DownloadCase(
      "a link in the place of the file",
      [](const Fixture& fixture) {
        std::filesystem::create_directories(fixture.Path("work/brought/fetched"));
        std::filesystem::create_symlink(fixture.Path("outside/file"), fixture.Path("work/brought/fetched/train.bin"));
        std::filesystem::create_symlink(fixture.Path("outside/file"),
                                        fixture.Path("work/brought/fetched/train.bin.part"));
        std::filesystem::create_symlink(fixture.Path("outside/file"),
                                        fixture.Path("work/brought/fetched/train.bin.part.headers"));
      },
      End::kAnswered);
  cases->push_back(planted);
}

}  // namespace

std::vector<HostileCase> DownloadCases() {
  std::vector<HostileCase> cases;
  AddArchives(&cases);
  AddDownloads(&cases);
  return cases;
}

}  // namespace openset
