// Methods that another program trains (training.command): what it gets, what is taken from it, and that it runs only
// with the user's permission. The program is Python without any package.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/formats/npz.h"
#include "core/process/subprocess.h"
#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Nearest class mean: logits m_c . x - |m_c|^2 / 2, as the method nearest_mean has them. Needs Python alone.
constexpr char kTrain[] = R"(
import array, ast, json, os, struct, sys, zipfile

def load(path):
    arrays = {}
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            data = file.read(name)
            end = 10 + struct.unpack("<H", data[8:10])[0]
            header = ast.literal_eval(data[10:end].decode())
            kind = {"<f4": "f", "<i8": "q"}.get(header["descr"])
            if kind:
                arrays[name[:-4]] = (header["shape"], array.array(kind, data[end:]))
    return arrays

def save(path, arrays):
    with zipfile.ZipFile(path, "w") as file:
        for name, (shape, values) in arrays.items():
            header = str({"descr": "<f4", "fortran_order": False, "shape": tuple(shape)})
            header += " " * (63 - (10 + len(header)) % 64) + "\n"
            file.writestr(name + ".npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                          + array.array("f", values).tobytes())

trial = json.load(open(os.environ["OPENSET_TRIAL"]))
train, classes = load("train.npz"), len(trial["class_names"])
(n, d), x = train["features"]
label = train["label"][1]
means = []
for c in range(classes):
    rows = [i for i in range(n) if label[i] == c]
    means.append([sum(x[i * d + j] for i in rows) / len(rows) for j in range(d)])
    with open("progress.jsonl", "a") as file:
        file.write(json.dumps({"epoch": c + 1, "epochs": classes, "loss": 1.0 / (c + 1)}) + "\n")
for part, out in (("test.npz", "outputs.npz"), ("train.npz", "fit.npz"), ("validation.npz", "validation_outputs.npz")):
    if not os.path.exists(part):
        continue
    (n, d), x = load(part)["features"]
    logits = [sum(m[j] * x[i * d + j] for j in range(d)) - sum(v * v for v in m) / 2 for i in range(n) for m in means]
    save(out, {"logits": ((n, classes), logits), "features": ((n, d), x)})
)";

constexpr char kMethod[] = R"(
name: "mine" title: "Mine" reference: "own"
model { outputs {} }
training { command { run: "RUN" source: "train.py" } }
input {} inference { plain {} } score { SCORE {} }
)";
constexpr char kStudy[] = R"(
name: "study" question: "?" task: "cloud.textproto" method: ["means.textproto", "mine.textproto"] seed: [0, 1]
metric { accuracy {} } metric { auroc {} }
)";
constexpr char kTask[] = R"(
name: "cloud" data_set: "features:cloud.npz"
split { known: [0, 1, 2] }
unknown { group: "far" data_set: "features:cloud.npz" class_id: 3 part: "test" }
)";

class Trainer : public ::testing::Test {
 protected:
  void SetUp() override { Fill(program_); }

  // Writes a task of features, 60 samples of each of 4 classes, and a study with the method.
  static void Fill(const OpensetProgram& program) {
    ASSERT_EQ(setenv("HOME", program.folder().c_str(), 1), 0);
    RandomStream random(1, "cloud");
    std::vector<float> features;
    std::vector<int64_t> label;
    for (int64_t i = 0; i < 240; ++i) {
      label.push_back(i % 4);
      for (int64_t d = 0; d < 5; ++d) {
        features.push_back(static_cast<float>(random.Normal() + (d == i % 4 ? 2.5 : 0)));
      }
    }
    ASSERT_TRUE(WriteNpz(program.folder() + "/cloud.npz",
                         {{"features", MakeNpy(features, {240, 5})}, {"label", MakeNpy(label, {240})}})
                    .ok());
    program.Write("cloud.textproto", kTask);
    program.Write("train.py", kTrain);
    program.Write("study.textproto", kStudy);
    program.Write("means.textproto",
                  "base: \"nearest_mean\" title: \"Means\" reference: \"own\" score { max_softmax {} }");
    Method(program);
  }

  static void Method(const OpensetProgram& program, const std::string& run = "python3 train.py",
                     const std::string& score = "max_softmax") {
    program.Write("mine.textproto", absl::StrReplaceAll(kMethod, {{"RUN", run}, {"SCORE", score}}));
  }

