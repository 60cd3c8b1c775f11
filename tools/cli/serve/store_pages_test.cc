#include "tools/cli/serve/store_pages.h"

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/testing/failing_disk.h"
#include "core/testing/status_matchers.h"
#include "experiments/spec/trial.pb.h"
#include "experiments/store/collect_garbage.h"
#include "experiments/store/processes/leases.h"
#include "experiments/store/testing/records.h"

namespace openset {
namespace {

constexpr char kHostile[] = "<script>alert(1)</script><img src=x onerror=alert(2)>'\"`${x}</pre>";

class StorePagesTest : public ::testing::Test {
 protected:
  StorePagesTest() : store_(TestFolder()) {
    std::filesystem::remove_all(TestFolder());
    EXPECT_TRUE(store_.Make().ok());
  }

  void Commit(const std::string& name, const std::string& study, const std::string& method, int seed = 0) {
    TrialRecord record = TestRecord(TestKey(name), method, seed, 0.5 + 0.01 * seed);
    record.mutable_trial()->set_experiment(study);
    record.mutable_trial()->add_metric()->mutable_openauc();
    ASSERT_TRUE(store_.CommitRecord(record).ok());
  }

  HttpAnswer Answer(const std::string& target) {
    if (pages_ == nullptr) pages_ = std::make_unique<StorePages>(store_, Catalog({}), std::vector<std::string>{});
    return pages_->Answer(RouteOf(target));
  }

  // All files of the store with their content.
  std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(store_.folder())) {
      files[entry.path().string()] = entry.is_regular_file() ? *ReadFile(entry.path().string()) : "";
    }
    return files;
  }

  const Store store_;
  std::unique_ptr<StorePages> pages_;
};

// Pages show the rest, and name what is missing; a store that is gone is not an empty one.
TEST_F(StorePagesTest, NamesWhatItCantRead) {
  Commit("ab", "study", "m");
  Commit("cd", "study", "m", 1);
  const std::string study = absl::StrCat("/study/", StudyId("study"));
  for (const char* error : {"EACCES", "EMFILE", "EIO", "ESTALE", "ENOMEM"}) {
    const FailingDisk failing(store_.folder() + "/records/ab", error, "open");
    for (const std::string& page : {std::string("/"), study, study + "/records", std::string("/live.json")}) {
      pages_.reset();
      EXPECT_THAT(Answer(page).body, HasSubstr("/records/ab")) << page << " " << error;
    }
  }
  EXPECT_THAT(Answer(study).body, Not(HasSubstr("/records/ab")));
  {
    const FailingDisk failing(store_.folder() + "/records", "ESTALE", "open");
    pages_.reset();
    EXPECT_THAT(Answer("/").body, AllOf(HasSubstr("be read now"), Not(HasSubstr("has no record yet"))));
    EXPECT_EQ(Answer(study).status, 500);
    const FailingDisk attempts(store_.folder() + "/attempts", "EACCES", "open");
    EXPECT_EQ(Answer("/failures").status, 500);
  }
  std::filesystem::rename(store_.folder(), store_.folder() + ".away");
  EXPECT_EQ(Answer("/").status, 404);
  EXPECT_THAT(Answer("/").body, HasSubstr("there is no store"));
  std::filesystem::rename(store_.folder() + ".away", store_.folder());
}

TEST_F(StorePagesTest, ShowsStudiesTablesAndRecords) {
  EXPECT_THAT(Answer("/").body, HasSubstr("The store has no record yet."));
  Commit("aaaa", "first", "mcp", 0);
  Commit("bbbb", "first", "mcp", 1);
  Commit("cccc", "second", "vim", 0);
  const auto before = Files();
  const HttpAnswer all = Answer("/");
  EXPECT_EQ(all.status, 200);
  EXPECT_EQ(all.type, "text/html; charset=utf-8");
  EXPECT_THAT(all.body, HasSubstr(absl::StrCat("<a href=\"/study/", StudyId("first"), "\">first</a>")));
  EXPECT_THAT(all.body, HasSubstr(absl::StrCat("<a href=\"/study/", StudyId("second"), "\">second</a>")));
  const std::string path = "/study/" + StudyId("first");
  // Mean of 0.50 and 0.51.
  EXPECT_THAT(Answer(path).body,
              AllOf(HasSubstr("<h1>first</h1>"), HasSubstr("\"mean\":0.505"), Not(HasSubstr("vim"))));
  EXPECT_THAT(Answer(path + "/records").body,
              AllOf(HasSubstr("/record/" + TestKey("aaaa")), HasSubstr("0.5100"), Not(HasSubstr(TestKey("cccc")))));
  EXPECT_EQ(Answer(path + "/records/2").status, 404);
  EXPECT_THAT(Answer("/record/" + TestKey("cccc")).body,
              AllOf(HasSubstr("vim on task, split 0, seed 0"), HasSubstr("trial_id: &quot;" + TestKey("cccc"))));
  EXPECT_EQ(Answer("/record/" + TestKey("dddd")).status, 404);
  EXPECT_EQ(Answer("/study/" + StudyId("third")).status, 404);
  EXPECT_EQ(Answer("/nothing").status, 404);
  EXPECT_EQ(Answer("/favicon.ico").status, 204);
  EXPECT_EQ(Files(), before);  // it only reads
  // New records appear.
  Commit("eeee", "first", "mcp", 2);
  EXPECT_THAT(Answer(path).body, HasSubstr("\"n\":3"));
}

