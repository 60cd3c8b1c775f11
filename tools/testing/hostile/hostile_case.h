// A hostile input, and how the program is to answer it.
#ifndef OPENSET_TOOLS_TESTING_HOSTILE_HOSTILE_CASE_H_
#define OPENSET_TOOLS_TESTING_HOSTILE_HOSTILE_CASE_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tools/testing/hostile/ground.h"

namespace openset {

enum class End {
  kRefused,   // exit code 2; a line on standard error has `named`
  kNoted,     // exit code 1 or 2; `named` is in what is printed
  kHarmless,  // exit code 0; `named`, if any, is in what is printed
  kAnswered   // any of these
};

struct HostileCase {
  std::string input;  // its row of the table "Inputs" in CONTRIBUTING.md
  std::string what;
  std::vector<std::string> command;
  std::function<void(const Ground&)> make;  // changes the ground
  End end = End::kRefused;
  std::string named = "";
  // Below these paths of the ground the program may write, as well as to home/.cache.
  std::vector<std::string> writes = {};
  std::map<std::string, std::string> environment = {};
  bool with_worker = false;  // the program that has one
  // Sent to the port that the program says it listens on, before it is told to end; `named` is then looked for in the
  // answer too, and End::kHarmless is meant of the program.
  std::string request = "";
};

// Names something that is left as it is.
inline void Nothing(const Ground&) {}

// What may be in the place of any file: nothing, a folder, a pipe, a socket, links, devices, another's file, a file
// that is closed, of 10 GB, of zeros, of noise. `path` is below the ground's folder; `end` and `named` are those of
// all.
std::vector<HostileCase> CasesOfFile(const HostileCase& base, const std::string& path);

// By room. Together all cases of the short form.
std::vector<HostileCase> SpecCases();      // specs, methods, presets, tasks, catalogs, published tables
std::vector<HostileCase> LimitCases();     // numbers in those, at their extremes
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
std::vector<HostileCase> RequestCases();   // of HTTP
std::vector<HostileCase> AllCases();

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HOSTILE_HOSTILE_CASE_H_
