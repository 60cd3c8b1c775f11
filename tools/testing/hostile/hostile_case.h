// A hostile input, and the expected reaction of the program.
#ifndef OPENSET_TOOLS_TESTING_HOSTILE_HOSTILE_CASE_H_
#define OPENSET_TOOLS_TESTING_HOSTILE_HOSTILE_CASE_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tools/testing/hostile/fixture.h"

namespace openset {

enum class End {
  kRefused,   // exit code 2; a line on standard error contains `named`
  kNoted,     // exit code 1 or 2; the output contains `named`
  kHarmless,  // exit code 0; the output contains `named`
  kAnswered   // any of these
};

struct HostileCase {
  std::string input;  // its row of the table "Inputs" in CONTRIBUTING.md
  std::string what;
  std::vector<std::string> command;
  std::function<void(const Fixture&)> make;  // changes the fixture
  End end = End::kRefused;
  std::string named = "";
  // Paths of the fixture below which the program may write, in addition to home/.cache.
  std::vector<std::string> writes = {};
  std::map<std::string, std::string> environment = {};
  bool with_worker = false;  // use the program that has a worker
  // Sent to the port that the program listens on, before the program is asked to end. `named` is then looked for in the
  // answer too, and `end` refers to the program's exit code.
  std::string request = "";
};

// Changes nothing.
inline void Nothing(const Fixture&) {}

// Cases with something else in place of a file: nothing, a folder, a pipe, a socket, links, devices, another user's
// file, or a file that is unreadable, of 10 GB, of zeros, or of noise. `path` is below the fixture's folder; all cases
// have the `end` and `named` of `base`.
std::vector<HostileCase> CasesOfFile(const HostileCase& base, const std::string& path);

// The cases by area; together they are all cases of the short form.
std::vector<HostileCase> SpecCases();      // specs, methods, presets, tasks, catalogs, published tables
std::vector<HostileCase> LimitCases();     // extreme numbers in these files
std::vector<HostileCase> FlagCases();      // flags
std::vector<HostileCase> SettingCases();   // environment variables, deploy files
std::vector<HostileCase> RecordCases();    // records, bundles
std::vector<HostileCase> BundleCases();    // other members of bundles
std::vector<HostileCase> PackedCases();    // the stream of a bundle's records
std::vector<HostileCase> StoreCases();     // checkpoints, outputs, claims, logs, caches
std::vector<HostileCase> ArrayCases();     // .npy, .npz, .csv, .mat, IDX, CIFAR's, model files
std::vector<HostileCase> ImageCases();     // images
std::vector<HostileCase> DownloadCases();  // archives, downloads
std::vector<HostileCase> WorkerCases();    // messages of workers
std::vector<HostileCase> RequestCases();   // HTTP requests
std::vector<HostileCase> AllCases();

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HOSTILE_HOSTILE_CASE_H_
