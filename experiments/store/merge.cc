#include "experiments/store/merge.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/remove_tree.h"
#include "core/files/temporary_folder.h"
#include "core/in_parallel.h"
#include "core/proto/proto_digest.h"
#include "core/proto/record_file.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "core/text/table.h"
#include "experiments/spec/action.proto.h"
#include "experiments/store/bundle.h"
#include "experiments/store/records/evaluated_at.h"
#include "experiments/store/records/metric_groups.h"
#include "experiments/store/records/record_id.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"

namespace openset {
namespace {

constexpr char kLibrary[] = "library/";  // in a bundle (experiments/store/bundle.h)

using ::google::protobuf::FieldDescriptor;

std::string ReplicaPath(const Store& store, const std::string& trial_id, const std::string& bytes) {
  return absl::StrCat(ReplicaFolder(store, trial_id), "/", Sha256Hex(bytes), ".rec");
}

// Bitwise, since 0 and -0 are different bits; NaN is not a value of a metric.
bool SameBits(double a, double b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

// Fields of a stage about the program and machine that made it, without those that differ from run to run.
const std::set<std::string>& ComparedFields() {
  static const auto* const fields = new std::set<std::string>{
      "commit",      "dirty",          "changes_sha256", "program_sha256", "compiler", "libtorch_version",
      "third_party", "libraries",      "component",      "host",           "cpu",      "cpu_feature",
      "gpu",         "cpu_capability", "threads",        "gpu_driver"};
  return *fields;
}

// The entries of a stage's field: one for each value of a list, each library, and each component by its name.
std::map<std::string, std::string> EntriesOf(const StageProvenance& stage, const FieldDescriptor* field) {
  std::map<std::string, std::string> entries;  // what is shown, and all that is compared
  const auto* reflection = stage.GetReflection();
  if (field->number() == StageProvenance::kComponentFieldNumber) {
    for (const ComponentProvenance& component : stage.component()) {
      entries[absl::StrCat(component.family(), ".", component.name())] = component.SerializeAsString();
    }
    return entries;
  }
  if (field->is_repeated()) {
    for (int i = 0; i < reflection->FieldSize(stage, field); ++i) {
      entries[reflection->GetRepeatedString(stage, field, i)] = "";
    }
    return entries;
  }
  if (!reflection->HasField(stage, field)) return entries;
  if (field->number() == StageProvenance::kLibrariesFieldNumber) {
    for (const absl::string_view library : absl::StrSplit(stage.libraries(), ", ")) entries[std::string(library)] = "";
    return entries;
  }
  std::string value;
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    value = reflection->GetString(stage, field);
  } else {
    google::protobuf::TextFormat::PrintFieldValueToString(stage, field, -1, &value);
  }
  entries[value] = "";
  return entries;
}

}  // namespace

std::string KindOfMachine(const TrialRecord& record) {
  for (const StageProvenance& stage : record.provenance().stage()) {
    if (!stage.gpu().empty()) return OneLine(stage.gpu());
    if (stage.cpu_capability().empty()) continue;
    const std::string vendor = absl::StrContains(stage.cpu(), "Intel") ? "Intel"
                               : absl::StrContains(stage.cpu(), "AMD") ? "AMD"
                                                                       : stage.cpu();
    return OneLine(absl::StrCat(vendor, ", ", stage.cpu_capability()));
  }
  return "";
}

std::vector<std::string> ProvenanceDifferences(const std::vector<TrialRecord>& records) {
  std::vector<std::string> differences;
  const auto* descriptor = StageProvenance::descriptor();
  for (int f = 0; f < descriptor->field_count(); ++f) {
    const FieldDescriptor* field = descriptor->field(f);
    if (ComparedFields().count(field->name()) == 0) continue;
    bool differs = false;
    std::vector<std::string> shown;  // in the order of the records
    std::set<std::string> names;     // of all entries that differ
    const auto add = [&](const std::map<std::string, std::string>& entries,
                         const std::map<std::string, std::string>& others) {
      std::vector<std::string> own;
      for (const auto& [entry, content] : entries) {
        const auto other = others.find(entry);
        if (other != others.end() && other->second == content) continue;
        own.push_back(entry);
        names.insert(entry);
      }
      const std::string text = own.empty() ? "none" : absl::StrJoin(own, ", ");
      if (std::find(shown.begin(), shown.end(), text) == shown.end()) shown.push_back(text);
    };
    for (const TrialRecord& record : records) {
      const auto& first = records[0].provenance();
      for (int s = 0; s < std::min(first.stage_size(), record.provenance().stage_size()); ++s) {
        const auto a = EntriesOf(first.stage(s), field), b = EntriesOf(record.provenance().stage(s), field);
        if (a == b) continue;
        differs = true;
        add(a, b);
        add(b, a);
      }
    }
    if (!differs) continue;
    if (absl::EndsWith(field->name(), "_sha256")) {
      differences.push_back(absl::StrCat(field->name(), ": another"));
    } else if (field->number() == StageProvenance::kComponentFieldNumber) {
      differences.push_back(absl::StrCat(field->name(), ": other sources of ", absl::StrJoin(names, ", ")));
    } else {
      differences.push_back(absl::StrCat(field->name(), ": ", absl::StrJoin(shown, "; ")));
    }
  }
  return differences;
}

namespace {

// Formats with the fewest decimals, at least four, that distinguish the values; in full precision if 15 do not.
std::function<std::string(double)> TextOf(const std::vector<double>& values) {
  const size_t different = std::set<double>(values.begin(), values.end()).size();
  for (int decimals = 4; decimals <= 15; ++decimals) {
    const auto text = [decimals](double value) { return absl::StrFormat("%.*f", decimals, value); };
    std::set<std::string> texts;
    for (const double value : values) texts.insert(text(value));
    if (texts.size() == different) return text;
  }
  return &FullPrecision;
}

constexpr size_t kMostNamed = 4;  // records whose values are listed individually

// Returns the host of a record and the kernels of its inference: "lab-a (AVX2)".
std::string PlaceOf(const TrialRecord& record) {
  std::string host = "unknown host", kernels;
  for (const StageProvenance& stage : record.provenance().stage()) {
    if (!stage.host().empty()) host = stage.host();
    if (!stage.cpu_capability().empty()) kernels = stage.cpu_capability();
    if (!stage.gpu().empty()) kernels = stage.gpu();
  }
  return OneLine(kernels.empty() ? host : absl::StrCat(host, " (", kernels, ")"));
}

}  // namespace

int CompareOrder(const TrialRecord& a, const TrialRecord& b) {
  const double at = EvaluatedAt(a), bt = EvaluatedAt(b);
  if (at != bt) return at < bt ? -1 : 1;
  const auto bytes = [](TrialRecord record) {
    record.clear_epoch();
    record.clear_details();
    return EncodeRecord(record);
  };
  return bytes(a).compare(bytes(b));
}

absl::StatusOr<std::vector<TrialRecord>> LoadReplicas(const Store& store, const std::string& trial_id) {
  OPENSET_ASSIGN_OR_RETURN(const TrialRecord first, store.LoadRecord(trial_id));
  OPENSET_RETURN_IF_ERROR(Annotate(CheckTrialId(first), store.RecordPath(trial_id)));
  std::vector<std::pair<std::string, TrialRecord>> records = {{EncodeRecord(first), first}};
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> replicas, ReplicaPaths(store, trial_id));
  for (const std::string& path : replicas) {
    TrialRecord record;
    const absl::StatusOr<std::string> bytes = store.ReadBytes(path);
    if (IsReadFailure(bytes.status())) return bytes.status();
    if (bytes.ok() && DecodeSharedRecord(*bytes, trial_id, &record).ok()) records.emplace_back(*bytes, record);
  }
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) {
    const int order = CompareOrder(a.second, b.second);
    return order != 0 ? order < 0 : a.first < b.first;
  });
  std::vector<TrialRecord> sorted;
  for (auto& [bytes, record] : records) sorted.push_back(std::move(record));
  return sorted;
}

