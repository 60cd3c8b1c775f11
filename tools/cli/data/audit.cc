#include <iostream>
#include <map>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "core/text/table.h"
#include "data/inspect/duplicates.h"
#include "tools/cli/data/actions.h"
#include "tools/cli/data/sets.h"

ABSL_FLAG(bool, exact, false, "Look for exact duplicates only.");

namespace openset {
namespace {

constexpr int kListed = 10;

}  // namespace

absl::Status AuditImages(const std::string& name) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<NamedSamples> sets, SamplesOf(name));
  std::vector<DuplicateSample> samples;
  int64_t damaged = 0;
  for (size_t s = 0; s < sets.size(); ++s) {
    std::vector<bool> chosen(sets[s].source->index().size(), false);
    for (const int64_t sample : sets[s].samples.index) chosen[sample] = true;
    OPENSET_ASSIGN_OR_RETURN(
        const std::vector<DamagedImage> bad,
        ForEachImage(absl::StrCat("reading ", sets[s].name), *sets[s].source, [&](int64_t sample, const Image& image) {
          if (!chosen[sample]) return;
          samples.push_back({static_cast<int>(s), sample, FingerprintOf(image)});
        }));
    damaged += static_cast<int64_t>(bad.size());
    for (const DamagedImage& image : bad) std::cout << "corrupt: " << OneLine(image.reason) << "\n";
  }
  struct Counts {
    int64_t exact = 0, near = 0;
    std::vector<std::string> lines;
  };
  std::map<std::pair<int, int>, Counts> counts;  // by the sets of the first and the second
  const auto describe = [&](const DuplicateSample& sample) {
    const NamedSamples& set = sets[sample.set];
    return OneLine(absl::StrCat(set.name, ": ", set.source->Describe(sample.sample)));
  };
  for (const DuplicatePair& pair : FindDuplicates(samples, !absl::GetFlag(FLAGS_exact))) {
    Counts& of_sets = counts[{samples[pair.first].set, samples[pair.second].set}];
    ++(pair.exact ? of_sets.exact : of_sets.near);
    if (of_sets.lines.size() < kListed) {
      of_sets.lines.push_back(absl::StrCat(pair.exact ? "exact  " : "near   ", describe(samples[pair.second]), "  =  ",
                                           describe(samples[pair.first])));
    }
  }
  Table table{{"images of", "have a duplicate in", "exact", "near"}, {}, 2};
  for (const auto& [of_sets, count] : counts) {
    table.rows.push_back(
        {sets[of_sets.second].name, sets[of_sets.first].name, absl::StrCat(count.exact), absl::StrCat(count.near)});
    for (const std::string& line : count.lines) std::cout << line << "\n";
    const int64_t more = count.exact + count.near - static_cast<int64_t>(count.lines.size());
    if (more > 0) std::cout << "... and " << more << " more of these two sets\n";
  }
  std::cout << "\n" << samples.size() << " images in " << sets.size() << " sets";
  if (counts.empty()) {
    std::cout << ": no duplicates\n";
  } else {
    std::cout << "; each duplicate is counted once, with its first copy\n\n" << ToText(table);
  }
  if (damaged == 0) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(damaged, " images are corrupt"));
}

}  // namespace openset
