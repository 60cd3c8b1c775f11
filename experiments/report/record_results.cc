#include "experiments/report/record_results.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "data/task.pb.h"
#include "experiments/spec/method.proto.h"
#include "experiments/store/records/evaluated_at.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {
namespace {

// The fields with one value for each cell, in the order of tables.
using Place = std::tuple<std::string, int, int, std::string, int, uint64_t>;

Place PlaceOf(const TrialSpec& trial) {
  return {trial.task(),
          trial.data().test_known().class_id_size(),
          CountUnknownClasses(trial.data()),
          RowName(trial),
          trial.split(),
          trial.seed()};
}

// The command line's changes of the trial. --seeds and --methods only choose trials.
std::string ChangesOf(const TrialSpec& trial) {
  std::vector<std::string> changes;
  for (const std::string& change : trial.laid_over()) {
    if (!absl::StartsWith(change, "--seeds") && !absl::StartsWith(change, "--methods")) changes.push_back(change);
  }
  return absl::StrJoin(changes, " ");
}

void AddAxis(const std::string& name, const std::string& value, TrialSpec* trial) {
  if (value.empty()) return;
  AxisValue* axis = trial->add_axis();
  axis->set_name(name);
  axis->set_value(value);
}

std::string LeftOutText(int64_t count, const std::string& why) {
  return absl::StrCat(count, count == 1 ? " record is" : " records are", " left out: ", why);
}

}  // namespace

RecordResults ResultsOf(std::vector<TrialRecord> records) {
  RecordResults made;
  std::set<std::string> candidates, studies, changes;
  for (const TrialRecord& record : records) {
    for (const SearchCandidate& candidate : record.trial().search().candidate()) {
      candidates.insert(candidate.trial_id());
      for (const SearchRung& rung : candidate.rung()) candidates.insert(rung.trial_id());
    }
  }
  const auto is_candidate = [&](const TrialRecord& record) { return candidates.count(record.trial_id()) > 0; };
  const auto end = std::remove_if(records.begin(), records.end(), is_candidate);
  if (const int64_t count = records.end() - end; count > 0) {
    made.notes.push_back(LeftOutText(count, "candidates of searches"));
  }
  records.erase(end, records.end());
  for (const TrialRecord& record : records) {
    studies.insert(record.trial().experiment());
    changes.insert(ChangesOf(record.trial()));
  }
  std::map<Place, std::pair<TrialSpec, TrialRecord>> newest;
  int64_t others = 0;
  for (TrialRecord& record : records) {
    TrialSpec trial = record.trial();
    if (studies.size() > 1) AddAxis("study", trial.experiment(), &trial);
    if (changes.size() > 1) AddAxis("changed", ChangesOf(trial), &trial);
    const auto [at, is_new] = newest.try_emplace(PlaceOf(trial));
    others += !is_new;
    if (!is_new && EvaluatedAt(at->second.second) >= EvaluatedAt(record)) continue;
    at->second = {std::move(trial), std::move(record)};
  }
  if (others > 0) {
    made.notes.push_back(
        LeftOutText(others, "a newer one has the same method, task, split and seed ('openset records ls' lists all)"));
  }
  for (auto& [place, of_place] : newest) {
    made.trials.push_back(std::move(of_place.first));
    made.records.push_back(std::move(of_place.second));
    made.results.push_back({&made.trials.back(), &made.records.back()});
  }
  return made;
}

}  // namespace openset
