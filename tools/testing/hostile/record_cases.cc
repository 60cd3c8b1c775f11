// Records, alone and in bundles, with extreme fields and correct checksums. Other members of bundles are in
// bundle_cases.cc.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/testing/archive_bytes.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/spec/method.pb.h"
#include "experiments/spec/trial.pb.h"
#include "experiments/store/details.pb.h"
#include "tools/testing/hostile/fixture.h"
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
    add("overrides", [=](TrialRecord* r) { r->mutable_trial()->add_overrides(text); });
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

// Commands that read records, in turn.
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

// The command with the id of the first trial instead of "TRIAL". The id is the same in each fixture.
std::vector<std::string> For(std::vector<std::string> command) {
  static const std::string* const trial = new std::string(Fixture().trials()[0]);
  for (std::string& word : command) {
    if (word == "TRIAL") word = *trial;
  }
  return command;
}

// Writes the bundle with this record instead of the first, and with correct sums and a correct signature.
void WriteHostileBundle(const Fixture& fixture, const Change& change, BundleForm form) {
  TrialRecord record = fixture.Record(0);
  change(&record);
  std::vector<ZipMember> members = BundleMembers(fixture, "work/bundle.zip");
  for (ZipMember& member : members) {
    if (absl::StrContains(member.name, fixture.trials()[0])) {
      member.content = FramedRecord(record.SerializePartialAsString());
    }
  }
  WriteSigned(fixture, "work/bundle.zip", members, form);
}

}  // namespace

std::vector<HostileCase> RecordCases() {
  std::vector<HostileCase> cases;
  size_t n = 0;
  for (const RecordChange& change : AllChanges()) {
    HostileCase one{"record", change.what, For(Readers()[n++ % Readers().size()]), {}, End::kAnswered, ""};
    one.make = [change = change.change](const Fixture& fixture) {
      TrialRecord changed = fixture.Record(0);
      change(&changed);
      fixture.WriteRecord(0, changed);
    };
    one.writes = {"work/exported", "work/figure.svg", "work/events"};
    cases.push_back(one);
    if (n % 3 != 0) continue;
    HostileCase bundle = one;
    bundle.input = "bundle";
    bundle.command = {"records", "merge", "bundle.zip", "--store=merged"};
    const BundleForm form = n % 2 == 0 ? BundleForm::kPacked : BundleForm::kMembers;
    bundle.make = [change = change.change, form](const Fixture& fixture) { WriteHostileBundle(fixture, change, form); };
    bundle.writes = {"work/merged"};
    cases.push_back(bundle);
  }
  // Other entries in place of a record.
  for (const std::vector<std::string>& command :
       {Readers()[2],
        Readers()[1],
        Readers()[4],
        {"run", "study.textproto", "--deploy=deploy.textproto", "--worker=/bin/true"}}) {
    static const std::string* const path = new std::string(Fixture().RecordPath(0));
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
    cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace openset