absl::StatusOr<TrialRecord> LoadFirstRecord(const Store& store, const std::string& trial_id) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> replicas, ReplicaPaths(store, trial_id));
  if (replicas.empty()) return store.LoadRecord(trial_id);
  OPENSET_ASSIGN_OR_RETURN(std::vector<TrialRecord> records, LoadReplicas(store, trial_id));
  return std::move(records[0]);
}

std::vector<TrialRecord> LoadFirstRecords(const Store& store, UnreadRecords* unread, absl::Span<const int> without) {
  std::vector<TrialRecord> records = LoadRecords(store, unread, without);
  const std::vector<std::string> with_replicas = ReplicaIds(store, unread);
  for (TrialRecord& record : records) {
    if (!absl::c_binary_search(with_replicas, record.trial_id())) continue;
    absl::StatusOr<TrialRecord> first = LoadFirstRecord(store, record.trial_id());
    unread->Add(first.status());
    if (first.ok()) record = *std::move(first);
  }
  return records;
}

bool SameNumbers(const TrialRecord& a, const TrialRecord& b) {
  if (a.metric_size() != b.metric_size()) return false;
  for (int m = 0; m < a.metric_size(); ++m) {
    const MetricRecord &x = a.metric(m), &y = b.metric(m);
    if (MeasuredNameInGroup(x) != MeasuredNameInGroup(y) || x.has_value() != y.has_value() ||
        !SameBits(x.value(), y.value()))
      return false;
  }
  return true;
}

