// Bundles with a correct signature and a wrong stream of records, records.tar.xz.
#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/logging.h"
#include "core/testing/archive_bytes.h"
#include "experiments/store/bundle.h"
#include "experiments/store/testing/bundle_bytes.h"
#include "tools/testing/hostile/fixture.h"
#include "tools/testing/hostile/hostile_case.h"

namespace openset {
namespace {

using Members = std::vector<ZipMember>;
using Words = std::vector<std::string>;

constexpr char kRecords[] = "records.tar.xz", kSums[] = "SHA256SUMS";
constexpr size_t kBlock = 512;
const std::string& End0() {
  static const auto* const end = new std::string(2 * kBlock, '\0');
  return *end;
}

ZipMember& Find(const std::string& name, Members* members) {
  const auto found =
      std::find_if(members->begin(), members->end(), [&](const ZipMember& member) { return member.name == name; });
  CHECK(found != members->end()) << name;
  return *found;
}

// Commands that read records, in turn.
Words Reader(size_t n) {
  static const auto* const trial = new std::string(Fixture().trials()[0]);
  const std::vector<Words> readers = {{"records", "merge", "bundle.zip", "--store=merged"},
                                      {"records", "ls", "bundle.zip"},
                                      {"records", "verify", "bundle.zip"},
                                      {"report", "bundle.zip"},
                                      {"records", "show", "bundle.zip", *trial},
                                      {"report", "study", "--data=files"}};
  return readers[n % readers.size()];
}

// `change` gets the members of a valid bundle of version 2.
HostileCase Case(const std::string& what, const Words& command, const std::function<void(Members*)>& change, End end) {
  HostileCase one{"bundle", "stream of records: " + what, command, {}, end, "", {"work/merged"}};
  const bool of_study = command.size() > 1 && command[1] == "study";
  if (end == End::kRefused) one.named = of_study ? "study.zip" : "bundle.zip";
  one.make = [change, of_study](const Fixture& fixture) {
    Members members = PackedBundle(BundleMembers(fixture, "work/bundle.zip"));
    change(&members);
    WriteSigned(fixture, of_study ? "work/study/study.zip" : "work/bundle.zip", members);
    if (of_study) fixture.Write("work/study/study.textproto", fixture.Read("work/study.textproto"));
  };
  return one;
}

// A header of a file with any name, type and size, and with a correct checksum.
std::string Header(const std::string& name, char type, const std::string& size) {
  std::string header(kBlock, '\0');
  const auto put = [&](size_t at, const std::string& text) { header.replace(at, text.size(), text); };
  put(0, name.substr(0, 100));
  put(100, std::string("0000644\0"
                       "0000000\0"
                       "0000000\0",
                       24));
  put(124, size);
  put(136, "00000000000");
  put(148, "        ");
  put(156, std::string(1, type));
  if (type == '1' || type == '2') put(157, "/etc/passwd");
  put(257, std::string("ustar\0"
                       "00",
                       8));
  uint64_t sum = 0;
  for (const char byte : header) sum += static_cast<uint8_t>(byte);
  put(148, absl::StrFormat("%06o", sum));
  header[154] = '\0';
  return header;
}

std::string File(const std::string& name, const std::string& content, char type = '0') {
  return absl::StrCat(Header(name, type, absl::StrFormat("%011o", content.size())), content,
                      std::string((kBlock - content.size() % kBlock) % kBlock, '\0'));
}

std::string RecordName(int n) { return absl::StrFormat("records/ff/ff%062d.rec", n); }

// Appends to the records or, with `alone`, replaces them.
std::function<void(Members*)> Archive(const std::string& more, bool alone = false) {
  return [=](Members* members) {
    std::string archive = FromXz(Find(kRecords, members).content);
    CHECK_GT(archive.size(), End0().size());
    archive.resize(alone ? 0 : archive.size() - End0().size());
    Find(kRecords, members).content = XzBytes(archive + more);
  };
}

}  // namespace

std::vector<HostileCase> PackedCases() {
  std::vector<HostileCase> cases;
  size_t n = 0;
  const auto refuse = [&](const std::string& what, const std::function<void(Members*)>& change) {
    cases.push_back(Case(what, Reader(n++), change, End::kRefused));
  };
  const auto holds = [&](const std::string& what, const std::function<std::string(const std::string&)>& change) {
    refuse(what, [change](Members* members) {
      std::string& stream = Find(kRecords, members).content;
      stream = change(stream);
    });
  };
  // The stream as such.
  refuse("none", [](Members* members) { members->erase(members->end() - 2); });
  holds("nothing", [](const std::string&) { return std::string(); });
  holds("noise", [](const std::string&) { return std::string(100000, '\xfd'); });
  holds("gzip", [](const std::string& stream) { return GzipBytes(FromXz(stream)); });
  holds("the tar archive itself", [](const std::string& stream) { return FromXz(stream); });
  holds("half", [](const std::string& stream) { return stream.substr(0, stream.size() / 2); });
  holds("all but a byte", [](const std::string& stream) { return stream.substr(0, stream.size() - 1); });
  holds("a byte more", [](const std::string& stream) { return stream + "x"; });
  holds("twice in a row", [](const std::string& stream) { return stream + stream; });
  holds("a bit changed", [](const std::string& stream) {
    std::string changed = stream;
    changed[changed.size() / 2] ^= 4;
    return changed;
  });
  holds("an xz stream of nothing", [](const std::string&) { return XzBytes(""); });
  refuse("deflated, unfolds", [](Members* members) {
    Find(kRecords, members) = {kRecords, std::string(1 << 20, '\0'), true, 0100644, -1, 200};
  });
  refuse("says it has 4 GB", [](Members* members) { Find(kRecords, members).declared = 0xfffffffe; });
  // Streams that unpack to zeros, to a file that is too large, or to many smaller files.
  refuse("300 MB of zeros",
         [](Members* members) { Find(kRecords, members).content = XzBytes(std::string(300 << 20, '\0')); });
  refuse("a file of 300 MB", [](Members* members) {
    Find(kRecords, members).content = XzBytes(File(RecordName(0), std::string(300 << 20, '\0')) + End0());
  });
  refuse("20 files of 60 MB", [](Members* members) {
    const std::string part(60 << 20, '\0'), sum = SumsOf({{"", part}}).substr(0, 64);
    std::string stream, sums;
    RecordPacker packer([&](absl::string_view bytes) {
      stream.append(bytes.data(), bytes.size());
      return absl::OkStatus();
    });
    for (int i = 0; i < 20; ++i) {
      CHECK(packer.Add(RecordName(i), part).ok());
      absl::StrAppend(&sums, sum, "  ", RecordName(i), "\n");
    }
    CHECK(packer.Finish().ok());
    Find(kRecords, members).content = stream;
    Find(kSums, members).content = sums;
  });
  cases.push_back(Case(
      "20,000 files of a byte", Reader(0),
      [](Members* members) {
        std::string archive;
        Members files;
        for (int i = 0; i < 20000; ++i) {
          files.push_back({RecordName(i), "x"});
          archive += File(files.back().name, "x");
        }
        Find(kRecords, members).content = XzBytes(archive + End0());
        Find(kSums, members).content = SumsOf(files);
      },
      End::kNoted));
  // Names, kinds, sizes.
  for (const std::string& name :
       {std::string("../../outside/file"), std::string("/var/lib/pwn"), std::string("records/\x1b]0;x\a.rec"),
        std::string("records/\xff\xfe.rec"), std::string("records/x"), std::string("running/") + std::string(64, 'a'),
        std::string("version"), std::string("manifest.textproto"), std::string("SHA256SUMS"),
        std::string("library/tasks/x.textproto"), std::string("outputs/aa/") + std::string(64, 'a') + "/outputs.npz",
        std::string("records/ab/") + std::string(64, 'a') + ".rec",
        std::string("records/AA/") + std::string(64, 'A') + ".rec", std::string()}) {
    refuse("a file " + name, Archive(File(name, "x") + End0()));
  }
  for (const char type : std::string("123456789xgLKSVN\0", 17)) {
    refuse(absl::StrCat("a member of kind ", static_cast<int>(type)), Archive(File(RecordName(0), "x", type) + End0()));
  }
  for (const std::string& size : {std::string("77777777777"), std::string("-0000000001"), std::string("99999999999"),
                                  std::string("\x80\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), std::string("\xff"),
                                  std::string("00000000002"), std::string()}) {
    refuse("a size of " + size, Archive(Header(RecordName(0), '0', size) + std::string(kBlock, 'x') + End0()));
  }
  const std::string one = File(RecordName(1), "x");
  refuse("a record twice", Archive(one + one + End0()));
  refuse("records out of order", Archive(one + File(RecordName(0), "x") + End0()));
  refuse("a header of noise", Archive(std::string(kBlock, '\xff') + End0()));
  refuse("a sum of a header that is wrong", Archive("x" + one.substr(1) + End0()));
  refuse("an archive without an end", Archive(""));
  refuse("half an end", Archive(std::string(kBlock, '\0')));
  refuse("a header cut short", Archive(one.substr(0, 100)));
  refuse("a file cut short", Archive(one.substr(0, kBlock + 10)));
  refuse("a block of zeros before a file", Archive(std::string(kBlock, '\0') + one + End0()));
  refuse("a file after the end", Archive(End0() + one + End0()));
  refuse("zeros after the end", Archive(End0() + End0()));
  refuse("no files, whose sums are there", Archive(End0(), true));
  // The members next to the stream.
  const auto sums = [&](const std::string& what, const std::function<std::string(std::string)>& change) {
    refuse("sums " + what, [change](Members* members) {
      std::string& text = Find(kSums, members).content;
      text = change(text);
    });
  };
  sums("of nothing", [](const std::string&) { return ""; });
  sums("of noise", [](const std::string&) { return "\x1b[2J\xff\n\n"; });
  sums("with a digit changed", [](std::string text) {
    char& digit = text[text.find("  records/") - 1];
    digit = digit == '0' ? '1' : '0';
    return text;
  });
  sums("without the last",
       [](const std::string& text) { return text.substr(0, text.rfind('\n', text.size() - 2) + 1); });
  sums("of a record more", [](const std::string& text) { return text + SumsOf({{RecordName(7), "x"}}); });
  refuse("a record beside it", [](Members* members) { members->push_back({RecordName(3), "x"}); });
  const auto manifest = [&](const std::string& what, const std::string& text) {
    refuse("a manifest of " + what, [text](Members* members) { Find("manifest.textproto", members).content = text; });
  };
  manifest("version 1", "schema_version: 2\n");
  manifest("version 3", "schema_version: 2\nbundle_version: 3\n");
  manifest("version 0", "schema_version: 2\nbundle_version: 0\n");
  manifest("version -1", "schema_version: 2\nbundle_version: -1\n");
  manifest("a large version", "schema_version: 2\nbundle_version: 2147483647\n");
  manifest("two versions", "schema_version: 2\nbundle_version: 2\nbundle_version: 2\n");
  // If a name occurs twice, the last member counts.
  cases.push_back(Case(
      "twice, the last of noise", Reader(0),
      [](Members* members) {
        members->push_back({kRecords, "x"});
      },
      End::kRefused));
  return cases;
}

}  // namespace openset
