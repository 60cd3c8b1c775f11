#include "experiments/store/bundle.h"

#include <minizip/zip.h>
#undef FAR  // zlib's, which UnknownGroup::FAR is not

#include <filesystem>
#include <functional>
#include <map>
#include <utility>

#include "core/files/formats/zip_reader.h"
#include "core/proto/proto_digest.h"
#include "core/testing/status_matchers.h"
#include "experiments/store/merge.h"
#include "experiments/store/store_contents.h"
#include "experiments/store/testing/records.h"
#include "gmock/gmock.h"
#include "google/protobuf/dynamic_message.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BundleTest : public ::testing::Test {
 protected:
  BundleTest() : store_(TestFolder() + "/store"), path_(TestFolder() + "/bundle.zip") {
    std::filesystem::remove_all(TestFolder());
  }

  absl::Status Read() {
    seen_.clear();
    refused_.clear();
    return ReadBundle(
               path_,
               [&](const TrialRecord& record, const std::string& bytes) {
                 seen_.push_back(record.trial_id());
                 EXPECT_EQ(EncodeRecord(record), bytes);
                 return absl::OkStatus();
               },
               &refused_)
        .status();
  }

  // A bundle of two small records.
  BundleWritten Write() {
    for (const char* name : {"abcd", "ef00"})
      EXPECT_THAT(store_.CommitRecord(TestRecord(TestKey(name), "m", 0, 0.5)), IsOk());
    const absl::StatusOr<BundleWritten> written = WriteBundle(store_, RecordIds(store_), path_);
    EXPECT_THAT(written, IsOk());
    return written.value();
  }

  // Another content of a member, in a bundle that is signed anew.
  void ReplaceMember(const std::string& name, const std::string& content) {
    absl::StatusOr<ZipReader> zip = ZipReader::Open(path_);
    ASSERT_THAT(zip, IsOk());
    std::map<std::string, std::string> members;
    for (const std::string& member : zip->Names()) members[member] = zip->Read(member).value();
    ASSERT_EQ(members.count(name), 1);
    members[name] = content;
    std::filesystem::remove(path_);
    const zipFile file = zipOpen64(path_.c_str(), APPEND_STATUS_CREATE);
    for (const auto& [member, bytes] : members) {
      const zip_fileinfo info = {};
      zipOpenNewFileInZip64(file, member.c_str(), &info, nullptr, 0, nullptr, 0, nullptr, Z_DEFLATED, 1, 0);
      zipWriteInFileInZip(file, bytes.data(), static_cast<unsigned>(bytes.size()));
      zipCloseFileInZip(file);
    }
    zipClose(file, ("openset bundle sha256:" + std::string(64, '0')).c_str());
    std::string all = ReadFile(path_).value();
    all.replace(all.size() - 64, 64, Sha256Hex(all.substr(0, all.size() - 64)));
    ASSERT_THAT(WriteFileAtomically(path_, all), IsOk());
  }

  const Store store_;
  const std::string path_;
  std::vector<std::string> seen_, refused_;
};

TEST_F(BundleTest, HoldsTheFilesAsTheyAreAndIsTheSameEveryTime) {
  const BundleWritten written = Write();
  EXPECT_EQ(written.manifest.records(), 2);
  EXPECT_THAT(Read(), IsOk());
  EXPECT_THAT(seen_, ElementsAre(TestKey("abcd"), TestKey("ef00")));
  const std::string first = *ReadFile(path_);
  EXPECT_EQ(Write().digest, written.digest);
  EXPECT_EQ(*ReadFile(path_), first);
  EXPECT_EQ(first.substr(first.size() - 86), "openset bundle sha256:" + written.digest);
  EXPECT_EQ(Sha256Hex(first.substr(0, first.size() - 64)), written.digest);

  absl::StatusOr<ZipReader> zip = ZipReader::Open(path_);
  ASSERT_THAT(zip, IsOk());
  EXPECT_EQ(*zip->Read("records/ab/" + TestKey("abcd") + ".rec"), *ReadFile(store_.RecordPath(TestKey("abcd"))));
  EXPECT_THAT(*zip->Read("SHA256SUMS"),
              HasSubstr(Sha256Hex(*ReadFile(store_.RecordPath(TestKey("ef00")))) + "  records/ef/"));
}