namespace {

// Whether one of two records is the other without its details, as BundleExtras.details leaves them out.
bool IsSameButForDetails(const TrialRecord& a, const TrialRecord& b) {
  if (a.has_details() == b.has_details()) return false;
  TrialRecord stripped = a.has_details() ? a : b;
  stripped.clear_details();
  return EncodeRecord(stripped) == EncodeRecord(a.has_details() ? b : a);
}

}  // namespace

absl::Status MergeRecord(const Store& into, const TrialRecord& record, const std::string& bytes, MergeCounts* counts) {
  const std::string path = into.RecordPath(record.trial_id());
  OPENSET_ASSIGN_OR_RETURN(const bool is_new, into.CommitRecordBytes(record.trial_id(), path, bytes));
  if (is_new) {
    ++counts->trials;
    return absl::OkStatus();
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string first, ReadRecordBytes(path));
  const std::string replica = ReplicaPath(into, record.trial_id(), bytes);
  if (first == bytes || FileExists(replica)) {
    ++counts->there;
    return absl::OkStatus();
  }
  OPENSET_ASSIGN_OR_RETURN(const TrialRecord there, into.LoadRecord(record.trial_id()));
  const absl::StatusOr<std::vector<TrialRecord>> all = LoadReplicas(into, record.trial_id());
  if (IsReadFailure(all.status())) return all.status();
  const auto is_same = [&](const TrialRecord& other) { return IsSameButForDetails(other, record); };
  if (all.ok() && absl::c_any_of(*all, is_same)) {
    ++counts->there;
    return absl::OkStatus();
  }
  OPENSET_RETURN_IF_ERROR(into.CommitRecordBytes(record.trial_id(), replica, bytes).status());
  ++(SameNumbers(there, record) ? counts->replicas : counts->differing);
  return absl::OkStatus();
}

namespace {

// Merges the outputs and checkpoints of a bundle, given file by file in the order of their names. Builds each folder in
// a temporary store that contains nothing else, and moves it to `into` if it is valid and belongs to its key.
class FolderMerge {
 public:
  FolderMerge(const Store& into, const std::string& bundle, MergeCounts* counts)
      : into_(into), bundle_(bundle), counts_(counts) {}
  ~FolderMerge() { RemoveStaging(); }

  // Whether to read a member that is not in the library: not if its folder already existed here when its first member
  // came. Another process may add the folder meanwhile.
  bool Wants(const std::string& name) {
    const std::string folder = name.substr(0, name.rfind('/'));
    if (folder == asked_) return wants_;
    asked_ = folder;
    const std::vector<std::string> parts = absl::StrSplit(name, '/');
    const bool of_outputs = parts[0] == "outputs";
    // If the system can't tell, moving the folder will.
    const auto is_there = of_outputs ? into_.HasOutputs(parts[2]) : into_.HasCheckpoint(parts[2]);
    return wants_ = (of_outputs || parts[0] == "checkpoints") && !is_there.value_or(false);
  }

  absl::Status Add(const std::string& name, const std::string& content) {
    const std::vector<std::string> parts = absl::StrSplit(name, '/');
    if (parts[0] != kind_ || parts[2] != key_) {
      OPENSET_RETURN_IF_ERROR(Finish());
      kind_ = parts[0];
      key_ = parts[2];
      OPENSET_RETURN_IF_ERROR(into_.Make());
      OPENSET_ASSIGN_OR_RETURN(staging_, into_.NewStagingFolder(key_));
      OPENSET_RETURN_IF_ERROR(MakeFolders(FolderIn(Store(staging_))));
    }
    return WriteFileAtomically(JoinPath(FolderIn(Store(staging_)), parts[3]), content);
  }