  ProgramResult Run(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"run", "study.textproto", "--allow_commands", "--worker=/nowhere/worker",
                                      "--retries=0"};
    words.insert(words.end(), more.begin(), more.end());
    return program_.Run(words);
  }

  std::string marker() const { return program_.folder() + "/it_ran"; }

  OpensetProgram program_;
};

// The program computes what the method nearest_mean computes, so the numbers are the same.
TEST_F(Trainer, IsAMethodLikeOurs) {
  const ProgramResult result = Run();
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  MeanValues means = program_.Means("study");
  ASSERT_EQ(means.size(), 2);
  for (const char* metric : {"accuracy", "auroc"}) {
    EXPECT_NEAR(means["mine"][metric], means["means"][metric], 1e-6) << metric;
  }
  EXPECT_GT(means["mine"]["accuracy"], 0.8);  // 3.5 standard deviations apart: about 8 % are confused
  EXPECT_THAT(program_.Run({"compare", "study"}).out, HasSubstr("mine"));

  // The cache: nothing runs again, another score runs no training, and a changed source or version is another training.
  EXPECT_THAT(Run().out, HasSubstr("nothing to run"));
  Method(program_, "python3 train.py", "knn");
  EXPECT_THAT(Run().out, HasSubstr("to run: 0 trainings"));
  program_.Write("train.py", absl::StrCat(kTrain, "# changed\n"));
  EXPECT_THAT(Run().out, HasSubstr("to run: 2 trainings"));
  EXPECT_THAT(Run({"--methods=mine.textproto", "--set=training.command.version=2"}).out,
              HasSubstr("to run: 2 trainings"));
}

// The temperature is fitted to the outputs for the validation samples.
TEST_F(Trainer, CalibratesOnItsValidationOutputs) {
  Method(program_, "python3 train.py", "temperature_scaled_softmax");
  program_.Write("means.textproto",
                 "base: \"nearest_mean\" title: \"Means\" reference: \"own\" score { temperature_scaled_softmax {} }");
  program_.Write("study.textproto", absl::StrCat(kStudy, "metric { ece {} } validation_per_class: 10"));
  const ProgramResult result = Run();
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  MeanValues means = program_.Means("study");
  for (const char* metric : {"accuracy", "auroc", "ece"}) {
    EXPECT_NEAR(means["mine"][metric], means["means"][metric], 1e-6) << metric;
  }
  Method(program_, "python3 train.py && rm validation_outputs.npz", "temperature_scaled_softmax");
  EXPECT_THAT(Run().out, HasSubstr("training.command wrote no validation_outputs.npz"));
}

TEST_F(Trainer, SaysWhatIsWrongWithTheProgram) {
  Method(program_, "echo the reason >&2; exit 3");
  ProgramResult result = Run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out + result.err, HasSubstr("exited with 3: the reason; log: "));

  Method(program_, "true");
  result = Run();
  EXPECT_THAT(result.out + result.err, HasSubstr("ended without outputs.npz, the outputs for test.npz"));

  // Outputs of the wrong samples.
  Method(program_, "python3 train.py && mv fit.npz outputs.npz");
  result = Run();
  EXPECT_THAT(result.out + result.err, HasSubstr("rows of logits for "));

  // A score that is fitted to what the program did not write.
  Method(program_, "python3 train.py && rm fit.npz", "knn");
  result = Run();
  EXPECT_THAT(result.out + result.err, HasSubstr("wrote no fit.npz"));

  program_.Write("mine.textproto", "model { outputs {} } input {} inference { plain {} } score { max_softmax {} }");
  EXPECT_THAT(Run().err, HasSubstr("model.outputs.file: must be set, unless training.command writes the outputs"));
  Method(program_);
  ASSERT_EQ(unlink((program_.folder() + "/train.py").c_str()), 0);
  EXPECT_THAT(Run().err, AllOf(HasSubstr("mine.textproto:4: training.command.source[0]"), HasSubstr("no such file")));
}