// Other files come in the order of their names, where they are wanted, and a name that no bundle has is refused.
TEST_F(BundleTest, CarriesALibraryOutputsAndCheckpoints) {
  TrialRecord record = TestRecord(TestKey("abcd"), "m", 0, 0.5);
  TrainAction action;
  action.set_seed(1);
  record.set_checkpoint_key(MessageDigest(action));
  StageProvenance* train = record.mutable_provenance()->add_stage();
  train->set_stage(StageProvenance::TRAIN);
  train->set_key(record.checkpoint_key());
  ASSERT_THAT(store_.CommitRecord(record), IsOk());
  CommitTestCheckpoint(store_, record.checkpoint_key());
  BundleExtras extras;
  extras.library["tasks/mine.textproto"] = "name: 'mine'";
  extras.checkpoints = true;
  ASSERT_THAT(WriteBundle(store_, RecordIds(store_), path_, extras), IsOk());
  std::map<std::string, std::string> files;
  std::vector<std::string> refused;
  const auto use = [](const TrialRecord&, const std::string&) { return absl::OkStatus(); };
  const auto file = [&](const std::string& name, const std::string& content) {
    files[name] = content;
    return absl::OkStatus();
  };
  ASSERT_THAT(ReadBundle(path_, use, &refused, {}, file), IsOk());
  EXPECT_EQ(files.at("library/tasks/mine.textproto"), "name: 'mine'");
  const std::string checkpoint = store_.CheckpointFolder(record.checkpoint_key());
  EXPECT_EQ(files.at(checkpoint.substr(store_.folder().size() + 1) + "/summary.rec"),
            *ReadFile(checkpoint + "/summary.rec"));
  files.clear();
  const auto of_library = [](const std::string& name) { return name[0] == 'l'; };
  ASSERT_THAT(ReadBundle(path_, use, &refused, {}, file, of_library), IsOk());
  EXPECT_EQ(files.size(), 1);
  const Store merged(TestFolder() + "/merged");
  MergeCounts counts;
  ASSERT_THAT(MergeFrom(path_, merged, &counts), IsOk());
  EXPECT_EQ(counts.checkpoints, 1);
  EXPECT_THAT(merged.CheckCheckpoint(record.checkpoint_key()), IsOk());
  // What does not match its checksum is not taken in.
  const std::string member = checkpoint.substr(store_.folder().size() + 1) + "/checkpoint.safetensors";
  ReplaceMember(member, "other");
  const Store refusing(TestFolder() + "/refusing");
  counts = {};
  ASSERT_THAT(MergeFrom(path_, refusing, &counts), IsOk());
  EXPECT_EQ(counts.checkpoints, 0);
  EXPECT_THAT(counts.damaged, ElementsAre(HasSubstr("does not match its checksums")));
  EXPECT_FALSE(refusing.HasCheckpoint(record.checkpoint_key()));
  // Nor what is whole, and of another action than its key says.
  TrainSummary summary;
  summary.set_schema_version(kSchemaVersion);
  summary.mutable_action()->set_seed(2);
  summary.set_checkpoint_sha256(Sha256Hex("other"));
  ReplaceMember(checkpoint.substr(store_.folder().size() + 1) + "/summary.rec", EncodeRecord(summary));
  counts = {};
  ASSERT_THAT(MergeFrom(path_, refusing, &counts), IsOk());
  EXPECT_THAT(counts.damaged,
              ElementsAre(HasSubstr("its action has the key " + MessageDigest(summary.action()).substr(0, 12))));
  EXPECT_FALSE(refusing.HasCheckpoint(record.checkpoint_key()));
  EXPECT_THAT(ListFolder(refusing.folder() + "/tmp").value(), ElementsAre());
  for (const char* name :
       {"tasks/../x.textproto", "methods/x.textproto", "tasks/.textproto", "tasks/a/b.textproto", "tasks/x.txt"}) {
    extras.library = {{name, "x"}};
    ASSERT_THAT(WriteBundle(store_, RecordIds(store_), path_, extras), IsOk());
    EXPECT_THAT(std::string(ReadBundle(path_, use, &refused).status().message()),
                HasSubstr("has a member that no bundle has"))
        << name;
  }
}

TEST_F(BundleTest, ItsSchemaReadsItsRecords) {
  Write();
  absl::StatusOr<ZipReader> zip = ZipReader::Open(path_);
  google::protobuf::FileDescriptorSet schema;
  ASSERT_TRUE(schema.ParseFromString(*zip->Read("schema.binpb")));
  google::protobuf::DescriptorPool pool;
  for (const auto& file : schema.file()) ASSERT_NE(pool.BuildFile(file), nullptr) << file.name();
  const auto* type = pool.FindMessageTypeByName("openset.TrialRecord");
  ASSERT_NE(type, nullptr);
  google::protobuf::DynamicMessageFactory factory;
  const std::unique_ptr<google::protobuf::Message> record(factory.GetPrototype(type)->New());
  ASSERT_THAT(DecodeRecord(*zip->Read("records/ab/" + TestKey("abcd") + ".rec"), record.get()), IsOk());
  EXPECT_EQ(record->GetReflection()->GetString(*record, type->FindFieldByName("trial_id")), TestKey("abcd"));
}

