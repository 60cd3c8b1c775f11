// A store with one corruption at a time: `records verify` names it and moves it to quarantine, `report` uses the other
// results and says what is missing, and `run` restores the same records. OPENSET_FAULTS=long: all cases, otherwise
// every third.
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/testing/fault_rounds.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

void Replace(const std::string& path, const std::string& content) {
  fs::remove_all(path);
  std::ofstream(path, std::ios::binary) << content;
}

void MakeFolder(const std::string& path) {
  fs::remove_all(path);
  fs::create_directories(path);
}

// Replaces the entry by a link to itself.
void MakeLoop(const std::string& path) {
  fs::remove_all(path);
  fs::create_symlink(fs::path(path).filename(), path);
}

void MakePipe(const std::string& path) {
  fs::remove_all(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
}

// Root ignores file modes. Programs started from here on lose that power, so that modes apply to them. Other users
// don't have it.
void HoldByModes() {
  for (const int power : {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH}) prctl(PR_CAPBSET_DROP, power);
}

void Close(const std::string& path) { fs::permissions(path, fs::perms::none); }

// The entries of kind/XX/ in order.
std::vector<std::string> EntriesOf(const std::string& store, const std::string& kind) {
  std::vector<std::string> entries;
  const std::vector<std::string> shards = *ListFolder(JoinPath(store, kind));
  for (const std::string& shard : shards) {
    const std::string folder = absl::StrCat(store, "/", kind, "/", shard);
    const std::vector<std::string> names = *ListFolder(folder);
    for (const std::string& name : names) entries.push_back(JoinPath(folder, name));
  }
  return entries;
}

// Where the corruption becomes visible, other than in `records verify`.
enum class Seen {
  kInReport,   // the report names the record's path and exits with 1
  kAsMissing,  // the record counts as missing
  kNowhere,    // the report doesn't read it
  kAsStranger  // nothing reads it, and it stays
};

struct Damage {
  std::string what;
  std::string path;  // must be named in the message
  Seen seen;
  std::function<void()> make;
};

std::vector<Damage> DamagesOf(const std::string& store) {
  const std::string record = EntriesOf(store, "records")[0], other = EntriesOf(store, "records")[1];
  const std::string checkpoint = EntriesOf(store, "checkpoints")[0], outputs = EntriesOf(store, "outputs")[0];
  const std::string other_outputs = EntriesOf(store, "outputs")[1];
  const std::string weights = checkpoint + "/checkpoint.safetensors", arrays = outputs + "/outputs.npz";
  const std::string shard = fs::path(record).parent_path(), id = fs::path(record).stem();
  const std::string replica =
      absl::StrCat(store, "/replicas/", id.substr(0, 2), "/", id, "/", std::string(64, '0'), ".rec");
  const std::string attempt = absl::StrCat(store, "/attempts/", id, "/1.rec");
  const std::string strange_shard = store + "/records/00", strange_name = shard + "/note.rec";
  const auto copy = [](const std::string& from, const std::string& to) {
    fs::create_directories(fs::path(to).parent_path());
    fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  };
  return {
      {"an empty record", record, Seen::kInReport, [=] { Replace(record, ""); }},
      {"a folder in a record's place", record, Seen::kInReport, [=] { MakeFolder(record); }},
      {"a link to itself", record, Seen::kInReport, [=] { MakeLoop(record); }},
      {"a record that is closed", record, Seen::kInReport, [=] { Close(record); }},
      {"a link to nowhere", record, Seen::kInReport,
       [=] { fs::remove(record), fs::create_symlink("nowhere", record); }},
      {"a pipe that nobody writes to", record, Seen::kInReport, [=] { MakePipe(record); }},
      {"half a record", record, Seen::kInReport, [=] { fs::resize_file(record, fs::file_size(record) / 2); }},
      {"a flipped bit", record, Seen::kInReport, [=] { FlipBit(record); }},
      {"a record and more", record, Seen::kInReport, [=] { std::ofstream(record, std::ios::app) << "x"; }},
      {"another trial's record", record, Seen::kInReport, [=] { copy(other, record); }},
      {"a file in the place of a folder of records", shard, Seen::kAsMissing, [=] { Replace(shard, "x"); }},
      {"a folder of records that is a link to itself", shard, Seen::kAsMissing, [=] { MakeLoop(shard); }},
      {"a record in another's folder", strange_shard, Seen::kAsStranger,
       [=] { copy(record, strange_shard + "/" + fs::path(record).filename().string()); }},
      {"a record without a name", strange_name, Seen::kAsStranger, [=] { copy(record, strange_name); }},
      {"a duplicate of another digest than its name", replica, Seen::kNowhere, [=] { copy(other, replica); }},
      {"an empty duplicate", replica, Seen::kNowhere, [=] { copy(record, replica), Replace(replica, ""); }},
      {"an attempt that is nonsense", attempt, Seen::kNowhere, [=] { copy(record, attempt), Replace(attempt, "x"); }},
      {"empty weights", weights, Seen::kNowhere, [=] { Replace(weights, ""); }},
      {"weights that are closed", weights, Seen::kNowhere, [=] { Close(weights); }},
      {"no weights", weights, Seen::kNowhere, [=] { fs::remove(weights); }},
      {"weights that are a pipe", weights, Seen::kNowhere, [=] { MakePipe(weights); }},
      {"a file in a checkpoint's place", checkpoint, Seen::kNowhere, [=] { Replace(checkpoint, "x"); }},
      {"a checkpoint that is a link to itself", checkpoint, Seen::kNowhere, [=] { MakeLoop(checkpoint); }},
      {"a checkpoint without its summary", checkpoint, Seen::kNowhere,
       [=] { fs::remove(checkpoint + "/summary.rec"); }},
      {"another action than the summary's", checkpoint + "/action.textproto", Seen::kNowhere,
       [=] { std::ofstream(checkpoint + "/action.textproto", std::ios::app) << "seed: 7\n"; }},
      {"a flipped bit of outputs", arrays, Seen::kNowhere, [=] { FlipBit(arrays); }},
      {"outputs that are closed", arrays, Seen::kNowhere, [=] { Close(arrays); }},
      {"a folder in the place of outputs", arrays, Seen::kNowhere, [=] { MakeFolder(arrays); }},
      {"the summary of other outputs", arrays, Seen::kNowhere,
       [=] { copy(other_outputs + "/summary.rec", outputs + "/summary.rec"); }},
  };
}

TEST(DamagedStore, CorruptResultsAreNamedQuarantinedAndMadeAgain) {
  HoldByModes();
  const OpensetProgram program;
  program.Write("study.textproto", kSmallStudy);
  ASSERT_EQ(program.Run({"run", "study.textproto"}).exit_code, 0);
  const auto records = program.Records();
  ASSERT_EQ(records.size(), 2);
  const std::string pristine = program.folder() + "/pristine";
  fs::copy(program.store(), pristine, fs::copy_options::recursive);
  const std::vector<Damage> damages = DamagesOf(program.store());
  EXPECT_GE(damages.size(), 20);
  int tried = 0;
  for (size_t d = 0; d < damages.size(); d += Times(1, 3)) {
    const Damage& damage = damages[d];
    SCOPED_TRACE(damage.what);
    fs::remove_all(program.store());
    fs::copy(pristine, program.store(), fs::copy_options::recursive);
    damage.make();
    // The store's folder may be relative in messages.
    const std::string named = damage.path.substr(program.folder().size() + 1);

    const ProgramResult report = program.Run({"report", "study.textproto"});
    const bool is_missing = damage.seen == Seen::kInReport || damage.seen == Seen::kAsMissing;
    if (damage.seen != Seen::kAsMissing) {
      EXPECT_EQ(report.exit_code, damage.seen == Seen::kInReport ? 1 : 0) << report.err;
    }
    EXPECT_THAT(report.out, HasSubstr("accuracy"));  // the rest
    EXPECT_EQ(absl::StrContains(report.out, "1 of 2 trials have no record yet") ||
                  absl::StrContains(report.out, "1 of 2 trials lacks only the evaluation"),
              is_missing)
        << report.out;
    if (damage.seen == Seen::kInReport) {
      EXPECT_THAT(report.err, HasSubstr(named));
    }

    const ProgramResult looked = program.Run({"records", "verify"});
    EXPECT_EQ(looked.exit_code, 1);
    EXPECT_THAT(looked.out, HasSubstr(named));
    EXPECT_EQ(fs::exists(program.store() + "/quarantine/1"), damage.seen != Seen::kAsStranger);
    const ProgramResult run = program.Run({"run", "study.textproto"});
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    EXPECT_EQ(program.Records(), records);
    EXPECT_EQ(program.Run({"records", "verify"}).exit_code, damage.seen == Seen::kAsStranger ? 1 : 0);
    ++tried;
  }
  std::cout << "R8: " << tried << " kinds of damage: all named, quarantined and made again\n";
}

// Without `verify`: a run checks its inputs itself.
TEST(DamagedStore, ARunMakesCorruptResultsAgain) {
  HoldByModes();
  const OpensetProgram program;
  program.Write("study.textproto", kSmallStudy);
  ASSERT_EQ(program.Run({"run", "study.textproto"}).exit_code, 0);
  const auto records = program.Records();
  int n = 0;
  for (const Damage& damage : DamagesOf(program.store())) {
    if (damage.seen != Seen::kInReport || n++ % Times(1, 3) != 0) continue;
    SCOPED_TRACE(damage.what);
    damage.make();
    const ProgramResult run = program.Run({"run", "study.textproto"});
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    EXPECT_EQ(program.Records(), records);
  }
  EXPECT_EQ(program.Run({"records", "verify"}).exit_code, 0);
}

}  // namespace
}  // namespace openset
