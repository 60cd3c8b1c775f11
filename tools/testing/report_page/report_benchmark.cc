// A report over 10,000 records: tables and page. The target is under 5 s and under 5 MB (counter "page_MB").
#include "benchmark/benchmark.h"
#include "experiments/report/format_report.h"
#include "experiments/report/html_report.h"
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
  for (auto unused : state) {
    benchmark::DoNotOptimize(FormatReport(MakeReport("many", made.results), ReportFormat::kText));
  }
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

}  // namespace
}  // namespace openset
