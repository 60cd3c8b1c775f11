#include "experiments/store/records/load_fields.h"

#include <algorithm>

#include "experiments/store/merge.h"

namespace openset {

std::vector<RecordFields> LoadFields(const Store& store, UnreadRecords* unread) {
  const std::vector<std::string> ids = RecordIds(store, unread);
  std::vector<RecordFields> all(ids.size());
  const auto keep = [&all](int64_t i, TrialRecord* record) { all[i] = FieldsOf(*record); };
  // FieldsOf() doesn't use these fields, which are most of a record.
  constexpr int kWithout[] = {TrialRecord::kEpochFieldNumber, TrialRecord::kDetailsFieldNumber};
  ForEachRecord(store, ids, kWithout, keep, unread);
  // For the few trials with several records, another record may represent the trial.
  for (const std::string& id : ReplicaIds(store, unread)) {
    const auto place = std::lower_bound(ids.begin(), ids.end(), id) - ids.begin();
    if (place == static_cast<int64_t>(ids.size()) || ids[place] != id || all[place].empty()) continue;
    const absl::StatusOr<TrialRecord> first = LoadFirstRecord(store, id);
    unread->Add(first.status());
    all[place] = first.ok() ? FieldsOf(*first) : RecordFields();
  }
  all.erase(std::remove_if(all.begin(), all.end(), [](const RecordFields& fields) { return fields.empty(); }),
            all.end());
  return all;
}

}  // namespace openset
