// A report over 10,000 records: tables and page. The target of FromTheStore, which is everything except the plan, is
// less than 5 s and less than 5 MB (counter "page_MB"):
//   bazel run //tools/testing/report_page:report_benchmark
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "core/files/digest.h"
#include "core/files/temporary_folder.h"
#include "core/in_parallel.h"
#include "core/proto/record_file.h"
#include "experiments/report/format_report.h"
#include "experiments/report/html_report.h"
#include "experiments/store/store.h"
#include "tools/testing/report_page/made_up_results.h"

namespace openset {
namespace {

// 10 tasks, 38 methods and two more values of lambda, 5 splits, 5 seeds.
const MadeUpResults& TenThousand() {
  static const MadeUpResults* made = [] {
    MadeUpOptions options;
    options.tasks = 10;
    options.methods = 38;
    options.splits = 5;
    options.seeds = 5;
    options.samples = 200;
    return new MadeUpResults(MakeUpResults(options));
  }();
  return *made;
}

void Tables(benchmark::State& state) {
  const MadeUpResults& made = TenThousand();
  for (auto unused : state) benchmark::DoNotOptimize(FormatReport(MakeReport("many", made.results), TextFormat::kText));
  state.counters["records"] = static_cast<double>(made.results.size());
}
BENCHMARK(Tables)->Unit(benchmark::kMillisecond);

void Page(benchmark::State& state) {
  const MadeUpResults& made = TenThousand();
  size_t bytes = 0;
  for (auto unused : state) bytes = HtmlReport(MakeReport("many", made.results), made.results, {}).value().size();
  state.counters["records"] = static_cast<double>(made.results.size());
  state.counters["page_MB"] = static_cast<double>(bytes) / 1e6;
}
BENCHMARK(Page)->Unit(benchmark::kMillisecond);

// Reading the records' messages, which the store does first.
void Parse(benchmark::State& state) {
  std::vector<std::string> bytes;
  size_t all = 0;
  for (const TrialRecord& record : TenThousand().records) all += bytes.emplace_back(record.SerializeAsString()).size();
  for (auto unused : state) {
    for (const std::string& one : bytes) {
      TrialRecord record;
      benchmark::DoNotOptimize(record.ParseFromString(one));
    }
  }
  state.counters["KB_a_record"] = static_cast<double>(all) / 1e3 / static_cast<double>(bytes.size());
}
BENCHMARK(Parse)->Unit(benchmark::kMillisecond);

// The records as files of a store, and their ids there.
struct MadeUpStore {
  const TemporaryFolder temporary = TemporaryFolder::Make("report_benchmark").value();
  const std::string folder = temporary.path();
  std::vector<std::string> ids;

  MadeUpStore() {
    const Store store(folder);
    for (TrialRecord record : TenThousand().records) {
      ids.push_back(Sha256Hex(record.trial_id()));
      record.set_trial_id(ids.back());
      record.set_schema_version(kSchemaVersion);
      const std::filesystem::path path = store.RecordPath(ids.back());
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path, std::ios::binary) << EncodeRecord(record);
    }
  }
};

// Reads the records as a study does, and makes the page of them.
void FromTheStore(benchmark::State& state) {
  const MadeUpStore files;
  const Store store(files.folder);
  size_t bytes = 0;
  for (auto unused : state) {
    std::vector<absl::StatusOr<TrialRecord>> records(files.ids.size());
    InParallel(static_cast<int64_t>(records.size()), [&](int64_t i) { records[i] = store.LoadRecord(files.ids[i]); });
    std::vector<TrialResult> results;
    for (const absl::StatusOr<TrialRecord>& record : records) results.push_back({&record->trial(), &*record});
    bytes = HtmlReport(MakeReport("many", results), results, {}).value().size();
  }
  state.counters["records"] = static_cast<double>(files.ids.size());
  state.counters["page_MB"] = static_cast<double>(bytes) / 1e6;
}
BENCHMARK(FromTheStore)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace openset
