// Records, alone and in bundles: fields at their extremes under checksums that fit.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/formats/zip_reader.h"
#include "core/logging.h"
#include "core/testing/archive_bytes.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/spec/method.pb.h"
#include "experiments/spec/trial.pb.h"
#include "experiments/store/details.pb.h"
#include "tools/testing/hostile/hostile_case.h"

namespace openset {
namespace {

using Change = std::function<void(TrialRecord*)>;

struct RecordChange {
  std::string what;
  Change change;
};

constexpr int kLeast = std::numeric_limits<int>::min(), kMost = std::numeric_limits<int>::max();

std::vector<RecordChange> NumberChanges() {
  std::vector<RecordChange> changes;
  for (const int64_t number : {int64_t{-1}, int64_t{-1000000000}, int64_t{1000000000},
                               std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    const int small = static_cast<int>(std::max<int64_t>(kLeast, std::min<int64_t>(kMost, number)));
    const auto add = [&](const std::string& what, Change change) {
      changes.push_back({absl::StrCat(what, " ", number), std::move(change)});
    };
    add("mistake.row", [=](TrialRecord* r) { r->mutable_details()->mutable_mistake(0)->set_row(number); });
    add("mistake.predicted_label",
        [=](TrialRecord* r) { r->mutable_details()->mutable_mistake(0)->set_predicted_label(small); });
    add("mistake.class_id", [=](TrialRecord* r) { r->mutable_details()->mutable_mistake(0)->set_class_id(number); });
    add("confusion.actual",
        [=](TrialRecord* r) { r->mutable_details()->mutable_decisions()->add_confusion()->set_actual(small); });
    add("confusion.predicted",
        [=](TrialRecord* r) { r->mutable_details()->mutable_decisions()->add_confusion()->set_predicted(small); });
    add("known.class_id",
        [=](TrialRecord* r) { r->mutable_details()->mutable_decisions()->mutable_known(0)->set_class_id(number); });
    add("known.samples",
        [=](TrialRecord* r) { r->mutable_details()->mutable_decisions()->mutable_known(0)->set_samples(number); });
    add("density.count", [=](TrialRecord* r) {
      for (int64_t& count : *r->mutable_details()->mutable_density()->mutable_series(0)->mutable_count())
        count = number;
    });
    add("counts", [=](TrialRecord* r) {
      r->mutable_counts()->set_known(number);
      r->mutable_counts()->set_unknown_classes(small);
    });
    add("split", [=](TrialRecord* r) { r->mutable_trial()->set_split(small); });
    add("epoch", [=](TrialRecord* r) { r->add_epoch()->set_epoch(small); });
    add("threads", [=](TrialRecord* r) { r->mutable_provenance()->mutable_stage(0)->set_threads(small); });
    add("peak_memory_bytes",
        [=](TrialRecord* r) { r->mutable_provenance()->mutable_stage(0)->set_peak_memory_bytes(number); });
    add("schema_version", [=](TrialRecord* r) { r->set_schema_version(small); });
  }
  for (const double number : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e308, -1e308}) {
    const auto add = [&](const std::string& what, Change change) {
      changes.push_back({absl::StrCat(what, " ", number), std::move(change)});
    };
    add("metric.value", [=](TrialRecord* r) { r->mutable_metric(0)->set_value(number); });
    add("metric.interval", [=](TrialRecord* r) {
      r->mutable_metric(0)->mutable_interval()->set_low(number);
      r->mutable_metric(0)->mutable_interval()->set_high(-number);
    });
    add("openness", [=](TrialRecord* r) { r->mutable_trial()->set_openness(number); });
    add("epoch.loss", [=](TrialRecord* r) { r->add_epoch()->set_loss(number); });
    add("threshold", [=](TrialRecord* r) { r->mutable_details()->mutable_decisions()->set_threshold(number); });
    add("density.low", [=](TrialRecord* r) { r->mutable_details()->mutable_density()->set_low(number); });
    add("curve.x",
        [=](TrialRecord* r) { r->mutable_details()->mutable_curve(0)->set_x(0, static_cast<float>(number)); });
    add("started_at_seconds", [=](TrialRecord* r) {
      r->mutable_provenance()->mutable_stage(0)->set_started_at_seconds(number);
      r->mutable_provenance()->mutable_stage(0)->set_wall_seconds(number);
    });
  }
  return changes;
}

std::vector<RecordChange> TextChanges() {
  std::vector<RecordChange> changes;
  for (const std::string& text :
       {std::string("\xff\xfe"), std::string("\x1b]0;owned\a"), std::string("a\nb"), std::string("\xe2\x80\xaegnp"),
        std::string("\xc2\x9b"
                    "31m"),
        std::string("../../outside/file"), std::string("x';touch pwn;'"), std::string("=1+1"),
        std::string("</script><script>alert(1)</script>"), std::string("a\0b", 3), std::string(),
        std::string(200000, 'x')}) {
    const auto add = [&](const std::string& what, Change change) {
      changes.push_back({absl::StrCat(what, " is the text ", text.substr(0, 20)), std::move(change)});
    };
    add("method", [=](TrialRecord* r) { r->mutable_trial()->mutable_method()->set_name(text); });
    add("task", [=](TrialRecord* r) { r->mutable_trial()->set_task(text); });
    add("axis", [=](TrialRecord* r) {
      AxisValue* axis = r->mutable_trial()->add_axis();
      axis->set_name(text), axis->set_value(text);
    });
    add("experiment", [=](TrialRecord* r) { r->mutable_trial()->set_experiment(text); });
    add("laid_over", [=](TrialRecord* r) { r->mutable_trial()->add_laid_over(text); });
    add("metric.name", [=](TrialRecord* r) { r->mutable_metric(0)->set_name(text); });
    add("metric.absent_reason", [=](TrialRecord* r) {
      r->mutable_metric(0)->clear_value();
      r->mutable_metric(0)->set_absent_reason(text);
    });
    add("group.set", [=](TrialRecord* r) {
      r->mutable_metric(0)->mutable_group()->set_kind(MetricGroup::SET);
      r->mutable_metric(0)->mutable_group()->set_set(text);
    });
    add("host, cpu, commit", [=](TrialRecord* r) {
      StageProvenance* stage = r->mutable_provenance()->mutable_stage(0);
      stage->set_host(text), stage->set_cpu(text), stage->set_commit(text), stage->set_libraries(text);
      stage->add_component()->set_family(text);
    });
    add("outputs_key", [=](TrialRecord* r) { r->set_outputs_key(text); });
    add("checkpoint_key", [=](TrialRecord* r) { r->set_checkpoint_key(text); });
    add("split_sha256", [=](TrialRecord* r) { r->set_split_sha256(text); });
    add("ignored_tensor", [=](TrialRecord* r) { r->add_ignored_tensor(text); });
    add("decisions.rule", [=](TrialRecord* r) { r->mutable_details()->mutable_decisions()->set_rule(text); });
    add("mistake.set", [=](TrialRecord* r) { r->mutable_details()->mutable_mistake(0)->set_set(text); });
  }
  return changes;
}

std::vector<RecordChange> ShapeChanges() {
  return {
      {"nothing in it", [](TrialRecord* r) { r->Clear(); }},
      {"only id and version",
       [](TrialRecord* r) {
         TrialRecord bare;
         bare.set_schema_version(r->schema_version()), bare.set_trial_id(r->trial_id());
         *r = bare;
       }},
      {"no trial", [](TrialRecord* r) { r->clear_trial(); }},
      {"no metrics", [](TrialRecord* r) { r->clear_metric(); }},
      {"10,000 metrics",
       [](TrialRecord* r) {
         for (int i = 0; i < 10000; ++i) *r->add_metric() = r->metric(0);
       }},
      {"curves of different lengths", [](TrialRecord* r) { r->mutable_details()->mutable_curve(0)->add_x(1); }},
      {"a curve that goes back", [](TrialRecord* r) { r->mutable_details()->mutable_curve(0)->set_x(0, 2); }},
      {"densities of different lengths",
       [](TrialRecord* r) { r->mutable_details()->mutable_density()->mutable_series(0)->add_count(1); }},
      {"a million counts",
       [](TrialRecord* r) {
         for (int i = 0; i < 1000000; ++i) r->mutable_details()->mutable_density()->mutable_series(0)->add_count(1);
       }},
      {"another trial's id", [](TrialRecord* r) { r->set_trial_id(Sha256Hex("another")); }},
      {"another trial", [](TrialRecord* r) { r->mutable_trial()->set_seed(77); }},
      {"another method", [](TrialRecord* r) { r->mutable_trial()->mutable_method()->mutable_model()->Clear(); }},
      {"a search without candidates", [](TrialRecord* r) { r->mutable_trial()->mutable_search()->set_chosen(7); }},
      {"methods that start from methods",
       [](TrialRecord* r) {
         for (int i = 0; i < 2000; ++i) r->add_epoch()->add_metric()->mutable_spec()->mutable_auroc();
       }},
  };
}

std::vector<RecordChange> AllChanges() {
  std::vector<RecordChange> changes = NumberChanges();
  for (RecordChange& change : TextChanges()) changes.push_back(std::move(change));
  for (RecordChange& change : ShapeChanges()) changes.push_back(std::move(change));
  return changes;
}

void WriteSigned(const Ground& ground, const std::vector<ZipMember>& members) {
  const std::string bytes = ZipBytes(members, "openset bundle sha256:" + std::string(64, '0'));
  const std::string before = bytes.substr(0, bytes.size() - 64);
  ground.Write("work/bundle.zip", before + Sha256Hex(before));
}

std::string Megabyte(char of) { return std::string(1 << 20, of); }

// Bundles whose signature is right, of other members.
std::vector<HostileCase> BundlesOfOtherMembers() {
  std::vector<HostileCase> cases;
  const auto add = [&](const std::string& what, const std::vector<ZipMember>& members) {
    HostileCase one{"bundle", what,          {"records", "merge", "bundle.zip", "--store=merged"},
                    {},       End::kRefused, "bundle.zip"};
    one.make = [members](const Ground& ground) { WriteSigned(ground, members); };
    cases.push_back(one);
  };
  const std::string manifest = "schema_version: 2\n", name = "records/ab/ab" + std::string(62, '1') + ".rec";
  add("no members", {});
  add("a member out of the folder", {{"../../outside/file", "x"}, {"manifest.textproto", manifest}});
  add("an absolute member", {{"/var/lib/pwn", "x"}, {"manifest.textproto", manifest}});
  add("a link", {{"manifest.textproto", manifest}, {name, "/etc/passwd", false, 0120777}});
  add("a name with control characters", {{"manifest.textproto", manifest}, {"records/\x1b]0;x\a.rec", "x"}});
  add("a name that is not UTF-8", {{"manifest.textproto", manifest}, {"records/\xff\xfe.rec", "x"}});
  add("a long name", {{"manifest.textproto", manifest}, {"records/" + std::string(60000, 'x') + ".rec", "x"}});
  add("a name with a zero byte", {{"manifest.textproto", manifest}, {std::string("records/a\0b.rec", 15), "x"}});
  add("a member twice", {{"manifest.textproto", manifest}, {"manifest.textproto", manifest}});
  add("30,000 members", std::vector<ZipMember>(30000, {"records/x", ""}));
  add("a manifest that is no text", {{"manifest.textproto", "\xff{{{"}, {name, "x"}});
  add("a manifest of another version", {{"manifest.textproto", "schema_version: 2147483647\n"}, {name, "x"}});
  add("a manifest that counts to -1", {{"manifest.textproto", "schema_version: 2 records: -1 replicas: -1\n"}});
  add("a manifest of zeros that unfolds", {{"manifest.textproto", Megabyte('\n'), true, 0100644, -1, 200}});
  add("a record of zeros that unfolds",
      {{"manifest.textproto", manifest}, {name, Megabyte('\0'), true, 0100644, -1, 200}});
  add("a record that says it has 4 GB", {{"manifest.textproto", manifest}, {name, "x", false, 0100644, 0xfffffffe}});
  add("a schema of noise",
      {{"manifest.textproto", manifest}, {name, "x"}, {"schema.binpb", std::string(1000, '\x0b')}});
  return cases;
}

// Commands that look at records, by turns.
const std::vector<std::vector<std::string>>& Readers() {
  static const auto* const readers = new std::vector<std::vector<std::string>>{
      {"report", "study.textproto", "--store=store", "--data=files", "--format=html"},
      {"records", "ls", "--store=store"},
      {"report", "study.textproto", "--store=store", "--data=files"},
      {"records", "ls", "--store=store", "--format=json"},
      {"records", "verify", "--store=store", "--dry_run"},
      {"report", "study.textproto", "--store=store", "--data=files", "--format=json"},
      {"records", "ls", "--store=store", "--format=csv"},
      {"records", "show", "TRIAL", "--store=store"},
      {"records", "show", "TRIAL", "--store=store", "--format=json"},
      {"report", "study.textproto", "--store=store", "--data=files", "--format=markdown"},
      {"explain", "TRIAL", "--store=store", "--data=files", "--library=."},
      {"report", "study.textproto", "--store=store", "--data=files", "--format=csv", "--tidy"},
      {"status", "study.textproto", "--store=store", "--data=files"},
      {"export", "outputs", "TRIAL", "exported", "--store=store"},
      {"report", "study.textproto", "--store=store", "--data=files", "--format=latex"},
      {"figure", "study.textproto", "--store=store", "--data=files", "--curve=roc", "--out=figure.svg"},
      {"report", "study.textproto", "--store=store", "--data=files", "--format=tensorboard", "--out=events"}};
  return *readers;
}

// The first four digits of the trial in the place of "TRIAL": they are the same in each ground.
std::vector<std::string> For(std::vector<std::string> command) {
  static const std::string* const trial = new std::string(Ground().trials()[0]);
  for (std::string& word : command) {
    if (word == "TRIAL") word = *trial;
  }
  return command;
}

// The bundle with this record in the place of the first; its sums and its signature right.
void WriteHostileBundle(const Ground& ground, const Change& change) {
  TrialRecord record = ground.Record(0);
  change(&record);
  absl::StatusOr<ZipReader> bundle = ZipReader::Open(ground.Path("work/bundle.zip"));
  CHECK(bundle.ok()) << bundle.status();
  std::vector<ZipMember> members;
  std::string sums;
  for (const std::string& name : bundle->Names()) {
    if (name == "SHA256SUMS") continue;
    const bool is_it = absl::StrContains(name, ground.trials()[0]);
    members.push_back({name, is_it ? FramedRecord(record.SerializePartialAsString()) : bundle->Read(name).value()});
    absl::StrAppend(&sums, Sha256Hex(members.back().content), "  ", name, "\n");
  }
  members.push_back({"SHA256SUMS", sums});
  WriteSigned(ground, members);
}

}  // namespace

std::vector<HostileCase> RecordCases() {
  std::vector<HostileCase> cases;
  size_t n = 0;
  for (const RecordChange& change : AllChanges()) {
    HostileCase one{"record", change.what, For(Readers()[n++ % Readers().size()]), {}, End::kAnswered, ""};
    one.make = [change = change.change](const Ground& ground) {
      TrialRecord changed = ground.Record(0);
      change(&changed);
      ground.WriteRecord(0, changed);
    };
    one.writes = {"work/exported", "work/figure.svg", "work/events"};
    cases.push_back(one);
    if (n % 3 != 0) continue;
    HostileCase bundle = one;
    bundle.input = "bundle";
    bundle.command = {"records", "merge", "bundle.zip", "--store=merged"};
    bundle.make = [change = change.change](const Ground& ground) { WriteHostileBundle(ground, change); };
    bundle.writes = {"work/merged"};
    cases.push_back(bundle);
  }
  // In a record's place.
  for (const std::vector<std::string>& command :
       {Readers()[2],
        Readers()[1],
        Readers()[4],
        {"run", "study.textproto", "--deploy=deploy.textproto", "--worker=/bin/true"}}) {
    static const std::string* const path = new std::string(Ground().RecordPath(0));
    HostileCase base{"record", "", command, {}, End::kNoted, path->substr(path->rfind('/') + 1)};
    if (command[0] == "run") {
      base.end = End::kAnswered;
      base.named = "";
      base.writes = {"work/store"};
    }
    for (HostileCase& one : CasesOfFile(base, *path)) cases.push_back(std::move(one));
  }
  HostileCase merge{"bundle",      "",          {"records", "merge", "bundle.zip", "--store=merged"}, {},
                    End::kRefused, "bundle.zip"};
  for (HostileCase& one : CasesOfFile(merge, "work/bundle.zip")) {
    // Refused after half a minute of the CPU, which its checksum takes.
    if (one.what == "10 GB of nothing") continue;
    cases.push_back(std::move(one));
  }
  for (HostileCase& one : BundlesOfOtherMembers()) cases.push_back(std::move(one));
  return cases;
}

}  // namespace openset