TEST_F(StorePagesTest, AStudysPageHasItsSpecItsOrderAndItsTests) {
  // vim is better in every split, by 0.30, 0.29 and 0.28: t = 50 with 2 degrees of freedom.
  for (const auto& [method, add] : {std::pair("mcp", 0.0), std::pair("vim", 0.3)}) {
    for (int split = 0; split < 3; ++split) {
      const double value = 0.5 + add + (add > 0 ? 0.01 : 0.02) * split;
      TrialRecord record = TestRecord(TestKey(absl::StrCat(method[0] == 'm' ? "a" : "b", split)), method, 0, value);
      record.mutable_trial()->set_experiment("first");
      record.mutable_trial()->set_split(split);
      record.mutable_trial()->add_metric()->mutable_openauc();
      ASSERT_TRUE(store_.CommitRecord(record).ok());
    }
  }
  const std::string path = "/study/" + StudyId("first");
  EXPECT_THAT(Answer(path).body, AllOf(Not(HasSubstr("<h2>Spec</h2>")), Not(HasSubstr("\"detectable\""))));
  ASSERT_TRUE(MakeFolders(store_.ReportFolder("first")).ok());
  ASSERT_TRUE(WriteFileAtomically(store_.ReportFolder("first") + "/spec.textproto",
                                  "name: 'first' # <script>alert(1)</script>\nmethod: ['vim', 'mcp']")
                  .ok());
  const std::string body = Answer(path).body;
  EXPECT_THAT(body, AllOf(HasSubstr("<h2>Spec</h2>"), HasSubstr("# &lt;script&gt;"), Not(HasSubstr("<script>alert"))));
  EXPECT_LT(body.find("\"method\":\"vim\""), body.find("\"method\":\"mcp\""));
  EXPECT_THAT(body, AllOf(HasSubstr("\"baseline\":\"vim\""), HasSubstr("\"detectable\":true")));
}

TEST_F(StorePagesTest, ShowsRunningAndFailedActions) {
  const std::unique_ptr<Leases> leases = Leases::Begin(store_).value();
  RunState state;
  state.set_experiment("first");
  state.set_fraction(0.25);
  state.set_actions(12);
  state.set_ended(3);
  RunningAction* action = state.add_running();
  action->set_kind("train");
  action->set_description(kHostile);
  action->mutable_progress()->set_epoch(3);
  action->mutable_progress()->set_epochs(20);
  ASSERT_TRUE(leases->Renew(state).ok());
  const nlohmann::json live = nlohmann::json::parse(Answer("/live.json").body);
  EXPECT_EQ(live.at("records"), 0);
  ASSERT_EQ(live.at("runs").size(), 1);
  EXPECT_EQ(live.at("runs")[0].at("id"), StudyId("first"));
  EXPECT_EQ(live.at("runs")[0].at("fraction"), 0.25);
  EXPECT_EQ(live.at("runs")[0].at("silent"), nullptr);
  EXPECT_THAT(live.at("runs")[0].at("actions")[0].at("line").get<std::string>(), HasSubstr("epoch 3/20"));
  // The same for other programs.
  EXPECT_EQ(nlohmann::json::parse(Answer("/status.json").body).at("running").size(), 1);
  EXPECT_THAT(Answer("/metrics").body, HasSubstr("\nopenset_runs 1\n"));
  EXPECT_THAT(Answer("/metrics").body, HasSubstr("\nopenset_running_actions 1\n"));
  EXPECT_EQ(Answer("/health").body, "ok\n");
  // The study has a page before its first record.
  const HttpAnswer page = Answer("/study/" + StudyId("first"));
  EXPECT_THAT(page.body, AllOf(HasSubstr("There is no record of it yet."), Not(HasSubstr("<script>alert"))));
  FailureRecord failure;
  failure.set_schema_version(kSchemaVersion);
  failure.set_kind("train");
  failure.set_key(TestKey("ffff"));
  failure.set_description(kHostile);
  failure.set_message("the loss is not finite");
  ASSERT_TRUE(store_.WriteFailure(failure).ok());
  EXPECT_THAT(Answer("/failures").body, AllOf(HasSubstr("1 action failed"), HasSubstr("the loss is not finite"),
                                              Not(HasSubstr("<script>alert"))));
}

