// Writes the page of simulated results, for manual inspection and for report_page_test: made_up_page FOLDER makes
// page.html and report.json there.
#include <iostream>
#include <string>

#include "core/files/files.h"
#include "experiments/report/format_report.h"
#include "experiments/report/html_report.h"
#include "tools/testing/report_page/made_up_results.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "made_up_page FOLDER\n";
    return 2;
  }
  const openset::MadeUpResults made = openset::MakeUpResults({});
  openset::Report report = openset::MakeReport("made_up", made.results);
  // As if the differences between the largest lambda and the first method were detectable.
  report.baseline = openset::RowName(report.cells[0]);
  for (openset::ReportCell& cell : report.cells) {
    if (openset::RowName(cell) == report.baseline) continue;
    const bool last = openset::RowName(cell) == openset::RowName(report.cells.back());
    cell.significance = openset::Significance{last ? 0.001 : 0.5, last};
  }
  openset::ReportContext context;
  context.question = "Does the page work?";
  context.spec = "name: \"made_up\"\n";
  context.failures = {"train method_1 on task_0, split 0, seed 0 (3 times): out of memory\n\nthe end of its log"};
  context.examples.class_names["fashion_mnist"] = {"T-shirt", "trouser", "pullover", "dress", "coat",
                                                   "sandal",  "shirt",   "sneaker",  "bag",   "ankle boot"};
  const absl::StatusOr<std::string> page = openset::HtmlReport(report, made.results, context);
  if (!page.ok()) {
    std::cerr << page.status() << "\n";
    return 1;
  }
  const std::string folder = argv[1];
  const std::string json = openset::FormatReport(report, openset::TextFormat::kJson);
  if (!openset::WriteFileAtomically(folder + "/page.html", *page).ok() ||
      !openset::WriteFileAtomically(folder + "/report.json", json).ok()) {
    std::cerr << folder << ": cannot write\n";
    return 1;
  }
  return 0;
}
