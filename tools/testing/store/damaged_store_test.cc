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

// Links are in foreign_entries_test.cc: they are named, and stay.
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
      {"a pipe that nobody writes to", record, Seen::kInReport, [=] { MakePipe(record); }},
      {"half a record", record, Seen::kInReport, [=] { fs::resize_file(record, fs::file_size(record) / 2); }},
      {"a flipped bit", record, Seen::kInReport, [=] { FlipBit(record); }},
      {"a record and more", record, Seen::kInReport, [=] { std::ofstream(record, std::ios::app) << "x"; }},
      {"another trial's record", record, Seen::kInReport, [=] { copy(other, record); }},
      {"a file in the place of a folder of records", shard, Seen::kAsMissing, [=] { Replace(shard, "x"); }},
      {"a record in another's folder", strange_shard, Seen::kAsStranger,
       [=] { copy(record, strange_shard + "/" + fs::path(record).filename().string()); }},
      {"a record without a name", strange_name, Seen::kAsStranger, [=] { copy(record, strange_name); }},
      {"a duplicate of another digest than its name", replica, Seen::kNowhere, [=] { copy(other, replica); }},
      {"an empty duplicate", replica, Seen::kNowhere, [=] { copy(record, replica), Replace(replica, ""); }},
      {"an attempt that is nonsense", attempt, Seen::kNowhere, [=] { copy(record, attempt), Replace(attempt, "x"); }},
      {"empty weights", weights, Seen::kNowhere, [=] { Replace(weights, ""); }},
      {"no weights", weights, Seen::kNowhere, [=] { fs::remove(weights); }},
      {"weights that are a pipe", weights, Seen::kNowhere, [=] { MakePipe(weights); }},
      {"a file in a checkpoint's place", checkpoint, Seen::kNowhere, [=] { Replace(checkpoint, "x"); }},
      {"a checkpoint without its summary", checkpoint, Seen::kNowhere,
       [=] { fs::remove(checkpoint + "/summary.rec"); }},
      {"another action than the summary's", checkpoint + "/action.textproto", Seen::kNowhere,
       [=] { std::ofstream(checkpoint + "/action.textproto", std::ios::app) << "seed: 7\n"; }},
      {"a flipped bit of outputs", arrays, Seen::kNowhere, [=] { FlipBit(arrays); }},
      {"a folder in the place of outputs", arrays, Seen::kNowhere, [=] { MakeFolder(arrays); }},
      {"the summary of other outputs", outputs, Seen::kNowhere,
       [=] { copy(other_outputs + "/summary.rec", outputs + "/summary.rec"); }},
  };
}

TEST(DamagedStore, CorruptResultsAreNamedQuarantinedAndMadeAgain) {
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

// A colleague's files that nobody else may read: they are named, stay where they are, and nothing takes their place.
TEST(DamagedStore, WhatIsClosedStays) {
  HoldByModes();
  const OpensetProgram program;
  program.Write("study.textproto", kSmallStudy);
  ASSERT_EQ(program.Run({"run", "study.textproto"}).exit_code, 0);
  const auto records = program.Records();
  const std::string record = EntriesOf(program.store(), "records")[0];
  const std::string weights = EntriesOf(program.store(), "checkpoints")[0] + "/checkpoint.safetensors";
  const std::string arrays = EntriesOf(program.store(), "outputs")[0] + "/outputs.npz";
  for (const std::string& closed : {record, fs::path(record).parent_path().string(), weights, arrays}) {
    SCOPED_TRACE(closed);
    const fs::perms before = fs::status(closed).permissions();
    Close(closed);
    const std::string named = closed.substr(program.folder().size() + 1);
    const bool is_of_record = absl::StrContains(closed, "/records/");
    for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
             {"records", "verify"}, {"run", "study.textproto"}, {"report", "study.textproto"}, {"records", "ls"}}) {
      SCOPED_TRACE(command[1]);
      const ProgramResult result = program.Run(command);
      const bool reads_it = is_of_record || command[1] == "verify";
      EXPECT_EQ(result.exit_code, reads_it ? 1 : 0) << result.out << result.err;
      if (reads_it) {
        EXPECT_THAT(result.out + result.err, HasSubstr(named));
      }
    }
    EXPECT_THAT(program.Run({"records", "verify"}).out, HasSubstr("0 corrupt, 1 can't be read now"));
    EXPECT_EQ(program.Run({"records", "gc"}).exit_code == 0, !is_of_record);
    fs::permissions(closed, before);
    EXPECT_FALSE(fs::exists(program.store() + "/quarantine"));
    EXPECT_EQ(program.Run({"records", "verify"}).exit_code, 0);
    EXPECT_EQ(program.Records(), records);
  }
  // Outputs that a run needs.
  const std::string kept = *ReadFile(record);
  fs::remove(record);
  for (const std::string& outputs : EntriesOf(program.store(), "outputs")) Close(outputs + "/outputs.npz");
  const ProgramResult run = program.Run({"run", "study.textproto", "--retries=0"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out + run.err, HasSubstr("outputs.npz: Permission denied"));
  EXPECT_FALSE(fs::exists(program.store() + "/quarantine"));
  for (const std::string& outputs : EntriesOf(program.store(), "outputs")) {
    fs::permissions(outputs + "/outputs.npz", fs::perms::owner_all);
  }
  EXPECT_EQ(program.Run({"run", "study.textproto"}).exit_code, 0);
  EXPECT_EQ(program.Records(), records);
}