  // Checks and moves the last folder.
  absl::Status Finish() {
    if (staging_.empty()) return absl::OkStatus();
    const Store staged(staging_);
    const absl::StatusOr<std::string> wrong = WhatIsWrong(staged);
    absl::Status finished = wrong.status();
    if (wrong.ok() && wrong->empty()) {
      const absl::StatusOr<bool> moved = into_.CommitFolder(FolderIn(staged), FolderIn(into_));
      if (moved.ok() && *moved) ++(HasOutputs() ? counts_->outputs : counts_->checkpoints);
      finished = moved.status();
    } else if (wrong.ok()) {
      counts_->damaged.push_back(absl::StrCat(bundle_, ": ", kind_, "/", key_.substr(0, 2), "/", key_, ": ", *wrong));
    }
    RemoveStaging();
    return finished;
  }

 private:
  bool HasOutputs() const { return kind_ == "outputs"; }

  std::string FolderIn(const Store& store) const {
    return HasOutputs() ? store.OutputsFolder(key_) : store.CheckpointFolder(key_);
  }

  // Returns what is wrong with the folder that was built; "" if nothing. A key identifies the folder's content
  // (experiments/spec/resolve/actions.h). The store takes the word of a summary of another version; a bundle is from
  // strangers.
  absl::StatusOr<std::string> WhatIsWrong(const Store& staged) const {
    std::string key;
    absl::Status read;
    if (HasOutputs()) {
      const absl::StatusOr<InferSummary> summary = staged.LoadInferSummary(key_);
      if (summary.ok()) key = MessageDigest(summary->action());
      read = summary.ok() ? staged.CheckOutputs(key_) : summary.status();
    } else {
      const absl::StatusOr<TrainSummary> summary = staged.LoadTrainSummary(key_);
      if (summary.ok()) key = MessageDigest(summary->action());
      read = summary.ok() ? staged.CheckCheckpoint(key_) : summary.status();
    }
    if (IsReadFailure(read)) return read;
    if (!key.empty() && !read.ok()) return std::string("does not match its checksums");
    if (!read.ok()) return std::string(absl::StripPrefix(read.message(), absl::StrCat(FolderIn(staged), ": ")));
    if (key == key_) return std::string();
    return absl::StrCat("its action has the key ", key,
                        ": it belongs to another action, or was made by an openset that computes keys differently");
  }

  void RemoveStaging() {
    if (!staging_.empty()) RemoveTree(std::exchange(staging_, "")).IgnoreError();
  }

  const Store into_;
  const std::string bundle_;
  MergeCounts* counts_;
  std::string kind_, key_, staging_;
  std::string asked_;  // the last folder that Wants() was asked about, and its answer
  bool wants_ = false;
};

// Checks the records of a bundle on all CPUs, a part of them while the next one is unpacked, so that only what is kept
// stays in memory.
class BundleRecords {
 public:
  // `without`: fields that the records are kept without.
  BundleRecords(const std::string& bundle, absl::Span<const int> without, BundleContent* content)
      : bundle_(bundle), without_(without), content_(*content) {}

  // Calls must be in the order of the names.
  void Add(const std::string& name, const std::string& bytes) {
    next_.push_back({name, bytes, {}});
    next_bytes_ += bytes.size();
    if (next_bytes_ >= kPartBytes) StartNext();
  }

  void Finish() {
    StartNext();
    Keep();
  }

 private:
  static constexpr size_t kPartBytes = size_t{16} << 20;
  static constexpr int64_t kRange = 64;
  struct File {
    std::string name, bytes;
    absl::Status checked;
  };

  void StartNext() {
    Keep();
    part_ = std::exchange(next_, {});
    next_bytes_ = 0;
    // If the system gives no thread, Keep() checks the part in this one.
    checking_ = std::async(std::launch::async | std::launch::deferred, [this] {
      InParallelRanges(static_cast<int64_t>(part_.size()), kRange,
                       [this](int64_t begin, int64_t end) { Check(begin, end); });
    });
  }

