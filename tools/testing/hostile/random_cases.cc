#include "tools/testing/hostile/random_cases.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/proto/record_file.h"
#include "core/random.h"
#include "core/testing/archive_bytes.h"
#include "core/testing/mutation.h"
#include "core/testing/proto_mutation.h"
#include "data/catalog.pb.h"
#include "data/task.pb.h"
#include "experiments/engine/deploy.pb.h"
#include "experiments/published/published.pb.h"
#include "experiments/spec/experiment.pb.h"
#include "experiments/spec/method.pb.h"
#include "experiments/store/processes/run_state.pb.h"
#include "google/protobuf/text_format.h"
#include "tools/testing/hostile/fixture.h"
#include "tools/testing/hostile/random_processes.h"

namespace openset {
namespace {

using Words = std::vector<std::string>;
using google::protobuf::Message;

const Fixture& Any() {
  static const auto* const fixture = new Fixture();
  return *fixture;
}

// A file from someone else, and the commands that read it.
struct Input {
  std::string name, path;
  std::vector<Words> commands;
  std::function<std::unique_ptr<Message>()> message;  // as text, or in a record file
};

template <typename M>
std::unique_ptr<Message> New() {
  return std::make_unique<M>();
}

const Words& Plan() {
  static const auto* const words = new Words{"plan", "study.textproto", "--store=store", "--data=files"};
  return *words;
}

Words Report(const std::string& format) {
  return {"report", "study.textproto", "--store=store", "--data=files", "--format=" + format};
}

std::vector<Words> Readers() {
  const std::string trial = Any().trials()[0];
  return {Report("text"),
          Report("html"),
          Report("json"),
          Report("markdown"),
          Report("latex"),
          Report("csv"),
          {"records", "ls", "--store=store"},
          {"records", "ls", "--store=store", "--format=json"},
          {"records", "ls", "--store=store", "--format=csv"},
          {"records", "show", trial, "--store=store"},
          {"records", "show", trial, "--store=store", "--format=json"},
          {"explain", trial, "--store=store"},
          {"records", "verify", "--store=store"},
          {"status", "study.textproto", "--store=store", "--data=files"},
          {"records", "export", "--store=store", "--bundle=out.zip"},
          {"run", "study.textproto", "--deploy=deploy.textproto", "--worker=/bin/true"}};
}

const std::vector<Input>& Inputs() {
  static const auto* const inputs = [] {
    const auto verify = [](const std::string& set) {
      return std::vector<Words>{{"data", "verify", set, "--images", "--library=.", "--data=files"},
                                {"data", "audit", set, "--library=.", "--data=files"}};
    };
    const std::vector<Words> specs = {Plan(),
                                      Report("text"),
                                      Report("html"),
                                      {"run", "study.textproto", "--deploy=deploy.textproto", "--worker=/bin/true"}};
    const std::vector<Words> arrays = {{"eval", "logits.npz"},
                                       {"eval", "logits.npz", "--ci", "--replicates=50"},
                                       {"eval", "logits.npz", "--format=json"},
                                       {"threshold", "logits.npz"},
                                       {"compare", "logits.npz", "logits.npz"}};
    const std::vector<Words> tables = {
        {"eval", "scores.csv"}, {"eval", "scores.csv", "--format=latex"}, {"compare", "scores.csv", "scores.csv"}};
    const std::vector<Words> store = {{"records", "verify", "--store=store"},
                                      {"run", "study.textproto", "--deploy=deploy.textproto", "--worker=/bin/true"}};
    return new std::vector<Input>{
        {"spec", "work/study.textproto", specs, New<ExperimentSpec>},
        {"method", "work/experiments/methods/plain.textproto", specs, New<MethodSpec>},
        {"method", "work/experiments/methods/pairs.textproto", specs, New<MethodSpec>},
        {"preset", "work/experiments/presets/short.textproto", specs, New<MethodSpec>},
        {"task",
         "work/data/tasks/task.textproto",
         {Plan(), Report("text"), {"task", "splits", "task", "--library=."}, {"show", "task", "task", "--library=."}},
         New<TaskSpec>},
        {"catalog",
         "work/data/catalog/digits.textproto",
         {Plan(),
          Report("html"),
          {"data", "list", "--library=."},
          {"show", "data", "digits", "--library=."},
          {"data", "verify", "digits", "--images", "--library=.", "--data=files"}},
         New<DataSetInfo>},
        {"published table",
         "work/experiments/published/table.textproto",
         {Report("text"), Report("html")},
         New<PublishedTable>},
        {"deploy file",
         "work/deploy.textproto",
         {{"plan", "study.textproto", "--deploy=deploy.textproto"},
          {"status", "--deploy=deploy.textproto"},
          {"run", "study.textproto", "--deploy=deploy.textproto", "--worker=/bin/true"}},
         New<DeploySpec>},
        {"record", Any().RecordPath(0), Readers(), New<TrialRecord>},
        {"record", Any().RecordPath(1), Readers(), New<TrialRecord>},
        {"checkpoint", Any().CheckpointPath(0) + "/summary.rec", store, New<TrainSummary>},
        {"checkpoint", Any().CheckpointPath(0) + "/checkpoint.safetensors", store, nullptr},
        {"checkpoint", Any().CheckpointPath(0) + "/action.textproto", store, nullptr},
        {"outputs", Any().OutputsPath(0) + "/summary.rec", store, New<InferSummary>},
        {"outputs", Any().OutputsPath(0) + "/outputs.npz", store, nullptr},
        {"store", "work/store/version", store, nullptr},
        {"bundle", "work/bundle.zip", {{"records", "merge", "bundle.zip", "--store=merged"}}, nullptr},
        {"arrays (.npz)", "work/logits.npz", arrays, nullptr},
        {"array (.npy)", "work/label.npy", {{"eval", "label.npy", "unknown_score.npy"}}, nullptr},
        {"array (.npy)", "work/unknown_score.npy", {{"eval", "label.npy", "unknown_score.npy"}}, nullptr},
        {"table (.csv)", "work/scores.csv", tables, nullptr},
        {"MATLAB file (.mat)", "work/files/mats/digits.mat", verify("mats"), nullptr},
        {"image file of a data set", "work/files/digits/test-images", verify("digits"), nullptr},
        {"image file of a data set", "work/files/digits/test-labels", verify("digits"), nullptr},
        {"image file of a data set", "work/files/binary/train.bin", verify("binary"), nullptr},
        {"image file of a data set", "work/files/arrays/images.npz", verify("arrays"), nullptr},
        {"image file of a data set", "work/files/listed/list.txt", verify("listed"), nullptr},
        {"image", "work/files/photos/cat/1.png", verify("photos"), nullptr},
        {"image", "work/files/photos/cat/2.jpg", verify("photos"), nullptr},
        {"image", "work/files/photos/dog/1.webp", verify("photos"), nullptr},
        {"image", "work/files/photos/dog/2.png", verify("photos"), nullptr},
    };
  }();
  return *inputs;
}

const std::vector<std::string>& Tokens() {
  static const auto* const tokens = new std::vector<std::string>{"999999999",
                                                                 "-1",
                                                                 "{",
                                                                 "}",
                                                                 "'",
                                                                 "../../outside/file",
                                                                 "nan",
                                                                 "1e999",
                                                                 "\x1b[2J",
                                                                 "\xff",
                                                                 "\n",
                                                                 "\xe2\x80\xae",
                                                                 "<script>",
                                                                 "axis { ",
                                                                 "9223372036854775807",
                                                                 "[",
                                                                 "]",
                                                                 "#",
                                                                 std::string(1, '\0'),
                                                                 "PK\5\6",
                                                                 "\x93NUMPY",
                                                                 "IDAT",
                                                                 "\xff\xda",
                                                                 "$(touch pwn)",
                                                                 "';touch pwn;'",
                                                                 "(1000000000,)"};
  return *tokens;
}

HostileCase CaseOf(const Input& input, const std::string& what, RandomStream* random) {
  HostileCase one{input.name, what, OneOf(input.commands, random), {}, End::kAnswered, ""};
  // Output files, and the store for commands that may change it.
  // A deploy file that no longer names a store has the default one.
  one.writes = {"work/merged", "work/out.zip", "work/openset-store"};
  for (const char* word : {"run", "verify", "gc"}) {
    if (one.command[0] == word || one.command[1] == word) one.writes.push_back("work/store");
  }
  absl::StrAppend(&one.what, " of ", input.path.substr(input.path.rfind('/') + 1), " (",
                  absl::StrJoin(one.command, " "), ")");
  return one;
}

HostileCase ChangedBytes(const Input& input, RandomStream* random) {
  HostileCase one = CaseOf(input, "bytes", random);
  const std::string bytes = Mutated(Any().Read(input.path), Tokens(), random);
  one.make = [bytes, path = input.path](const Fixture& fixture) { fixture.Write(path, bytes); };
  return one;
}

HostileCase ChangedFields(const Input& input, RandomStream* random) {
  HostileCase one = CaseOf(input, "fields", random);
  const std::unique_ptr<Message> message = input.message();
  const std::string before = Any().Read(input.path);
  std::string after;
  if (absl::EndsWith(input.path, ".rec")) {
    DecodeRecord(before, message.get()).IgnoreError();
    after = FramedRecord(MutatedWire(*message, {}, random));
  } else {
    google::protobuf::TextFormat::ParseFromString(before, message.get());
    after = MutatedText(*message, {}, random);
  }
  // A deploy file may name any folder next to it as its store.
  DeploySpec deploy;
  if (input.name == "deploy file" && google::protobuf::TextFormat::ParseFromString(after, &deploy) &&
      !deploy.store().empty() && deploy.store()[0] != '.' && !absl::StrContains(deploy.store(), '/')) {
    one.writes.push_back(absl::StrCat("work/", deploy.store()));
  }
  one.make = [after, path = input.path](const Fixture& fixture) { fixture.Write(path, after); };
  return one;
}

// A bundle's member, by its bytes or its fields; its signature is right.
HostileCase ChangedMember(RandomStream* random) {
  const std::string trial = Any().trials()[0];
  const std::vector<Words> commands = {
      {"records", "merge", "full.zip", "--store=merged"},
      {"records", "ls", "full.zip"},
      {"records", "show", "full.zip", trial},
      {"records", "verify", "full.zip"},
      {"report", "full.zip", "--format=html"},
      {"records", "spec", "full.zip", trial, "--data=files"},
      {"reproduce", "full.zip", "--data=files", "--worker=/bin/true", "--jobs=1", "--retries=0", "--again=merged"}};
  std::vector<ZipMember> members = BundleMembers(Any(), "work/full.zip");
  ZipMember& member = members[random->Below(members.size())];
  HostileCase one = CaseOf({"bundle", member.name, commands, nullptr}, "member", random);
  std::unique_ptr<Message> message;
  for (const auto& [part, type] : std::vector<std::pair<std::string, std::function<std::unique_ptr<Message>()>>>{
           {"records/", New<TrialRecord>},
           {"library/specs/", New<ExperimentSpec>},
           {"library/tasks/", New<TaskSpec>},
           {"library/catalog/", New<DataSetInfo>}}) {
    if (absl::StartsWith(member.name, part)) message = type();
  }
  if (absl::EndsWith(member.name, "/summary.rec")) {
    message = absl::StartsWith(member.name, "outputs/") ? New<InferSummary>() : New<TrainSummary>();
  }
  if (message == nullptr || random->Below(3) == 0) {
    member.content = Mutated(member.content, Tokens(), random);
  } else if (absl::EndsWith(member.name, ".rec")) {
    DecodeRecord(member.content, message.get()).IgnoreError();
    member.content = FramedRecord(MutatedWire(*message, {}, random));
  } else {
    google::protobuf::TextFormat::ParseFromString(member.content, message.get());
    member.content = MutatedText(*message, {}, random);
  }
  const bool alone = one.command[0] == "reproduce" || one.command[1] == "spec";
  const BundleForm form = random->Below(2) == 0 ? BundleForm::kPacked : BundleForm::kMembers;
  one.make = [members, alone, form](const Fixture& fixture) {
    WriteSigned(fixture, "work/full.zip", members, form);
    // So that only the bundle's library has these names.
    if (alone) std::filesystem::remove_all(fixture.Path("work/data"));
  };
  return one;
}

HostileCase InItsPlace(const Input& input, RandomStream* random) {
  return OneOf(CasesOfFile(CaseOf(input, "file", random), input.path), random);
}

// A random combination of the words of all commands.
HostileCase Nonsense(RandomStream* random) {
  const std::vector<Words> commands = {Plan(),
                                       Report("text"),
                                       {"records", "ls", "--store=store"},
                                       {"records", "gc", "--store=store", "--dry_run"},
                                       {"records", "rm", "split=0", "--store=store", "--dry_run"},
                                       {"records", "ls", "full.zip"},
                                       {"report", "full.zip"},
                                       {"devices"},
                                       {"eval", "scores.csv"},
                                       {"eval", "logits.npz"},
                                       {"compare", "scores.csv", "scores.csv"},
                                       {"threshold", "scores.csv"},
                                       {"list", "methods"},
                                       {"show", "method", "plain", "--library=."},
                                       {"data", "list", "--library=."},
                                       {"task", "splits", "task", "--library=."},
                                       {"figure", "study.textproto", "--store=store", "--data=files"},
                                       {"status", "--store=store"},
                                       {"explain", "abcd", "--store=store"},
                                       {"complete", ":run", ":"},
                                       {"export", "outputs"},
                                       {"score", "--model=weights.safetensors"},
                                       {"compare", "study.textproto", "--store=store", "--data=files"},
                                       {"task", "new", "mine", "--library=."}};
  const Words flags = {"jobs",    "retries",    "devices",   "engine",    "format", "rows",       "columns",
                       "metrics", "score",      "ci",        "level",     "seed",   "sort",       "set",
                       "seeds",   "methods",    "only",      "redo",      "near",   "far",        "unknown",
                       "known",   "split",      "x",         "y",         "curve",  "threads",    "library",
                       "deploy",  "name",       "parts",     "per_class", "tile",   "exact",      "convention",
                       "fit",     "replicates", "ci_method", "data",      "tidy",   "older_than", "max_failures",
                       "splits",  "folds",      "levels",    "max_size",  "spread", "digits",     "baseline",
                       "with",    "network",    "trials",    "brief",     "bundle", "all_pairs",  "dry_run",
                       "task",    "model",      "outputs",   "max_trials"};
  const Words values = {"",
                        "-1",
                        "0",
                        "1",
                        "2147483647",
                        "9223372036854775808",
                        "nan",
                        "inf",
                        "1e308",
                        "true",
                        "x",
                        "/dev/zero",
                        "../../outside/file",
                        "\x1b]0;x\a",
                        "\xff\xfe",
                        "a\nb",
                        "auroc",
                        "all",
                        "method,metric",
                        "plain",
                        "task",
                        "'",
                        "{",
                        "energy { temperature: nan }",
                        "training.epochs=-1",
                        "0..99999999999",
                        "@/dev/zero",
                        "cuda:99",
                        "text",
                        "json",
                        "=1+1",
                        std::string(5000, 'x'),
                        ",,,",
                        "--",
                        "*"};
  HostileCase one{"flag", "words", OneOf(commands, random), Nothing, End::kAnswered, ""};
  for (uint64_t n = 1 + random->Below(4); n > 0; --n) {
    const std::string value = OneOf(values, random);
    one.command.push_back(random->Below(5) == 0 ? value : absl::StrCat("--", OneOf(flags, random), "=", value));
  }
  one.what = absl::StrCat("words: ", absl::StrJoin(one.command, " ").substr(0, 200));
  one.writes = {"work/study", "work/tasks", "work/data/tasks", "work/mine.textproto"};
  return one;
}

}  // namespace

HostileCase RandomCase(uint64_t seed) {
  const Fixture fresh;  // the previous case has changed the files that Any() reads
  RandomStream random(seed, "hostile case");
  const Input& input = OneOf(Inputs(), &random);
  switch (random.Below(12)) {
    case 9:
    case 10:
    case 11:
      return RandomProcessCase(&random);
    case 8:
      return ChangedMember(&random);
    case 0:
      return Nonsense(&random);
    case 1:
      return InItsPlace(input, &random);
    case 2:
    case 3:
      return ChangedBytes(input, &random);
    default:
      return input.message == nullptr ? ChangedBytes(input, &random) : ChangedFields(input, &random);
  }
}

}  // namespace openset