// Only declared files are there.
TEST_F(Trainer, RunsWithItsSourcesAlone) {
  program_.Write("helper.py", "value = 1\n");
  Method(program_, "python3 -c 'import helper' && python3 train.py");
  ProgramResult result = Run();
  EXPECT_THAT(result.out + result.err, HasSubstr("No module named 'helper'"));
  for (const std::string& source : {std::string("../outside.py"), std::string("/etc/passwd")}) {
    program_.Write("mine.textproto", absl::StrReplaceAll(kMethod, {{"train.py\" }", absl::StrCat(source, "\" }")},
                                                                   {"SCORE", "max_logit"}}));
    EXPECT_THAT(Run().err, HasSubstr("must be a path below the folder of this file"));
  }
}

// Interrupted, it finds what it left in state/.
TEST_F(Trainer, ContinuesFromItsState) {
  program_.Write("study.textproto", absl::StrReplaceAll(kStudy, {{"\"means.textproto\", ", ""}, {"[0, 1]", "0"}}));
  Method(program_, absl::StrCat("if [ ! -e state/half ]; then touch state/half ", marker(),
                                "; sleep 1000; fi; echo again; python3 train.py"));
  const pid_t run = program_.Start({"run", "study.textproto", "--allow_commands", "--worker=/nowhere/worker"});
  while (!FileExists(marker())) usleep(20000);
  ASSERT_EQ(kill(run, SIGINT), 0);
  int status = 0;
  ASSERT_EQ(waitpid(run, &status, 0), run);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_EQ(Run().exit_code, 0);
  // Nothing is left of its folder.
  EXPECT_TRUE(std::filesystem::is_empty(program_.store() + "/partial"));
}

// openset, killed by SIGKILL, takes with it what the program has started.
TEST_F(Trainer, EndsWithOpenset) {
  program_.Write("study.textproto", absl::StrReplaceAll(kStudy, {{"\"means.textproto\", ", ""}, {"[0, 1]", "0"}}));
  Method(program_,
         absl::StrCat("sleep 1000 & echo $! > ", marker(), ".new; mv ", marker(), ".new ", marker(), "; wait"));
  const pid_t run = program_.Start({"run", "study.textproto", "--allow_commands", "--worker=/nowhere/worker"});
  while (!FileExists(marker())) usleep(20000);
  const pid_t sleeper = std::stoi(program_.Read("it_ran"));
  const std::optional<ProcessStat> before = StatOf(sleeper);
  ASSERT_TRUE(before.has_value() && !before->has_ended());
  ASSERT_EQ(kill(run, SIGKILL), 0);
  ASSERT_EQ(waitpid(run, nullptr, 0), run);
  // Without an end, it sleeps on, and this doesn't end either.
  for (std::optional<ProcessStat> stat = before;
       stat.has_value() && !stat->has_ended() && stat->start_ticks == before->start_ticks; stat = StatOf(sleeper)) {
    usleep(20000);
  }
}

// The weights of a network, by a program that copies them, give what the same file gives as model.weights.
TEST_F(Trainer, WritesTheWeightsOfANetwork) {
  const std::string parts = R"(
name: "tiny" class_name: ["a", "b", "c", "d"] channels: 1 height: 16 width: 16
layout {
  part { name: "train" samples: 40 samples_per_class: 10 npz { images { path: "train.npz" } } }
  part { name: "test" samples: 40 samples_per_class: 10 npz { images { path: "test.npz" } } }
}
)";
  program_.Write("catalog/tiny.textproto", parts);
  program_.Write("tiny_task.textproto", "name: 'tiny_task' data_set: 'tiny' split { known: [0, 1, 2] unknown: 3 }");
  for (const char* part : {"train", "test"}) {
    RandomStream random(part[1], "images");
    std::string images = FormatNpyHeader("|u1", {40, 16, 16});
    std::vector<int64_t> labels;
    for (int64_t i = 0; i < 40; ++i) {
      labels.push_back(i % 4);
      for (int64_t p = 0; p < 16 * 16; ++p) images.push_back(static_cast<char>(random.Below(256)));
    }
    ASSERT_TRUE(WriteNpz(absl::StrCat(program_.folder(), "/", part, ".npz"),
                         {{"images", *ParseOwnedNpy(images)}, {"labels", MakeNpy(labels, {40})}})
                    .ok());
  }
  ASSERT_EQ(setenv("OPENSET_LIBRARY", program_.folder().c_str(), 1), 0);
  ASSERT_EQ(setenv("OPENSET_DATA", program_.folder().c_str(), 1), 0);
  std::filesystem::copy_file("models/testdata/osrci_cnn_parallel.safetensors", program_.folder() + "/w.safetensors");
  constexpr char kNetwork[] = R"(
