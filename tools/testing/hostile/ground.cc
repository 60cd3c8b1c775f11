#include "tools/testing/hostile/ground.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/logging.h"
#include "core/random.h"
#include "core/testing/archive_bytes.h"
#include "experiments/evaluate/evaluation.h"
#include "experiments/spec/trial.pb.h"
#include "experiments/store/bundle.h"
#include "experiments/study/study.h"
#include "experiments/testing/stored_results.h"
#include "gtest/gtest.h"
#include "tools/testing/hostile/ground_files.h"

namespace openset {
namespace {

namespace fs = std::filesystem;

void Check(const absl::Status& status) { CHECK(status.ok()) << status; }

// Outputs for the task's 3 known classes with 10 images each, and its 2 unknown classes.
Outputs MadeUpOutputs(const std::string& key) {
  Outputs outputs;
  outputs.num_outputs = 3;
  outputs.group_names = {"unknown"};
  RandomStream random(0, key);
  for (int i = 0; i < 50; ++i) {
    const bool known = i < 30;
    outputs.label.push_back(known ? i / 10 : -1);
    outputs.class_id.push_back(i / 10);
    outputs.group.push_back(known ? -1 : 0);
    for (int c = 0; c < 3; ++c) {
      outputs.logits.push_back(static_cast<float>(random.Normal() + (c == outputs.label.back() ? 2 : 0)));
    }
  }
  return outputs;
}

struct Template {
  std::string folder;
  std::vector<std::string> trials;
};

const Template& Made() {
  static const Template* const made = [] {
    auto* result = new Template{JoinPath(testing::TempDir(), "template"), {}};
    fs::remove_all(result->folder);
    WriteGroundFiles(result->folder);
    const std::string work = result->folder + "/work";
    const Store store(work + "/store");
    StudyOptions options;
    options.data_folders = {work + "/files"};
    const std::unique_ptr<Study> study =
        Study::Load(work + "/study.textproto", SpecFoldersBelow(work), store, options).value();
    const Plan& plan = study->plan();
    for (const Action& action : plan.actions) {
      if (action.kind == ActionKind::kTrain) CommitMadeUpCheckpoint(plan.RequestOf(action).train(), store);
      if (action.kind == ActionKind::kInfer) {
        CommitMadeUpOutputs(plan.RequestOf(action).infer(), MadeUpOutputs(action.key), store);
      }
      if (action.kind == ActionKind::kEvaluate) Check(EvaluateTrial(action.key, plan.TrialOf(action).Spec(), store));
    }
    for (size_t t = 0; t < plan.trials.size(); ++t) result->trials.push_back(plan.trial_id(static_cast<int>(t)));
    Check(study->RememberData());
    Check(WriteBundle(store, result->trials, work + "/bundle.zip").status());
    BundleExtras extras;
    extras.outputs = extras.checkpoints = true;
    for (const auto& [name, file] : {std::pair("specs/study.textproto", "study.textproto"),
                                     std::pair("tasks/task.textproto", "data/tasks/task.textproto"),
                                     std::pair("catalog/digits.textproto", "data/catalog/digits.textproto")}) {
      extras.library[name] = ReadFile(JoinPath(work, file)).value();
    }
    Check(WriteBundle(store, result->trials, work + "/full.zip", extras).status());
    return result;
  }();
  return *made;
}

}  // namespace

Ground::Ground() : folder_(JoinPath(testing::TempDir(), "ground")), trials_(Made().trials) {
  std::error_code ignored;
  // A previous case may have removed the permissions.
  fs::permissions(folder_, fs::perms::owner_all, ignored);
  fs::remove_all(folder_);
  fs::copy(Made().folder, folder_, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
}

std::string Ground::Path(const std::string& path) const { return JoinPath(folder_, path); }

std::string Ground::Read(const std::string& path) const { return ReadFile(Path(path)).value_or(""); }

void Ground::Write(const std::string& path, const std::string& content) const {
  fs::remove_all(Path(path));
  fs::create_directories(fs::path(Path(path)).parent_path());
  std::ofstream(Path(path), std::ios::binary) << content;
}

void Ground::Replace(const std::string& path, const std::string& from, const std::string& to) const {
  std::string text = Read(path);
  CHECK_NE(absl::StrReplaceAll({{from, to}}, &text), 0) << path << ": " << from;
  Write(path, text);
}

TrialRecord Ground::Record(int trial) const { return store().LoadRecord(trials_[trial]).value(); }

std::string Ground::RecordPath(int trial) const {
  return absl::StrCat("work/store/records/", trials_[trial].substr(0, 2), "/", trials_[trial], ".rec");
}

std::string Ground::OutputsPath(int trial) const {
  return store().OutputsFolder(Record(trial).outputs_key()).substr(folder_.size() + 1);
}

std::string Ground::CheckpointPath(int trial) const {
  return store().CheckpointFolder(Record(trial).checkpoint_key()).substr(folder_.size() + 1);
}

void Ground::WriteRecord(int trial, const TrialRecord& record) const {
  Write(RecordPath(trial), FramedRecord(record.SerializePartialAsString()));
}

std::map<std::string, std::string> Ground::Snapshot() const {
  constexpr int64_t kMostRead = 16 << 20;
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder_, fs::directory_options::skip_permission_denied)) {
    struct stat info = {};
    lstat(entry.path().c_str(), &info);
    std::string what = absl::StrCat(absl::Hex(info.st_mode), " ");
    if (S_ISLNK(info.st_mode)) {
      absl::StrAppend(&what, fs::read_symlink(entry.path()).string());
    } else if (S_ISREG(info.st_mode)) {
      absl::StrAppend(&what, info.st_size, " ");
      if (info.st_size < kMostRead) absl::StrAppend(&what, Sha256Hex(ReadFile(entry.path()).value_or("")));
    }
    found[entry.path().string().substr(folder_.size() + 1)] = what;
  }
  return found;
}

}  // namespace openset