TEST_F(BundleTest, EveryFlippedBitAndEveryCutIsNoticed) {
  Write();
  const std::string bytes = *ReadFile(path_);
  // Every byte; of each, every bit in turn: eight bytes on, all have had theirs. The long form is :damage_test.
  for (size_t at = 0; at < bytes.size(); at += 7) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    ASSERT_THAT(WriteFileAtomically(path_, damaged), IsOk());
    EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path_))) << at;
    ASSERT_THAT(WriteFileAtomically(path_, bytes.substr(0, at)), IsOk());
    EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path_))) << at;
  }
  ASSERT_THAT(WriteFileAtomically(path_, bytes + "x"), IsOk());
  EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(ReadBundle("/nowhere.zip", nullptr, &refused_).status(),
              StatusIs(absl::StatusCode::kNotFound, "cannot open /nowhere.zip: No such file or directory"));
}

TEST_F(BundleTest, LimitsAreKept) {
  Write();
  BundleLimits limits;
  limits.member_bytes = 100;
  const auto use = [](const TrialRecord&, const std::string&) { return absl::OkStatus(); };
  EXPECT_THAT(ReadBundle(path_, use, &refused_, limits).status(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("100 bytes")));
  limits = {};
  limits.members = 4;
  EXPECT_THAT(ReadBundle(path_, use, &refused_, limits).status(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("4 members")));
}

// 8 TB would be hashed for hours.
TEST_F(BundleTest, WhatIsTooLongOrHasNoEndOfABundleIsNotRead) {
  Write();
  const std::string bytes = *ReadFile(path_);
  std::filesystem::resize_file(path_, int64_t{1} << 32);
  EXPECT_EQ(Read(), absl::DataLossError(path_ + ": is no bundle"));
  std::filesystem::resize_file(path_, int64_t{1} << 43);
  EXPECT_EQ(Read(), absl::DataLossError(path_ + ": has 8796093022208 bytes, more than the 8589934592 that a "
                                                "bundle may have"));
  BundleLimits limits;
  limits.bytes = static_cast<int64_t>(bytes.size());
  ASSERT_THAT(WriteFileAtomically(path_, bytes), IsOk());
  const auto use = [](const TrialRecord&, const std::string&) { return absl::OkStatus(); };
  EXPECT_THAT(ReadBundle(path_, use, &refused_, limits).status(), IsOk());
  --limits.bytes;
  EXPECT_THAT(ReadBundle(path_, use, &refused_, limits).status(), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(BundleTest, WhatIsDamagedIsNotHandedOn) {
  Write();
  std::filesystem::resize_file(store_.RecordPath(TestKey("abcd")), 20);
  EXPECT_THAT(WriteBundle(store_, RecordIds(store_), path_).status(), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(Read(), IsOk());  // the one there was
}

// Each as whoever signs a bundle can write it: the others are read.
TEST_F(BundleTest, ARecordThatCannotBeIsLeftOutAndNamed) {
  Write();
  const std::string id = TestKey("abcd");
  const std::string path = store_.RecordPath(id);
  TrialRecord record = store_.LoadRecord(id).value();
  const auto with = [&](const std::function<void(TrialRecord*)>& change) {
    TrialRecord changed = record;
    change(&changed);
    return changed;
  };
  const std::vector<std::pair<TrialRecord, std::string>> cases = {
      {with([](TrialRecord* r) { r->set_schema_version(3); }), "is of schema version 3, this openset reads version 2"},
      {with([](TrialRecord* r) { r->clear_metric(); }), "metric: must not be empty"},
      {with([](TrialRecord* r) { r->mutable_metric(0)->set_name("\xff"); }), "metric[0].name: must be text in UTF-8"},
      {with([](TrialRecord* r) { r->mutable_provenance()->clear_stage(); }), "provenance: has no evaluation"},
      {with([](TrialRecord* r) { r->mutable_provenance()->clear_raised_revision(); }),
       "trial.method.model: must be set"},
  };
  for (const auto& [changed, problem] : cases) {
    // Written as a bundle that is right, then with the other record in its place.
    const std::string member = "records/ab/" + id + ".rec";
    ASSERT_THAT(WriteFileAtomically(path, EncodeRecord(record)), IsOk());
    ASSERT_THAT(WriteBundle(store_, RecordIds(store_), path_), IsOk());
    ReplaceMember(member, EncodeRecord(changed));
    EXPECT_THAT(Read(), IsOk());
    EXPECT_THAT(seen_, ElementsAre(TestKey("ef00")));
    EXPECT_THAT(refused_, ElementsAre(HasSubstr(path_ + ": " + member + ": " + problem)));
    // Nor is it handed on.
    ASSERT_THAT(WriteFileAtomically(path, EncodeRecord(changed)), IsOk());
    EXPECT_THAT(WriteBundle(store_, RecordIds(store_), path_).status(), StatusIs(absl::StatusCode::kDataLoss));
  }
}

TEST_F(BundleTest, SaysWhereItCannotWrite) {
  Write();
  EXPECT_EQ(WriteBundle(store_, RecordIds(store_), "/nowhere/a.zip").status(),
            absl::InvalidArgumentError("cannot write /nowhere/a.zip: No such file or directory"));
}

}  // namespace
}  // namespace openset