name: "NAME" title: "NAME" reference: "own"
model { osrci_cnn { feature_dim: 4 } head { linear {} } MODEL }
TRAINING
input { size: 16 channels: 1 mean: 0.5 std: 0.25 } inference { plain {} } score { knn { k: 3 } }
)";
  program_.Write("ours.textproto",
                 absl::StrReplaceAll(
                     kNetwork, {{"NAME", "ours"}, {"MODEL", "weights { file: 'w.safetensors' }"}, {"TRAINING", ""}}));
  const auto write = [&](const std::string& run) {
    program_.Write("theirs.textproto",
                   absl::StrReplaceAll(kNetwork, {{"NAME", "theirs"},
                                                  {"MODEL", ""},
                                                  {"TRAINING", absl::StrCat("training { command { run: \"", run,
                                                                            "\" source: 'w.safetensors' } }")}}));
  };
  program_.Write("network.textproto",
                 "name: 'network' question: '?' task: 'tiny_task.textproto' method: ['ours.textproto', "
                 "'theirs.textproto'] seed: 0 metric { accuracy {} } metric { auroc {} }");
  const auto run = [&] { return program_.Run({"run", "network.textproto", "--allow_commands", "--retries=0"}); };
  write("ls > files; cp w.safetensors checkpoint.safetensors; cp files ../../../files");
  const ProgramResult result = run();
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  const MeanValues means = program_.Means("network");
  ASSERT_EQ(means.size(), 2);
  EXPECT_EQ(means.at("theirs"), means.at("ours"));
  // It gets no samples to test on: openset infers.
  EXPECT_THAT(program_.Read("files"), AllOf(HasSubstr("train.npz"), Not(HasSubstr("test.npz"))));

  const auto text_of = [](const ProgramResult& of) { return absl::StrCat(of.out, of.err); };
  write("true");
  EXPECT_THAT(text_of(run()),
              HasSubstr("ended without checkpoint.safetensors or checkpoint.pth, the weights of the network"));
  write("cp trial.json checkpoint.safetensors");
  EXPECT_THAT(text_of(run()), HasSubstr("training.command: "));
  program_.Write("theirs.textproto",
                 absl::StrReplaceAll(program_.Read("theirs.textproto"), {{"head { linear {} }",
                                                                          "head { linear {} } weights { file: "
                                                                          "'w.safetensors' }"}}));
  EXPECT_THAT(text_of(run()), HasSubstr("model.weights: does not go with training.command"));
  unsetenv("OPENSET_LIBRARY");
  unsetenv("OPENSET_DATA");
}

TEST_F(Trainer, RunsOnlyIfItIsAllowed) {
  Method(program_, absl::StrCat("touch ", marker(), "; python3 train.py"));
  const ProgramResult refused = program_.Run({"run", "study.textproto"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("mine: touch "), HasSubstr("--allow_commands")));
  EXPECT_THAT(program_.Run({"plan", "study.textproto"}).out, HasSubstr("mine: touch "));
  EXPECT_FALSE(FileExists(marker()));
  EXPECT_THAT(program_.Run({"run", "study.textproto", "--always_allow"}).err, HasSubstr("belongs to --allow_commands"));

  // Remembered for the folder, in a file that others can't write.
  ASSERT_EQ(Run({"--always_allow"}).exit_code, 0);
  EXPECT_TRUE(FileExists(marker()));
  program_.Write("train.py", absl::StrCat(kTrain, "# changed\n"));
  const ProgramResult allowed = program_.Run({"run", "study.textproto"});
  EXPECT_EQ(allowed.exit_code, 0) << allowed.err;
  const std::string remembered = program_.folder() + "/.config/openset/command_folders";
  program_.Write("train.py", absl::StrCat(kTrain, "# changed again\n"));
  ASSERT_EQ(chmod(remembered.c_str(), 0666), 0);
  EXPECT_EQ(program_.Run({"run", "study.textproto"}).exit_code, 2);
  ASSERT_EQ(chmod(remembered.c_str(), 0600), 0);
  // Not for a method file in another folder.
  program_.Write("elsewhere/train.py", absl::StrCat(kTrain, "# another\n"));
  program_.Write("elsewhere/mine.textproto", program_.Read("mine.textproto"));
  program_.Write("study.textproto", absl::StrReplaceAll(kStudy, {{"\"mine.", "\"elsewhere/mine."}}));
  EXPECT_EQ(program_.Run({"run", "study.textproto"}).exit_code, 2);
  // Its sources stay there if the study changes another field of the command.
  program_.Write(
      "study.textproto",
      absl::StrCat(absl::StrReplaceAll(kStudy, {{"\"means.textproto\", ", ""}, {"\"mine.", "\"elsewhere/mine."}}),
                   "override { training { command { version: 2 } } }"));
  const ProgramResult overridden = Run();
  EXPECT_EQ(overridden.exit_code, 0) << overridden.out << overridden.err;
}