  void Check(int64_t begin, int64_t end) {
    TrialRecord record;  // reused, with its memory
    for (int64_t i = begin; i < end; ++i) {
      File& file = part_[i];
      file.checked = DecodeSharedRecord(file.bytes, TrialOfBundleMember(file.name), &record);
      if (!file.checked.ok() || without_.empty()) continue;
      for (const int field : without_) {
        record.GetReflection()->ClearField(&record, TrialRecord::descriptor()->FindFieldByNumber(field));
      }
      file.bytes = EncodeRecord(record);
    }
  }

  // Keeps the valid records of the part, after its check.
  void Keep() {
    if (!checking_.valid()) return;
    checking_.get();
    for (File& file : part_) {
      if (file.checked.ok()) {
        content_.records.emplace_hint(content_.records.end(), JoinPath(bundle_, file.name), std::move(file.bytes));
      } else {
        content_.damaged.push_back(absl::StrCat(bundle_, ": ", file.name, ": ", file.checked.message()));
      }
    }
  }

  const std::string bundle_;
  const absl::Span<const int> without_;
  BundleContent& content_;
  std::vector<File> part_, next_;  // being checked; being unpacked
  size_t next_bytes_ = 0;
  std::future<void> checking_;  // destroyed first: waits
};

// Reads the records and the library of a bundle, and adds its new outputs and checkpoints to `results` unless it is
// null.
absl::Status ReadContent(const std::string& path, const Store* results, absl::Span<const int> without,
                         BundleContent* content, MergeCounts* counts) {
  FolderMerge folders(results == nullptr ? Store(path) : *results, path, counts);
  BundleRecords records(path, without, content);
  const auto record = [&](const std::string& name, const std::string& bytes) {
    records.Add(name, bytes);
    return absl::OkStatus();
  };
  const auto file = [&](const std::string& name, const std::string& bytes) {
    if (!absl::StartsWith(name, kLibrary)) return folders.Add(name, bytes);
    content->library[name.substr(sizeof(kLibrary) - 1)] = bytes;
    return absl::OkStatus();
  };
  const auto wanted = [&](const std::string& name) {
    return absl::StartsWith(name, kLibrary) || (results != nullptr && folders.Wants(name));
  };
  OPENSET_ASSIGN_OR_RETURN(content->digest, ReadBundle(path, record, {}, file, wanted));
  OPENSET_RETURN_IF_ERROR(folders.Finish());
  records.Finish();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Store> OpenBundle(const std::string& path, bool with_results, absl::Span<const int> without) {
  const auto content = std::make_shared<BundleContent>();
  MergeCounts counts;
  if (with_results) {
    OPENSET_ASSIGN_OR_RETURN(content->unpacked, TemporaryFolder::Make("bundle"));
    const Store results(content->unpacked->path());
    OPENSET_RETURN_IF_ERROR(ReadContent(path, &results, without, content.get(), &counts));
  } else {
    OPENSET_RETURN_IF_ERROR(ReadContent(path, nullptr, without, content.get(), &counts));
  }
  content->damaged.insert(content->damaged.end(), counts.damaged.begin(), counts.damaged.end());
  return Store(path, content);
}

absl::Status CheckMergeSource(const std::string& store_or_bundle) {
  std::error_code error;
  if (!std::filesystem::is_directory(store_or_bundle, error)) {
    const auto ignore = [](const std::string&, const std::string&) { return absl::OkStatus(); };
    return ReadBundle(store_or_bundle, ignore, {}, ignore).status();
  }
  const Store store(store_or_bundle);
  OPENSET_RETURN_IF_ERROR(store.CheckVersion());
  if (FileExists(store.FolderOf("records")) || store.CheckIsStore().ok()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat(store_or_bundle, " is neither a store nor a bundle"));
}

absl::Status MergeFrom(const std::string& store_or_bundle, const Store& into, MergeCounts* counts) {
  std::error_code error;
  Store from(store_or_bundle);
  if (!std::filesystem::is_directory(store_or_bundle, error)) {
    const auto content = std::make_shared<BundleContent>();
    OPENSET_RETURN_IF_ERROR(ReadContent(store_or_bundle, &into, /*without=*/{}, content.get(), counts));
    from = Store(store_or_bundle, content);
  }
  OPENSET_RETURN_IF_ERROR(from.CheckVersion());
  UnreadRecords unread;
  const std::vector<std::string> ids = RecordIds(from, &unread);
  const bool has_records = !ids.empty() || from.bundle() != nullptr || FileExists(from.FolderOf("records"));
  if (!has_records && !from.CheckIsStore().ok()) {
    return absl::NotFoundError(absl::StrCat(store_or_bundle, " is neither a store nor a bundle"));
  }
  for (const std::string& id : ids) {
    std::vector<std::string> paths = {from.RecordPath(id)};
    const absl::StatusOr<std::vector<std::string>> replicas = ReplicaPaths(from, id);
    unread.Add(replicas.status());
    if (replicas.ok()) paths.insert(paths.end(), replicas->begin(), replicas->end());
    for (const std::string& path : paths) {
      const absl::StatusOr<std::string> bytes = from.ReadBytes(path);
      if (IsReadFailure(bytes.status())) {
        unread.Add(bytes.status());
        continue;
      }
      TrialRecord record;
      const absl::Status status = bytes.ok() ? DecodeSharedRecord(*bytes, id, &record) : bytes.status();
      if (!status.ok()) {
        counts->damaged.push_back(absl::StrCat(path, ": ", status.message()));
        continue;
      }
      OPENSET_RETURN_IF_ERROR(MergeRecord(into, record, *bytes, counts));
    }
  }
  counts->damaged.insert(counts->damaged.end(), unread.damaged.begin(), unread.damaged.end());
  counts->unreadable.insert(counts->unreadable.end(), unread.unreadable.begin(), unread.unreadable.end());
  return absl::OkStatus();
}

bool ContradictEachOther(const std::vector<TrialRecord>& records) {
  for (size_t i = 0; i < records.size(); ++i) {
    for (size_t j = i + 1; j < records.size(); ++j) {
      if (EvaluatedAt(records[i]) == 0 || EvaluatedAt(records[i]) != EvaluatedAt(records[j])) continue;
      if (records[i].provenance().SerializeAsString() != records[j].provenance().SerializeAsString()) continue;
      if (!SameNumbers(records[i], records[j])) return true;
    }
  }
  return false;
}

std::vector<std::string> DifferenceLines(const std::vector<TrialRecord>& records) {
  std::vector<std::string> lines;
  if (records.size() < 2) return lines;
  std::vector<std::string> order;
  std::map<std::string, std::vector<double>> values;
  for (const TrialRecord& record : records) {
    for (const MetricRecord& metric : record.metric()) {
      const std::string name = MeasuredNameInGroup(metric);
      if (values.count(name) == 0) order.push_back(name);
      values[name];
      if (metric.has_value()) values[name].push_back(metric.value());
    }
  }
  for (const std::string& name : order) {
    const std::vector<double>& of_metric = values[name];
    if (of_metric.empty()) continue;
    const auto [low, high] = std::minmax_element(of_metric.begin(), of_metric.end());
    const bool in_all = of_metric.size() == records.size();
    if (in_all && SameBits(*low, *high)) continue;
    if (records.size() > kMostNamed) {
      lines.push_back(absl::StrCat(name, ": ", FullPrecision(*low), " to ", FullPrecision(*high), " in ",
                                   of_metric.size(), " of ", records.size(), " records"));
      continue;
    }
    const std::function<std::string(double)> text = TextOf(of_metric);
    std::vector<std::string> of_places;
    for (const TrialRecord& record : records) {
      const auto metric = std::find_if(record.metric().begin(), record.metric().end(), [&](const MetricRecord& m) {
        return MeasuredNameInGroup(m) == name && m.has_value();
      });
      of_places.push_back(
          absl::StrCat(PlaceOf(record), " ", metric == record.metric().end() ? "undefined" : text(metric->value())));
    }
    lines.push_back(absl::StrCat(name, ": ", absl::StrJoin(of_places, "; ")));
  }
  if (lines.empty()) return lines;
  if (ContradictEachOther(records)) {
    lines.push_back(
        absl::StrCat("they say that they are of one evaluation, so one of them was changed afterwards: "
                     "'openset reproduce ",
                     records[0].trial_id().substr(0, 12), "' tells which number is right"));
    return lines;
  }
  const std::vector<std::string> differences = ProvenanceDifferences(records);
  if (differences.empty()) lines.emplace_back("no difference in provenance is recorded");
  for (const std::string& difference : differences) lines.push_back(absl::StrCat("made with other ", difference));
  return lines;
}

}  // namespace openset
