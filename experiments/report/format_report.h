// The text of a report: titles of methods, tables, and the lines below them.
#ifndef OPENSET_EXPERIMENTS_REPORT_FORMAT_REPORT_H_
#define OPENSET_EXPERIMENTS_REPORT_FORMAT_REPORT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/text/wrapped_text.h"
#include "eval/report/document.h"
#include "experiments/report/report.h"
#include "experiments/report/report_tables.h"
#include "nlohmann/json.hpp"

namespace openset {

// ---- Replaces the names of methods by their titles, as papers print them.

// The row of a table with its method's title: "OpenAUC, lambda 0.1" for "openauc, lambda 0.1", "OpenAUC (tuned)" for
// "openauc (tuned)". Unchanged if the method has no title (MethodSpec.title) or shares it with another method.
std::string TitledRow(const Report& report, const std::string& row);

// The report with titles in all rows and in its baseline.
Report WithTitles(const Report& report);

// ---- The lines before and after the tables of a report.

// Before the tables: absent data, and changes by the command line.
std::vector<std::string> HeadLines(const Report& report);

// After the tables: what a cell shows, which trials have no record and why, and what a star means.
std::vector<std::string> FooterLines(const Report& report);

// What a cell shows: "Mean ± population standard deviation over splits and seeds (n=12)", "One run: no spread".
std::string MeanText(const Report& report);

// What bold and underlined cells mean.
std::string MarkText(const Report& report);

// What a star means and how many splits or seeds the test uses, or why there are no stars; and which rows were not
// tested, and why. Precondition: there is a baseline.
std::string StarText(const Report& report);

// What a study that adds runs until its comparisons are decided has found (Report.until): a table with a row for each
// comparison, and lines about the error of all comparisons together and what was spent. Precondition: there is one.
DocumentSection UntilTable(const Report& report);
std::vector<std::string> UntilLines(const Report& report);

// ---- Writes the numbers of a report as text.

// Text, Markdown and LaTeX show mean ± standard deviation over splits and seeds in the metric's unit
// (eval/metrics/display.h), or, for a single run, its interval if there is one. Markdown and LaTeX (table environments
// with booktabs rules) set the best mean of a column in bold and underline the second best, among methods with all
// runs on the same task and unknown samples, if at least two means differ; JSON has these as "mark". If there are
// several sets of unknown samples, they have a separate table. Text lines have at most `width` characters. CSV has one
// line for each cell; JSON has everything. Both have full precision. Precondition: the format is one of these.
std::string FormatReport(const Report& report, TextFormat format, size_t width = kTextWidth);

// The content of kJson without "results" (each record's id, keys and learning curve). If `with_values` is false, also
// without the numbers of single trials ("values", "splits", "seeds", "low", "high").
nlohmann::ordered_json ReportJson(const Report& report, bool with_values = true);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_FORMAT_REPORT_H_
