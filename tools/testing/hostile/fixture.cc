

#include "tools/testing/hostile/fixture.h"

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/formats/npy.h"
#include "core/files/formats/npz.h"
#include "core/files/formats/safetensors.h"
#include "core/files/runfiles.h"
#include "core/logging.h"
#include "core/random.h"
#include "core/testing/archive_bytes.h"
#include "core/testing/byte_order.h"
#include "experiments/evaluate/evaluation.h"
#include "experiments/spec/trial.pb.h"
#include "experiments/store/bundle.h"
#include "experiments/store/testing/bundle_bytes.h"
#include "experiments/study/study.h"
#include "experiments/testing/stored_results.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

constexpr char kSpec[] = R"(name: "study"
question: "Which is better?"
task: "task"
method: ["plain", "pairs+short"]
split: 0
seed: 0
metric { accuracy {} }
metric { auroc {} }
report { published { name: "table" } }
)";

constexpr char kTask[] = R"(name: "task"
title: "Digits"
data_set: "digits"
split { known: [0, 1, 2] unknown: [3, 4] }
)";

constexpr char kPlain[] = R"(name: "plain"
model { osrci_cnn {} head { linear {} } }
input { size: 20 channels: 1 }
loss { term { cross_entropy {} } }
training {
  epochs: 2
  batch_size: 10
  optimizer { learning_rate: 0.1 sgd {} }
  schedule { constant {} }
}
inference { plain {} }
score { max_softmax {} }
)";

constexpr char kPairs[] = R"(name: "pairs"
base: "plain"
open_set { feature_mixup {} }
loss { term { open_auc {} } }
score { max_logit {} }
)";

constexpr char kShort[] = R"(note: "One epoch."
training { epochs: 1 }
)";

constexpr char kTable[] = R"(name: "table"
paper: "Somebody 1999"
table: "Table 1"
column { label: "D" task: "task" metric { auroc {} } }
row { label: "CE" method: "plain" cell { value: 90 std: 1 } }
)";

constexpr char kDeploy[] = R"(store: "store"
data_folder: "files"
jobs: 1
retries: 0
lease_seconds: 2
hang_seconds: 5
)";

constexpr char kScores[] =
    "label,prediction,unknown_score\n"
    "0,0,0.1\n1,1,0.2\n1,1,0.4\n0,1,0.6\n-1,0,0.3\n-1,1,0.5\n";

const std::string& kFetched = *new std::string("\0x\1y", 4);

struct Files {
  std::string folder;

  std::string Path(const std::string& path) const { return JoinPath(folder, path); }
  void Write(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(Path(path)).parent_path());
    std::ofstream(Path(path), std::ios::binary) << content;
  }
  static void Check(const absl::Status& status) { CHECK(status.ok()) << status; }
};

std::string Set(const std::string& name, const std::string& shape, const std::string& classes,
                const std::string& numbers, const std::string& format) {
  return absl::StrCat("name: \"", name, "\"\nclass_name: [", classes, "]\n", shape, "\nlayout {\n  part {\n",
                      "    name: \"train\"\n    ", numbers, "\n    ", format, "\n  }\n}\n");
}