// Names and texts of the store never become elements, attributes or scripts: no page has a script that the policy does
// not allow, and the hostile text never occurs unescaped.
TEST_F(StorePagesTest, EscapesTextFromTheStore) {
  Commit("aaaa", kHostile, kHostile, 0);
  TrialRecord record = TestRecord(TestKey("bbbb"), "</script><script>alert(3)</script>", 1, 0.5, kHostile);
  record.mutable_trial()->set_experiment(kHostile);
  record.mutable_trial()->set_task(kHostile);
  record.mutable_trial()->add_overrides(kHostile);
  record.mutable_metric(0)->set_absent_reason(kHostile);
  record.mutable_provenance()->mutable_stage(0)->set_user_name(kHostile);
  ASSERT_TRUE(store_.CommitRecord(record).ok());
  const std::string path = "/study/" + StudyId(kHostile);
  for (const std::string& target :
       {std::string("/"), path, path + "/records", "/record/" + TestKey("aaaa"), "/record/" + TestKey("bbbb")}) {
    const HttpAnswer answer = Answer(target);
    EXPECT_EQ(answer.status, 200) << target << ": " << answer.body.substr(0, 300);
    for (const char* alive : {"<script>alert", "<img src=x", "onerror=alert(2)>'\"", "${x}</pre>"}) {
      EXPECT_THAT(answer.body, Not(HasSubstr(alive))) << target;
    }
    EXPECT_THAT(answer.policy, AllOf(HasSubstr("default-src 'none'"), Not(HasSubstr("script-src 'unsafe")),
                                     Not(HasSubstr("unsafe-eval")), Not(HasSubstr("*"))));
    // Each script is one that the policy names, or data.
    size_t scripts = 0, hashes = 0, data = 0;
    for (size_t at = 0; (at = answer.body.find("<script", at)) != std::string::npos; ++at) ++scripts;
    for (size_t at = 0; (at = answer.body.find("<script type=\"application/json\"", at)) != std::string::npos; ++at)
      ++data;
    for (size_t at = 0; (at = answer.policy.find("'sha256-", at)) != std::string::npos; ++at) ++hashes;
    EXPECT_EQ(scripts, hashes + data) << target;
  }
}

TEST_F(StorePagesTest, ShowsTheDiskByUser) {
  TrialRecord record = TestRecord(TestKey("aaaa"), "mcp", 1, 0.5);
  record.mutable_provenance()->mutable_stage(0)->set_user_name("ann");
  ASSERT_TRUE(store_.CommitRecord(record).ok());
  const int64_t bytes = FileSize(store_.RecordPath(TestKey("aaaa")));
  EXPECT_THAT(Answer("/metrics").body, HasSubstr(absl::StrCat("\nopenset_user_bytes{user=\"ann\"} ", bytes, "\n")));
  EXPECT_THAT(Answer("/").body, HasSubstr(absl::StrCat("<td class=\"text\">ann</td><td>", BytesText(bytes))));
}

TEST_F(StorePagesTest, NamesCorruptRecords) {
  Commit("aaaa", "first", "mcp", 0);
  Commit("bbbb", "first", "mcp", 1);
  std::ofstream(store_.RecordPath(TestKey("bbbb"))) << "noise";
  EXPECT_THAT(Answer("/").body, HasSubstr("Corrupt, or of another version"));
  EXPECT_EQ(Answer("/study/" + StudyId("first")).status, 200);
  EXPECT_EQ(Answer("/record/" + TestKey("bbbb")).status, 500);
}

}  // namespace
}  // namespace openset