// The program ends as a hang if it neither writes nor uses a CPU; the worker that waits for it does use one.
TEST_F(Trainer, AProgramThatSleepsHangs) {
  Method(program_, "sleep 600");
  program_.Write("deploy.textproto", "hang_seconds: 3");
  const ProgramResult result =
      program_.Run({"run", "study.textproto", "--deploy=deploy.textproto", "--allow_commands", "--retries=0"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(absl::StrCat(result.out, result.err), HasSubstr("its worker hung"));
}

// A second attempt finds what the first one left: in a later run if the program failed, in the same one if it hung.
TEST_F(Trainer, IsTriedAgain) {
  program_.Write("deploy.textproto", "hang_seconds: 3");
  Method(program_, "if [ ! -e state/once ]; then touch state/once; sleep 600; fi; python3 train.py");
  EXPECT_EQ(Run({"--deploy=deploy.textproto", "--retries=1"}).exit_code, 0);
  EXPECT_EQ(program_.Records().size(), 4);

  Method(program_, "if [ ! -e state/once ]; then touch state/once; echo no luck >&2; exit 1; fi; python3 train.py");
  const ProgramResult failed = Run({"--retries=1"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(absl::StrCat(failed.out, failed.err), HasSubstr("exited with 1: no luck"));
  EXPECT_EQ(Run().exit_code, 0);
}

// Each rung continues from the state of the one before: of three candidates two go on from epoch 1, one from epoch 2.
TEST_F(Trainer, ContinuesWhenASearchIsHalved) {
  constexpr char kEpochs[] = R"(
share = float(trial["parameters"]["share"])
training, done = trial["method"]["training"], len(os.listdir("state"))
stop = training["stop_after_epochs"] or training["epochs"]
for epoch in range(done, stop):
    open("state/%d" % epoch, "w").close()
with open("MARKER", "a") as file:
    print(share, "from", done, "to", stop, file=file)
means = [])";
  program_.Write("train.py",
                 absl::StrReplaceAll(kTrain, {{"\nmeans = []", absl::StrReplaceAll(kEpochs, {{"MARKER", marker()}})},
                                              // The larger the share of the mean, the better.
                                              {"m[j] * x", "share * m[j] * x"}}));
  program_.Write("mine.textproto",
                 absl::StrReplaceAll(kMethod, {{"RUN", "python3 train.py"},
                                               {"SCORE", "max_softmax"},
                                               {"\"train.py\" }",
                                                "\"train.py\" parameter { name: 'share' value: '1' } } "
                                                "epochs: 4"}}));
  program_.Write("study.textproto",
                 absl::StrCat(absl::StrReplaceAll(kStudy, {{"\"means.textproto\", ", ""}, {"[0, 1]", "0"}}), R"(
validation_per_class: 10
search {
  method: "mine"
  axis { path: "training.command.parameter[0].value" value: ["'-1'", "'1'", "'0.5'"] }
  criterion { accuracy {} }
  halving { rungs: [1, 2, 4] keep: 0.5 }
})"));
  const ProgramResult result = Run();
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  std::vector<std::string> lines = absl::StrSplit(program_.Read("it_ran"), '\n', absl::SkipEmpty());
  std::sort(lines.begin(), lines.end());
  // 1 is the method's own value, too.
  EXPECT_THAT(lines, ElementsAre("-1.0 from 0 to 1", "0.5 from 0 to 1", "0.5 from 1 to 2", "1.0 from 0 to 1",
                                 "1.0 from 0 to 4", "1.0 from 1 to 2", "1.0 from 2 to 4"))
      << result.out;
}

// Slurm's commands are scripts: sbatch keeps the scripts of the jobs, which the test then runs as tasks of arrays.
TEST_F(Trainer, RunsInATaskOfSlurm) {
  program_.Write("study.textproto", absl::StrReplaceAll(kStudy, {{"\"means.textproto\", ", ""}}));
  Method(program_, absl::StrCat("echo $SLURM_ARRAY_JOB_ID >> ", marker(), "; python3 train.py"));
  const std::string jobs = program_.folder() + "/jobs";
  std::filesystem::create_directories(jobs);
  for (const auto& [name, text] :
       {std::pair<std::string, std::string>{
            "sbatch", absl::StrCat("for last; do :; done; cp \"$last\" ", jobs, "/$$.sh; echo 7")},
        {"squeue", "true"},
        {"scontrol", "echo 'MaxArraySize = 1001'"}}) {
    const std::string path = absl::StrCat("bin/", name);
    program_.Write(path, absl::StrCat("#!/bin/sh\n", text, "\n"));
    std::filesystem::permissions(absl::StrCat(program_.folder(), "/", path), std::filesystem::perms::owner_all);
  }
  const std::string before = getenv("PATH");
  setenv("PATH", absl::StrCat(program_.folder(), "/bin:", before).c_str(), 1);
  program_.Write("cluster.textproto", "slurm { idle_seconds: 1 }");
  const std::vector<std::string> submit = {"run", "study.textproto", "--engine=slurm", "--detach",
                                           "--deploy=cluster.textproto"};
  const ProgramResult refused = program_.Run(submit);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--allow_commands"));
  EXPECT_TRUE(std::filesystem::is_empty(jobs));
  std::vector<std::string> allowed = submit;
  allowed.emplace_back("--allow_commands");
  const ProgramResult run = program_.Run(allowed);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("submitted Slurm job 7: "));
  setenv("SLURM_ARRAY_JOB_ID", "7", 1);
  setenv("SLURM_ARRAY_TASK_ID", "0", 1);
  const absl::StatusOr<pid_t> task =
      Spawn({"/bin/bash", "-c", "cd \"$0\" && for job in jobs/*.sh; do bash $job || exit; done >said 2>&1",
             program_.folder()});
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_TRUE(WaitForEnd(*task).ok()) << program_.Read("said");
  for (const char* name : {"SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"}) unsetenv(name);
  setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(program_.Read("it_ran"), "7\n7\n") << program_.Read("said");  // two seeds
  EXPECT_EQ(program_.Records().size(), 2);
}

// A record says which files its trainer was, not where they were.
TEST_F(Trainer, IsReproducedFromItsSources) {
  const std::string features = absl::StrCat("features:", program_.folder(), "/cloud.npz");
  program_.Write("tasks/cloud.textproto", absl::StrReplaceAll(kTask, {{"features:cloud.npz", features}}));
  program_.Write("study.textproto",
                 absl::StrReplaceAll(
                     kStudy, {{"\"cloud.textproto\"", "\"cloud\""}, {"\"means.textproto\", ", ""}, {"[0, 1]", "0"}}));
  ASSERT_EQ(Run().exit_code, 0);
  const std::string id = program_.Records().begin()->first;
  const ProgramResult exported = program_.Run({"records", "export", "--bundle=mine.zip"});
  ASSERT_EQ(exported.exit_code, 0);
  EXPECT_THAT(exported.err, HasSubstr("left out: the sources of mine: train.py (SHA-256 of all, as source_sha256: "));
  const ProgramResult spec = program_.Run({"records", "spec", id});
  EXPECT_THAT(spec.out, AllOf(HasSubstr("# mine itself is in no library: "), HasSubstr("  name: \"mine\"\n"),
                              HasSubstr("these files next to it: train.py (SHA-256"), Not(HasSubstr("folder:"))));
  EXPECT_THAT(program_.Run({"records", "show", id}).out, AllOf(HasSubstr("train.py"), Not(HasSubstr("folder:"))));
  int actions = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(program_.store() + "/checkpoints")) {
    if (entry.path().filename() != "action.textproto") continue;
    const std::string action = ReadFile(entry.path().string()).value();
    EXPECT_THAT(action, AllOf(HasSubstr("train.py"), Not(HasSubstr("folder:"))));
    ++actions;
  }
  EXPECT_EQ(actions, 1);
  // The printed study makes it again, and has its name.
  program_.Write("again.textproto", spec.out);
  const ProgramResult study =
      program_.Run({"run", "again.textproto", "--allow_commands", "--worker=/nowhere/worker", "--store=second"});
  EXPECT_EQ(study.exit_code, 0) << study.err;
  EXPECT_THAT(study.out, HasSubstr("trained   mine on cloud"));

  const auto reproduce = [&](const std::string& again) {
    return program_.Run({"reproduce", id, "--allow_commands", "--worker=/nowhere/worker", "--again=" + again});
  };
  const ProgramResult same = reproduce("third");
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  EXPECT_THAT(same.out, HasSubstr("1 of 1 trial reproduced to the bit"));
  program_.Write("train.py", absl::StrCat(kTrain, "# changed\n"));
  const ProgramResult changed = reproduce("fourth");
  EXPECT_EQ(changed.exit_code, 2);
  EXPECT_THAT(changed.err, AllOf(HasSubstr("the command's sources are missing: train.py (SHA-256 of all"),
                                 HasSubstr("put them into the current folder"), HasSubstr("those in ")));
  std::filesystem::create_directories(program_.folder() + "/library/methods");
  program_.Write("library/methods/train.py", kTrain);
  EXPECT_EQ(
      program_
          .Run({"reproduce", id, "--allow_commands", "--worker=/nowhere/worker", "--again=fifth", "--library=library"})
          .exit_code,
      0);
}

// The study of docs/trainers, and the method of the page that trains a network.
TEST_F(Trainer, ThePagesStudiesArePlanned) {
  for (const char* file : {"study.textproto", "forest.textproto", "torch_softmax.textproto", "torch_doc.textproto",
                           "forest.py", "network.py"}) {
    program_.Write(absl::StrCat("trainers/", file), program_.Shipped(absl::StrCat("docs/trainers/", file)));
  }
  const ProgramResult study = program_.Run({"plan", "trainers/study.textproto", "--noprobe"});
  EXPECT_EQ(study.exit_code, 0) << study.err;
  EXPECT_THAT(study.out, AllOf(HasSubstr("48 trials"), HasSubstr("torch_doc: python network.py"),
                               HasSubstr("forest: python forest.py")));
  const std::string page = program_.Shipped("docs/trainer.md");
  const size_t begin = page.find("    name: \"mine\"");
  ASSERT_NE(begin, std::string::npos);
  const std::string method = page.substr(begin, page.find("\n\n", begin) - begin);
  ASSERT_THAT(method, HasSubstr("model { resnet_cifar"));
  program_.Write("mine.textproto", method);
  program_.Write("network.textproto",
                 "name: 'network' question: '?' task: 'cifar10' method: 'mine.textproto' seed: 0 metric { auroc {} }");
  const ProgramResult network = program_.Run({"plan", "network.textproto", "--noprobe"});
  EXPECT_EQ(network.exit_code, 0) << network.err;
  EXPECT_THAT(network.out, HasSubstr("mine: python train.py"));
}

// A stranger's records hold their commands, and no command of openset runs them.
TEST_F(Trainer, AStrangersBundleRunsNothing) {
  const std::string touch = absl::StrCat("touch ", marker());
  // In a library, so that the bundle has it, with a path that the victim can read.
  const std::string features = absl::StrCat("features:", program_.folder(), "/cloud.npz");
  program_.Write("tasks/cloud.textproto", absl::StrReplaceAll(kTask, {{"features:cloud.npz", features}}));
  program_.Write("study.textproto", absl::StrReplaceAll(kStudy, {{"\"cloud.textproto\"", "\"cloud\""}}));
  program_.Write(
      "mine.textproto",
      absl::StrReplaceAll(kMethod, {{"RUN", absl::StrCat(touch, "; python3 ", program_.folder(), "/train.py")},
                                    {" source: \"train.py\"", ""},
                                    {"SCORE", "max_logit"}}));
  ASSERT_EQ(Run().exit_code, 0);
  ASSERT_EQ(program_.Run({"records", "export", "--bundle=stranger.zip"}).exit_code, 0);
  const std::string rows = program_.Run({"records", "ls", "method=mine", "--format=csv"}).out;
  const std::string id = rows.substr(rows.find('\n') + 1, 12);
  ASSERT_EQ(unlink(marker().c_str()), 0);

  const OpensetProgram victim("victim");
  Fill(victim);
  std::filesystem::copy(program_.folder() + "/stranger.zip", victim.folder() + "/stranger.zip");
  // The victim allows the commands of its own folder.
  ASSERT_EQ(victim.Run({"run", "study.textproto", "--allow_commands", "--always_allow"}).exit_code, 0);
  victim.Write("theirs/mine.textproto", program_.Read("mine.textproto"));
  victim.Write("theirs/study.textproto", absl::StrReplaceAll(kStudy, {{"cloud.", "../cloud."},
                                                                      {"\"means.textproto\", ", ""},
                                                                      {"name: \"study\"", "name: \"theirs\""}}));
  victim.Write("theirs/train.py", kTrain);
  const ProgramResult spec = victim.Run({"records", "spec", "stranger.zip", id});
  ASSERT_EQ(spec.exit_code, 0) << spec.err;
  ASSERT_THAT(spec.out, HasSubstr(touch));
  victim.Write("again.textproto", spec.out);
  // A study that the victim copied into its own folder: its method's command, with files of another folder.
  const std::string theirs = absl::StrCat("open('", marker(), "', 'w').close()\n", kTrain);
  victim.Write("theirs/other/train.py", theirs);
  victim.Write("copied.textproto",
               absl::StrCat(absl::StrReplaceAll(kStudy, {{"\"means.textproto\", ", ""}, {"\"study\"", "\"copied\""}}),
                            "axis { path: 'training.command.folder' value: \"'", victim.folder(),
                            "/theirs/other'\" } axis { path: 'training.command.source_sha256' value: \"'",
                            Sha256Hex(absl::StrCat(Sha256Hex(theirs), " train.py\n")), "'\" }"));
  struct Way {
    std::vector<std::string> words;
    bool would_run;  // is refused for its command
  };
  const std::vector<Way> ways = {
      {{"reproduce", "stranger.zip", "--trials=0"}, true},  // all: the first one depends on the ids
      {{"reproduce", "stranger.zip", id}, true},
      {{"run", "theirs/study.textproto"}, true},
      {{"run", "theirs/study.textproto", "--store=theirs/store", "--redo=all"}, true},
      {{"run", "again.textproto"}, true},
      {{"run", "again.textproto", "--store=theirs/store"}, true},
      {{"run", "study.textproto", "--methods=theirs/mine.textproto"}, true},
      {{"run", "study.textproto", "--store=other", "--methods=mine.textproto",
        absl::StrCat("--set=training.command.run='", touch, "'")},
       true},
      {{"run", "copied.textproto"}, true},
      // What is allowed for a record is not remembered: the error lists the flags that there are.
      {{"reproduce", "stranger.zip", "--allow_commands", "--always_allow"}, true},
      {{"report", "stranger.zip"}, false},
      {{"compare", "stranger.zip"}, false},
      {{"records", "show", "stranger.zip", id}, false},
      {{"records", "verify", "stranger.zip"}, false},
      {{"records", "merge", "stranger.zip", "--store=theirs/merged"}, false},
      {{"plan", "theirs/study.textproto"}, false},
      {{"status", "theirs/study.textproto"}, false},
      {{"explain", "again.textproto"}, false},
  };
  for (const Way& way : ways) {
    const ProgramResult result = victim.Run(way.words);
    EXPECT_FALSE(FileExists(marker())) << absl::StrJoin(way.words, " ");
    if (!way.would_run) continue;
    EXPECT_EQ(result.exit_code, 2) << absl::StrJoin(way.words, " ");
    EXPECT_THAT(result.err, HasSubstr("--allow_commands")) << absl::StrJoin(way.words, " ");
  }
}

}  // namespace
}  // namespace openset