void AddCatalog(const Files& files) {
  const auto add = [&files](const std::string& name, const std::string& text) {
    files.Write("work/data/catalog/" + name + ".textproto", text);
  };
  const auto idx = [](const char* part, int each) {
    return absl::StrCat("  part {\n    name: \"", part, "\"\n    samples: ", 5 * each,
                        "\n    samples_per_class: ", each, "\n    idx { images { path: \"digits/", part,
                        "-images\" } labels { path: \"digits/", part, "-labels\" } }\n  }\n");
  };
  add("digits", absl::StrCat("name: \"digits\"\ntitle: \"Five digits\"\n",
                             "class_name: [\"zero\", \"one\", \"two\", \"three\", \"four\"]\n",
                             "channels: 1\nheight: 8\nwidth: 8\nlayout {\n", idx("train", 20), idx("test", 10), "}\n"));
  const std::string two = "\"cat\", \"dog\"", six = "\"a\", \"b\", \"c\", \"d\", \"e\", \"f\"";
  const std::string any = "channels: 3 height: 0 width: 0", small = "channels: 3 height: 4 width: 5";
  add("photos", Set("photos", any, two, "samples: 4 samples_per_class: 2", "image_folder { path: \"photos\" }"));
  add("listed", Set("listed", any, two, "samples: 4 samples_per_class: 2",
                    "image_list { path: \"photos\" list { path: \"listed/list.txt\" } }"));
  add("mats", Set("mats", small, "\"0\", \"1\", \"2\", \"3\", \"4\", \"5\", \"6\", \"7\", \"8\", \"9\"",
                  "samples: 6 samples_per_class: [2, 1, 1, 1, 0, 0, 0, 0, 0, 1]",
                  "mat { file { path: \"mats/digits.mat\" } class_label: [10, 1, 2, 3, 4, 5, 6, 7, 8, 9] }"));
  add("arrays",
      Set("arrays", small, six, "samples: 6 samples_per_class: 1", "npz { images { path: \"arrays/images.npz\" } }"));
  add("binary", Set("binary", "channels: 3 height: 2 width: 2", two, "samples: 4 samples_per_class: 2",
                    "cifar_binary { file { path: \"binary/train.bin\" } }"));
  add("fetched", Set("fetched", "channels: 1 height: 1 width: 1", two, "samples: 2 samples_per_class: 1",
                     "cifar_binary { file { path: \"fetched/train.bin\" } }") +
                     "fetch { title: \"official\" urls { file {\n"
                     "  url: \"https://example.org/train.bin\"\n  path: \"fetched/train.bin\"\n  bytes: 4\n"
                     "  sha256: \"" +
                     Sha256Hex(kFetched) + "\"\n} } }\n");
}

// The classes follow each other; the pixels of image i have the value i.
void AddDigits(const std::string& part, int each, const Files& files) {
  std::string images = BigEndian(0x803) + BigEndian(5 * each) + BigEndian(8) + BigEndian(8);
  std::string labels = BigEndian(0x801) + BigEndian(5 * each);
  for (int i = 0; i < 5 * each; ++i) {
    images.append(64, static_cast<char>(i));
    labels.push_back(static_cast<char>(i / each));
  }
  files.Write("work/files/digits/" + part + "-images", images);
  files.Write("work/files/digits/" + part + "-labels", labels);
}

void AddData(const Files& files) {
  AddDigits("train", 20, files);
  AddDigits("test", 10, files);
  files.Write("work/files/mats/digits.mat", StoredImage("digits.mat"));
  files.Write("work/files/binary/train.bin",
              std::string("\0abcdefghijkl\0abcdefghijkl\1abcdefghijkl\1abcdefghijkl", 52));
  const char* const photos[] = {"cat/1.png", "cat/2.jpg", "dog/1.webp", "dog/2.png"};
  const char* const images[] = {"rgb.png", "rgb.jpg", "lossless.webp", "grey.png"};
  for (int i = 0; i < 4; ++i) files.Write(absl::StrCat("work/files/photos/", photos[i]), StoredImage(images[i]));
  files.Write("work/files/listed/list.txt", "cat/1.png 0\ncat/2.jpg 0\ndog/1.webp 1\ndog/2.png 1\n");
  files.Write("work/files/arrays/images.npz", "");
  const NpzArrays arrays = {{"images", {"|u1", {6, 4, 5, 3}, std::string(360, '\3')}},
                            {"labels", MakeNpy(std::vector<int64_t>{0, 1, 2, 3, 4, 5}, {6})}};
  files.Check(WriteNpz(files.Path("work/files/arrays/images.npz"), arrays));
  const NpzArrays logits = {{"label", MakeNpy(std::vector<int64_t>{0, 1, 0, 1, -1, -1}, {6})},
                            {"logits", MakeNpy(std::vector<float>{3, 0, 0, 3, 2, 1, 1, 2, 1, 1, 0, 1}, {6, 2})}};
  files.Check(WriteNpz(files.Path("work/logits.npz"), logits));
  files.Write("work/label.npy", FormatNpy(logits.at("label")));
  files.Write("work/unknown_score.npy", FormatNpy(MakeNpy(std::vector<double>{.1, .2, .3, .4, .5, .6}, {6})));
  Safetensors weights;
  const std::string data(24, '\1');
  weights.arrays["backbone.weight"] = {ArrayType::kF32, {2, 3}, data};
  files.Write("work/weights.safetensors", EncodeSafetensors(weights).value());
}

