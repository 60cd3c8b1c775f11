// The keys by which stores find results don't change unnoticed.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/proto/proto_digest.h"
#include "core/proto/proto_rules.h"
#include "core/proto/schema.pb.h"
#include "core/testing/status_matchers.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/spec/trial.proto.h"

namespace openset {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;

constexpr char kFile[] = "experiments/specs/golden_digests.txt";
constexpr char kUpdate[] = "OPENSET_UPDATE_GOLDEN";

// Whole trials: split 0, seed 0 of each.
constexpr std::pair<const char*, const char*> kMethodsAndTasks[] = {
    {"softmax", "fashion_mnist_6_4"},
    {"openauc", "cifar10"},
    {"arpl_cs", "mnist"},
    {"crl_openauc", "fashion_mnist_6_4"},
    {"augmix", "cifar10"},
    {"edl", "mnist"},
    {"outlier_exposure", "cifar10"},
    {"gcpl", "cifar10_plus_10"},
    {"overlay_softmax", "fashion_mnist_6_4"},
    {"deep_ensemble", "fashion_mnist_6_4"},
    {"mc_dropout", "fashion_mnist_6_4"},
    {"odin", "cifar10"},
    {"openmax_closed_set", "fashion_mnist_6_4"},
    {"vim", "cifar10"},
};

struct Golden {
  std::string digest;
  int revisions;  // the sum over all messages of the trial's action
};

std::string Root() { return JoinPath(RunfilesFolder().value(), "openset"); }

int SumOfRevisions(const Message& message) {
  int sum = message.GetDescriptor()->options().GetExtension(revision);
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      sum += SumOfRevisions(message.GetReflection()->GetMessage(message, field));
      continue;
    }
    for (int i = 0; i < message.GetReflection()->FieldSize(message, field); ++i) {
      sum += SumOfRevisions(message.GetReflection()->GetRepeatedMessage(message, field, i));
    }
  }
  return sum;
}

int RevisionsOf(const Trial& trial) {
  ActionMaker maker;
  int sum = 0;
  for (const TrialAction& action : maker.ActionsOf(trial)) sum += SumOfRevisions(*action.spec);
  return sum;
}

// Adds the first trial of each method of an experiment: a name or a path.
void Add(const std::string& experiment, const std::string& name, std::map<std::string, Golden>* all) {
  ASSERT_OK_AND_ASSIGN(const Experiment loaded, LoadExperiment(experiment, SpecFoldersBelow(Root())));
  ASSERT_OK_AND_ASSIGN(const auto trials, Expand(loaded));
  for (const auto& trial : trials) {
    all->try_emplace(absl::StrCat(name, trial.method().name(), " on ", trial.task()),
                     Golden{TrialId(trial), RevisionsOf(trial)});
  }
}

// Adds each kind of component that a trial can have (score, loss term, metric, network ...), with its defaults:
// "ScoreSpec.knn". `seen`: the messages that were added before.
void AddMembers(const Descriptor& message, std::set<const Descriptor*>* seen, std::map<std::string, Golden>* all) {
  if (!seen->insert(&message).second) return;
  for (int f = 0; f < message.field_count(); ++f) {
    const FieldDescriptor& field = *message.field(f);
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (field.real_containing_oneof() != nullptr) {
      const std::unique_ptr<Message> member(
          google::protobuf::MessageFactory::generated_factory()->GetPrototype(field.message_type())->New());
      FillDefaults(member.get());
      all->try_emplace(absl::StrCat(message.name(), ".", field.name()),
                       Golden{MessageDigest(*member), SumOfRevisions(*member)});
    }
    AddMembers(*field.message_type(), seen, all);
  }
}

std::map<std::string, Golden> Present() {
  std::map<std::string, Golden> present;
  std::set<const Descriptor*> seen;
  AddMembers(*TrialSpec::descriptor(), &seen, &present);
  Add("quickstart", "quickstart: ", &present);
  // In its own folder, because the tasks and data sets next to a spec are read too.
  const std::string folder = JoinPath(::testing::TempDir(), "golden_digests"), file = folder + "/golden.textproto";
  EXPECT_TRUE(MakeFolders(folder).ok());
  for (const auto& [method, task] : kMethodsAndTasks) {
    std::ofstream(file) << "name: 'golden' task: '" << task << "' method: '" << method
                        << "' split: 0 seed: 0 metric { accuracy {} } metric { auroc {} } metric { openauc {} }\n";
    Add(file, "", &present);
  }
  return present;
}

// Lines "NAME | DIGEST | SUM OF REVISIONS".
std::map<std::string, Golden> Stored() {
  std::map<std::string, Golden> stored;
  for (absl::string_view line :
       absl::StrSplit(ReadFile(JoinPath(Root(), kFile)).value_or(""), '\n', absl::SkipEmpty())) {
    const std::vector<std::string> parts = absl::StrSplit(line, " | ");
    if (parts.size() == 3) stored[parts[0]] = {parts[1], std::stoi(parts[2])};
  }
  return stored;
}

TEST(GoldenDigests, HaveNotMoved) {
  const std::map<std::string, Golden> present = Present();
  const std::string update =
      absl::StrCat(kUpdate, "=1 bazel run //experiments/specs:golden_digests_test (then look at the difference)");
  if (const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY"); std::getenv(kUpdate) != nullptr) {
    ASSERT_NE(workspace, nullptr) << update;
    std::string text;
    for (const auto& [name, golden] : present) {
      absl::StrAppend(&text, name, " | ", golden.digest, " | ", golden.revisions, "\n");
    }
    ASSERT_TRUE(WriteFileAtomically(JoinPath(workspace, kFile), text).ok());
    std::cout << "wrote " << JoinPath(workspace, kFile) << "\n";
    return;
  }
  const std::map<std::string, Golden> stored = Stored();
  EXPECT_EQ(stored.size(), present.size()) << update;
  for (const auto& [name, golden] : present) {
    const auto found = stored.find(name);
    if (found == stored.end()) {
      ADD_FAILURE() << name << " is new: " << update;
    } else if (found->second.digest != golden.digest) {
      ADD_FAILURE() << "the key of " << name << " has moved"
                    << (found->second.revisions != golden.revisions
                            ? ", and a revision with it. If its results are to be made again: "
                            : " without a revision: its results are in stores and would not be found again.\n"
                              "  A field that is new: mark it (rule) = { added: true }.\n"
                              "  A result that is to change: raise option (openset.revision) of its message.\n"
                              "  A method's or task's own text was changed on purpose: nothing more.\n  Then: ")
                    << update;
    }
  }
}

}  // namespace
}  // namespace openset