// Each pair of valid results that changed places: of an imported model, of ensembles, of trainings that start from
// another one, and of outputs that scores are fitted to. None is used, and all are made again.
TEST(DamagedStore, ResultsInEachOthersPlaceAreNotUsed) {
  const OpensetProgram program;
  std::string study = kSmallStudy;
  study.replace(study.find("[\"softmax\", \"mcp\"]"), 18, "[\"softmax\", \"knn\", \"deep_ensemble\"]");
  program.Write("study.textproto", study);
  ASSERT_EQ(program.Run({"run", "study.textproto"}).exit_code, 0);
  const auto records = program.Records();
  const auto swap = [&program](const std::string& a, const std::string& b) {
    const std::string aside = program.folder() + "/aside";
    fs::rename(a, aside);
    fs::rename(b, a);
    fs::rename(aside, b);
  };
  int pairs = 0;
  for (const std::string kind : {"outputs", "checkpoints", "records"}) {
    const std::vector<std::string> all = EntriesOf(program.store(), kind);
    ASSERT_GE(all.size(), 2) << kind;
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t j = i + 1; j < all.size(); ++j) {
        if (++pairs % Times(1, 4) != 0) continue;
        swap(all[i], all[j]);
        const ProgramResult verified = program.Run({"records", "verify", "--dry_run"});
        EXPECT_EQ(verified.exit_code, 1);
        for (const std::string& path : {all[i], all[j]}) {
          EXPECT_THAT(verified.out, HasSubstr(path.substr(program.folder().size() + 1)));
        }
        EXPECT_THAT(verified.out, HasSubstr(": 2 corrupt"));
        swap(all[i], all[j]);
      }
    }
  }
  EXPECT_EQ(program.Run({"records", "verify"}).exit_code, 0);
  std::cout << pairs << " pairs of results in each other's place\n";

  // Outputs of different trainings: they are refused by whoever would use them, and the records are the same again.
  const std::vector<std::string> outputs = EntriesOf(program.store(), "outputs");
  swap(outputs[0], outputs[1]);
  EXPECT_NE(program.Run({"records", "export", "--bundle=all.zip", "--with=outputs"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(program.folder() + "/all.zip"));
  std::string explained;
  for (const auto& [id, record] : records) explained += program.Run({"explain", id.substr(0, 12)}).out;
  EXPECT_THAT(explained, HasSubstr("corrupt: "));
  fs::remove_all(program.store() + "/records");
  ProgramResult run = program.Run({"run", "study.textproto"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("it belongs to another action"));
  EXPECT_EQ(program.Records(), records);

  const std::vector<std::string> checkpoints = EntriesOf(program.store(), "checkpoints");
  for (size_t i = 0; i + 1 < checkpoints.size(); i += 2) swap(checkpoints[i], checkpoints[i + 1]);
  fs::remove_all(program.store() + "/records");
  fs::remove_all(program.store() + "/outputs");
  run = program.Run({"run", "study.textproto"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(program.Records(), records);
  EXPECT_EQ(program.Run({"records", "verify"}).exit_code, 0);
}

}  // namespace
}  // namespace openset