// "Downloads" the file in served/ that has the last part of the address as its name, and ignores all other options.
constexpr char kCurl[] = R"(#!/bin/sh
out=
for word in "$@"; do
  if [ "$before" = --output ]; then out=$word; fi
  before=$word
done
[ -n "$out" ] || exit 2
here=$(dirname "$0")/..
echo "$@" >> "$here/tmp/curl.log"
[ -f "$here/served/${word##*/}" ] || exit 22
cat "$here/served/${word##*/}" > "$out"
)";

}  // namespace

std::string StoredImage(const std::string& name) {
  return ReadFile(absl::StrCat(*RunfilesFolder(), "/openset/data/readers/testdata/", name)).value();
}

void WriteFixtureFiles(const std::string& folder) {
  const Files files{folder};
  files.Write("work/study.textproto", kSpec);
  files.Write("work/deploy.textproto", kDeploy);
  files.Write("work/data/tasks/task.textproto", kTask);
  files.Write("work/experiments/methods/plain.textproto", kPlain);
  files.Write("work/experiments/methods/pairs.textproto", kPairs);
  files.Write("work/experiments/presets/short.textproto", kShort);
  files.Write("work/experiments/published/table.textproto", kTable);
  files.Write("work/scores.csv", kScores);
  files.Write("served/train.bin", kFetched);
  files.Write("bin/curl", kCurl);
  std::filesystem::permissions(files.Path("bin/curl"), std::filesystem::perms::owner_all);
  files.Write("home/notes", "somebody's");
  files.Write("outside/file", "somebody else's");
  files.Write("outside/folder/file", "somebody else's");
  std::filesystem::create_directories(files.Path("tmp"));
  AddCatalog(files);
  AddData(files);
}

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
    WriteFixtureFiles(result->folder);
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

Fixture::Fixture() : folder_(JoinPath(testing::TempDir(), "fixture")), trials_(Made().trials) {
  std::error_code ignored;
  // A previous case may have removed the permissions.
  fs::permissions(folder_, fs::perms::owner_all, ignored);
  fs::remove_all(folder_);
  fs::copy(Made().folder, folder_, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
}

std::string Fixture::Path(const std::string& path) const { return JoinPath(folder_, path); }

std::string Fixture::Read(const std::string& path) const { return ReadFile(Path(path)).value_or(""); }

void Fixture::Write(const std::string& path, const std::string& content) const {
  fs::remove_all(Path(path));
  fs::create_directories(fs::path(Path(path)).parent_path());
  std::ofstream(Path(path), std::ios::binary) << content;
}

void Fixture::Replace(const std::string& path, const std::string& from, const std::string& to) const {
  std::string text = Read(path);
  CHECK_NE(absl::StrReplaceAll({{from, to}}, &text), 0) << path << ": " << from;
  Write(path, text);
}

TrialRecord Fixture::Record(int trial) const { return store().LoadRecord(trials_[trial]).value(); }

std::string Fixture::RecordPath(int trial) const {
  return absl::StrCat("work/store/records/", trials_[trial].substr(0, 2), "/", trials_[trial], ".rec");
}

std::string Fixture::OutputsPath(int trial) const {
  return store().OutputsFolder(Record(trial).outputs_key()).substr(folder_.size() + 1);
}

std::string Fixture::CheckpointPath(int trial) const {
  return store().CheckpointFolder(Record(trial).checkpoint_key()).substr(folder_.size() + 1);
}

void Fixture::WriteRecord(int trial, const TrialRecord& record) const {
  Write(RecordPath(trial), FramedRecord(record.SerializePartialAsString()));
}

std::map<std::string, std::string> Fixture::Snapshot() const {
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

std::vector<ZipMember> BundleMembers(const Fixture& fixture, const std::string& path) {
  return UnpackedBundle(fixture.Path(path));
}

void WriteSigned(const Fixture& fixture, const std::string& path, const std::vector<ZipMember>& members,
                 BundleForm form) {
  fixture.Write(path, SignedBundle(form == BundleForm::kPacked ? PackedBundle(members) : members));
}

}  // namespace openset
