#include "experiments/store/bundle.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/files/digest.h"
#include "core/files/formats/zip_reader.h"
#include "core/proto/proto_digest.h"
#include "core/proto/record_file.h"
#include "core/testing/mutation.h"
#include "core/testing/status_matchers.h"
#include "experiments/store/merge.h"
#include "experiments/store/store_contents.h"
#include "experiments/store/testing/bundle_bytes.h"
#include "experiments/store/testing/records.h"
#include "google/protobuf/dynamic_message.h"

namespace openset {
namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

const std::string kFirst = "records/aa/" + std::string(64, 'a') + ".rec";
const std::string kSecond = "records/bb/" + std::string(64, 'b') + ".rec";
const std::string kReplica = "replicas/aa/" + std::string(64, 'a') + "/" + std::string(64, 'c') + ".rec";

std::string Packed(const Files& files) {
  std::string stream;
  RecordPacker packer([&](absl::string_view part) {
    stream.append(part.data(), part.size());
    return absl::OkStatus();
  });
  for (const auto& [name, content] : files) EXPECT_THAT(packer.Add(name, content), IsOk());
  EXPECT_THAT(packer.Finish(), IsOk());
  EXPECT_EQ(packer.bytes(), FromXz(stream).size());
  return stream;
}

struct Unpacked {
  absl::Status status;
  Files files;
};

Unpacked Unpack(const std::string& stream, const RecordUnpacker::Limits& limits = {1 << 30, 10, 1 << 20}) {
  Unpacked unpacked;
  RecordUnpacker unpacker(limits, [&](const std::string& name, const std::string& content) {
    unpacked.files.emplace_back(name, content);
    return absl::OkStatus();
  });
  for (size_t at = 0; at < stream.size() && unpacked.status.ok(); at += 50) {
    unpacked.status = unpacker.Add(absl::string_view(stream).substr(at, 50));
  }
  if (unpacked.status.ok()) unpacked.status = unpacker.Finish();
  return unpacked;
}

// Returns the header of an archive's first file with other bytes at `at`, and with a correct checksum.
std::string Header(const std::string& name, size_t at = 0, const std::string& bytes = "") {
  std::string header = FromXz(Packed({{name, "x"}})).substr(0, 512);
  header.replace(at, bytes.size(), bytes);
  header.replace(148, 8, "        ");
  uint64_t sum = 0;
  for (const char byte : header) sum += static_cast<uint8_t>(byte);
  return header.replace(148, 7, absl::StrFormat("%06o", sum) + std::string(1, '\0'));
}

std::string Block(const std::string& text) { return text + std::string(512 - text.size(), '\0'); }

const std::string kEnd(1024, '\0');

void Refuses(const std::string& archive, const std::string& message) {
  EXPECT_THAT(Unpack(XzBytes(archive)).status, IsDataLoss(message));
}

TEST(PackedRecords, ReturnsTheFilesInOrder) {
  const std::string large(100000, 'x');
  const std::string stream = Packed({{kFirst, "one"}, {kSecond, large}, {kReplica, ""}});
  EXPECT_EQ(Packed({{kFirst, "one"}, {kSecond, large}, {kReplica, ""}}), stream);
  const Unpacked unpacked = Unpack(stream);
  EXPECT_THAT(unpacked.status, IsOk());
  EXPECT_THAT(unpacked.files, ElementsAre(Pair(kFirst, "one"), Pair(kSecond, large), Pair(kReplica, "")));
  EXPECT_THAT(Unpack(Packed({})).status, IsOk());
  // The bytes that Python's tarfile.USTAR_FORMAT writes, without the padding to 10 KiB.
  EXPECT_EQ(Sha256Hex(FromXz(Packed({{kFirst, "one"}, {kReplica, "two"}}))),
            "a16838d3a7f3dae51b6b99c4bf0400df3a5e3186543931fec1ede9459ee06207");
  RecordPacker packer([](absl::string_view) { return absl::OkStatus(); });
  EXPECT_THAT(packer.Add(std::string(101, 'x'), ""), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(packer.Add(std::string(156, 'x') + "/y", ""), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(PackedRecords, RefusesNamesThatNoBundleHas) {
  for (const std::string& name :
       {std::string("../../outside/file"), std::string("/var/lib/pwn"), std::string("records/x"),
        std::string("library/tasks/x.textproto"), std::string("manifest.textproto"), kFirst + "/x", "x" + kFirst}) {
    const Unpacked unpacked = Unpack(Packed({{name, "x"}}));
    EXPECT_THAT(unpacked.status, IsDataLoss("has an unexpected member: '" + name + "'"));
    EXPECT_THAT(unpacked.files, IsEmpty());
  }
  Refuses(Header(kFirst, kFirst.size(), "\n\x1b") + Block("x") + kEnd, "has an unexpected member: '" + kFirst);
}

TEST(PackedRecords, RefusesEntriesThatAreNotRegularFiles) {
  for (const char type : std::string("123456789xgLKSVDMN\0 ", 20)) {
    Refuses(Header(kFirst, 156, std::string(1, type)) + Block("x") + kEnd, "' is not a regular file");
  }
  Refuses(Header(kFirst, 157, "/etc/passwd") + Block("x") + kEnd, "has an invalid header for");
}

TEST(PackedRecords, RefusesOtherHeaders) {
  const std::string what = "has an invalid header for '" + kFirst + "'";
  Refuses(Header(kFirst, 100, "0004755") + Block("x") + kEnd, what);      // mode
  Refuses(Header(kFirst, 108, "0000001") + Block("x") + kEnd, what);      // owner
  Refuses(Header(kFirst, 136, "00000000001") + Block("x") + kEnd, what);  // time
  Refuses(Header(kFirst, 124, "\x80") + Block("x") + kEnd, what);         // a size in binary
  Refuses(Header(kFirst, 124, "-0000000001") + Block("x") + kEnd, what);  // a size below 0
  Refuses(Header(kFirst, 124, "         1 ") + Block("x") + kEnd, what);
  Refuses(Header(kFirst, 257, "ustar  ") + Block("x") + kEnd, what);  // GNU's
  Refuses(Header(kFirst, 265, "root") + Block("x") + kEnd, what);
  Refuses(Header(kFirst, kFirst.size() + 1, "x") + Block("x") + kEnd, what);  // after the name's end
  std::string sum = Header(kFirst);
  sum[150] ^= 1;
  Refuses(sum + Block("x") + kEnd, what);
  Refuses(std::string(512, 'x') + kEnd, "not a regular file");
}

TEST(PackedRecords, RefusesDuplicateOrUnorderedFiles) {
  for (const std::string& second : {kSecond, kFirst}) {
    const Unpacked unpacked = Unpack(Packed({{kSecond, "x"}, {second, "y"}}));
    EXPECT_THAT(unpacked.status, IsDataLoss("' twice, or out of order"));
    EXPECT_THAT(unpacked.files, ElementsAre(Pair(kSecond, "x")));
  }
}

TEST(PackedRecords, RefusesTruncatedOrExtendedArchives) {
  const std::string one = Header(kFirst) + Block("x");
  EXPECT_THAT(Unpack(XzBytes(one + kEnd)).status, IsOk());
  for (const std::string& cut :
       {std::string(), one.substr(0, 100), one.substr(0, 600), one, one + kEnd.substr(0, 512)}) {
    Refuses(cut, "is truncated: its archive has no end marker");
  }
  Refuses(one + kEnd + std::string(1, '\0'), "has bytes after the end of its archive");
  Refuses(one + kEnd + one + kEnd, "has bytes after the end of its archive");
  Refuses(one + kEnd.substr(0, 512) + one + kEnd, "has a block of zeros between its files");
  Refuses(Header(kFirst) + Block("xy") + kEnd, "has bytes after the end of '" + kFirst + "'");
  const std::string stream = Packed({{kFirst, "x"}});
  EXPECT_THAT(Unpack(stream + "x").status, IsDataLoss("after the end"));
  EXPECT_THAT(Unpack(stream.substr(0, stream.size() - 1)).status, IsDataLoss("is cut short"));
}

TEST(PackedRecords, EnforcesLimits) {
  const std::string stream = Packed({{kFirst, std::string(1000, 'x')}, {kSecond, std::string(1001, 'x')}});
  const int64_t bytes = 512 + 1024 + 512 + 1024 + 1024;
  EXPECT_THAT(Unpack(stream, {bytes, 2, 1001}).status, IsOk());
  EXPECT_THAT(Unpack(stream, {bytes - 1, 2, 1001}).status, IsDataLoss("unpacks to more than 4095 bytes"));
  EXPECT_THAT(Unpack(stream, {bytes, 1, 1001}).status, IsDataLoss("more than 1 members"));
  EXPECT_THAT(Unpack(stream, {bytes, 2, 1000}).status, IsDataLoss(kSecond + "' has more than 1000 bytes"));
  // Before any of it is allocated.
  Refuses(Header(kFirst, 124, "77777777777"), "has more than 1048576 bytes");
}

TEST(PackedRecords, AMutatedArchiveIsRefusedOrHasOnlyRecordFiles) {
  const std::string archive = FromXz(Packed({{kFirst, "first"}, {kSecond, "second"}, {kReplica, "replica"}}));
  ForEachMutation("archive", archive, {"ustar", "0000644", kEnd, kSecond}, [](const std::string& bytes) {
    const Unpacked unpacked = Unpack(XzBytes(bytes));
    EXPECT_TRUE(unpacked.status.ok() || absl::IsDataLoss(unpacked.status)) << unpacked.status;
    for (size_t i = 0; i < unpacked.files.size(); ++i) {
      EXPECT_EQ(unpacked.files[i].first.substr(unpacked.files[i].first.size() - 4), ".rec");
      EXPECT_TRUE(i == 0 || unpacked.files[i - 1].first < unpacked.files[i].first);
    }
  });
}

}  // namespace
int main(int argc, char** argv) { return openset::RunMutationTests(argc, argv); }
namespace {

class BundleTest : public ::testing::Test {
 protected:
  BundleTest() : store_(TestFolder() + "/store"), path_(TestFolder() + "/bundle.zip") {
    std::filesystem::remove_all(TestFolder());
  }

  absl::Status Read(const BundleLimits& limits = {}) {
    seen_.clear();
    const auto see = [&](const std::string& name, const std::string&) {
      seen_.push_back(TrialOfBundleMember(name));
      return absl::OkStatus();
    };
    return ReadBundle(path_, see, limits).status();
  }

  // Writes a bundle of two small records.
  BundleWritten Write() {
    for (const char* name : {"abcd", "ef00"})
      EXPECT_THAT(store_.CommitRecord(TestRecord(TestKey(name), "m", 0, 0.5)), IsOk());
    const absl::StatusOr<BundleWritten> written = WriteBundle(store_, AllRecordIds(store_), path_);
    EXPECT_THAT(written, IsOk());
    return written.value();
  }

  // Replaces the content of a member and signs the bundle again, in the form of version 2 or of version 1.
  void ReplaceMember(const std::string& name, const std::string& content, bool packed = true) {
    std::vector<ZipMember> members = UnpackedBundle(path_);
    const auto found =
        std::find_if(members.begin(), members.end(), [&](const ZipMember& member) { return member.name == name; });
    ASSERT_NE(found, members.end()) << name;
    found->content = content;
    WriteMembers(packed ? PackedBundle(members) : members);
  }

  void WriteMembers(const std::vector<ZipMember>& members) {
    ASSERT_THAT(WriteFileAtomically(path_, SignedBundle(members)), IsOk());
  }

  // Reads the bundle of these members, the last of which are the sums, with other ones.
  absl::Status ReadWithSums(std::vector<ZipMember> members, const std::string& sums) {
    members.back().content = sums;
    WriteMembers(members);
    return Read();
  }

  const Store store_;
  const std::string path_;
  std::vector<std::string> seen_;
};

TEST_F(BundleTest, ContainsTheFilesUnchangedAndIsReproducible) {
  const BundleWritten written = Write();
  EXPECT_EQ(written.manifest.records(), 2);
  EXPECT_THAT(Read(), IsOk());
  EXPECT_THAT(seen_, ElementsAre(TestKey("abcd"), TestKey("ef00")));
  const std::string first = *ReadFile(path_);
  EXPECT_EQ(Write().digest, written.digest);
  EXPECT_EQ(*ReadFile(path_), first);
  EXPECT_EQ(first.substr(first.size() - 86), "openset bundle sha256:" + written.digest);
  EXPECT_EQ(Sha256Hex(first.substr(0, first.size() - 64)), written.digest);

  ASSERT_OK_AND_ASSIGN(ZipReader zip, ZipReader::Open(path_));
  EXPECT_THAT(zip.Names(), ElementsAre("SHA256SUMS", "manifest.textproto", "records.tar.xz", "schema.binpb"));
  EXPECT_THAT(*zip.Read("manifest.textproto"), HasSubstr("bundle_version: 2\n"));
  std::vector<ZipMember> records = UnpackedBundle(path_);
  records.erase(records.begin(), records.end() - 2);
  EXPECT_EQ(records[0].name, "records/ab/" + TestKey("abcd") + ".rec");
  EXPECT_EQ(records[0].content, *ReadFile(store_.RecordPath(TestKey("abcd"))));
  const std::string sums = *zip.Read("SHA256SUMS");
  EXPECT_THAT(sums, HasSubstr(Sha256Hex(*zip.Read("records.tar.xz")) + "  records.tar.xz\n"));
  EXPECT_THAT(sums, EndsWith(SumsOf(records)));
}

// In the form that openset 0.3 wrote.
TEST_F(BundleTest, ReadsRecordsThatAreMembersOfTheArchive) {
  Write();
  const std::vector<ZipMember> members = UnpackedBundle(path_);
  WriteMembers(members);
  EXPECT_TRUE(ZipReader::Open(path_)->Has("records/ab/" + TestKey("abcd") + ".rec"));
  EXPECT_THAT(Read(), IsOk());
  EXPECT_THAT(seen_, ElementsAre(TestKey("abcd"), TestKey("ef00")));
  // Each version must have its own form.
  std::vector<ZipMember> both = PackedBundle(members);
  both.push_back(members.back());
  WriteMembers(both);
  EXPECT_THAT(Read(), IsDataLoss("an unexpected member: 'records/ef/"));
  both = members;
  both.push_back({"records.tar.xz", "x"});
  WriteMembers(both);
  EXPECT_THAT(Read(), IsDataLoss("an unexpected member: 'records.tar.xz'"));
  std::vector<ZipMember> without = PackedBundle(members);
  without.erase(without.end() - 2);
  WriteMembers(without);
  EXPECT_THAT(Read(), IsDataLoss("has no records.tar.xz"));
}

TEST_F(BundleTest, RefusesUnknownVersionsAndSaysWhatToDo) {
  Write();
  ReplaceMember("manifest.textproto", "schema_version: 3 bundle_version: 3 records: 2", false);
  EXPECT_EQ(Read(), absl::FailedPreconditionError(path_ + ": is a bundle of version 3, this openset reads up to "
                                                          "version 2: use the newer openset"));
  ReplaceMember("manifest.textproto", "schema_version: 3 bundle_version: 0", false);
  EXPECT_THAT(Read(), IsDataLoss("bundle_version: must be at least 1"));
}

TEST_F(BundleTest, ChecksTheSumsOfRecords) {
  Write();
  const std::vector<ZipMember> members = PackedBundle(UnpackedBundle(path_));
  const auto read_with = [&](const std::string& sums) { return ReadWithSums(members, sums); };
  const std::string sums = members.back().content;
  EXPECT_THAT(read_with(sums), IsOk());
  std::string wrong = sums;
  wrong[sums.find("  records/ef/") - 1] ^= 1;
  EXPECT_THAT(read_with(wrong), IsDataLoss("the sum of 'records/ef/"));
  EXPECT_THAT(seen_, ElementsAre(TestKey("abcd")));
  EXPECT_THAT(read_with(""), IsDataLoss("is not in SHA256SUMS"));
  EXPECT_THAT(read_with(sums.substr(0, sums.size() - 1)), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(read_with(sums + SumsOf({{"records/ff/" + TestKey("ff00") + ".rec", "x"}})),
              IsDataLoss("lists files that are not in records.tar.xz"));
}

// Not only those of records.
TEST_F(BundleTest, ChecksTheSumsOfMembers) {
  ASSERT_THAT(store_.CommitRecord(TestRecord(TestKey("abcd"), "m", 0, 0.5)), IsOk());
  BundleExtras extras;
  extras.library["tasks/mine.textproto"] = "name: 'mine'";
  ASSERT_THAT(WriteBundle(store_, AllRecordIds(store_), path_, extras), IsOk());
  const std::vector<ZipMember> members = PackedBundle(UnpackedBundle(path_));
  WriteMembers(members);
  EXPECT_THAT(Read(), IsOk());
  const auto is_damaged = [&](const std::string& what) {
    return StatusIs(absl::StatusCode::kDataLoss, path_ + ": " + what);
  };
  for (const char* name : {"library/tasks/mine.textproto", "schema.binpb", "manifest.textproto"}) {
    std::vector<ZipMember> changed = members;
    for (ZipMember& member : changed) {
      if (member.name == name) member.content += "# hi\n";
    }
    WriteMembers(changed);
    EXPECT_THAT(Read(), is_damaged(absl::StrCat("'", name, "' does not have its sum in SHA256SUMS")));
  }
  const auto read_with = [&](const std::string& sums) { return ReadWithSums(members, sums); };
  const std::string sums = members.back().content;
  std::string renamed = sums;
  renamed.replace(renamed.find("  records.tar.xz"), 16, "  recorde.tar.xz");
  EXPECT_THAT(read_with(renamed), is_damaged("the sum of 'records.tar.xz' is not in SHA256SUMS"));
  EXPECT_THAT(read_with(SumsOf({{"a", "x"}}) + sums), is_damaged("SHA256SUMS lists 'a', which is not in the bundle"));
  EXPECT_THAT(read_with(SumsOf({{"schema.binpb", "x"}}) + sums), is_damaged("SHA256SUMS has 'schema.binpb' twice"));
  EXPECT_THAT(read_with("no line\n" + sums), is_damaged("SHA256SUMS has a malformed line: 'no line'"));
  // Of two members with one name, programs differ in which they read.
  std::vector<ZipMember> twice = members;
  twice.insert(twice.begin(), members[0]);
  WriteMembers(twice);
  EXPECT_THAT(Read(), is_damaged(absl::StrCat("has '", members[0].name, "' twice")));
}

// Other files are read in the order of their names if they are wanted; a name that no bundle has is refused.
TEST_F(BundleTest, CarriesALibraryOutputsAndCheckpoints) {
  TrialRecord record = TestRecord(TestKey("abcd"), "m", 0, 0.5);
  ActionSpec action;
  action.mutable_train()->set_seed(1);
  record.set_checkpoint_key(MessageDigest(action));
  StageProvenance* train = record.mutable_provenance()->add_stage();
  train->set_stage(StageProvenance::TRAIN);
  train->set_key(record.checkpoint_key());
  ASSERT_THAT(store_.CommitRecord(record), IsOk());
  CommitTestCheckpoint(store_, record.checkpoint_key());
  BundleExtras extras;
  extras.library["tasks/mine.textproto"] = "name: 'mine'";
  extras.checkpoints = true;
  ASSERT_THAT(WriteBundle(store_, AllRecordIds(store_), path_, extras), IsOk());
  std::map<std::string, std::string> files;
  const auto none = [](const std::string&, const std::string&) { return absl::OkStatus(); };
  const auto file = [&](const std::string& name, const std::string& content) {
    files[name] = content;
    return absl::OkStatus();
  };
  ASSERT_THAT(ReadBundle(path_, none, {}, file), IsOk());
  EXPECT_EQ(files.at("library/tasks/mine.textproto"), "name: 'mine'");
  const std::string checkpoint = store_.CheckpointFolder(record.checkpoint_key());
  EXPECT_EQ(files.at(checkpoint.substr(store_.folder().size() + 1) + "/summary.rec"),
            *ReadFile(checkpoint + "/summary.rec"));
  files.clear();
  const auto of_library = [](const std::string& name) { return name[0] == 'l'; };
  ASSERT_THAT(ReadBundle(path_, none, {}, file, of_library), IsOk());
  EXPECT_EQ(files.size(), 1);
  const Store merged(TestFolder() + "/merged");
  MergeCounts counts;
  ASSERT_THAT(MergeFrom(path_, merged, &counts), IsOk());
  EXPECT_EQ(counts.checkpoints, 1);
  EXPECT_THAT(merged.CheckCheckpoint(record.checkpoint_key()), IsOk());
  const Store opened = OpenBundle(path_, /*with_results=*/true).value();
  EXPECT_EQ(opened.bundle()->library, extras.library);
  EXPECT_THAT(opened.CheckCheckpoint(record.checkpoint_key()), IsOk());
  ASSERT_THAT(WriteBundle(opened, AllRecordIds(opened), path_ + ".again", extras), IsOk());
  EXPECT_EQ(*ReadFile(path_ + ".again"), *ReadFile(path_));
  EXPECT_FALSE(*OpenBundle(path_)->HasCheckpoint(record.checkpoint_key()));
  // Files that do not match their checksum are not merged.
  const std::string member = checkpoint.substr(store_.folder().size() + 1) + "/checkpoint.safetensors";
  ReplaceMember(member, "other");
  const Store refusing(TestFolder() + "/refusing");
  counts = {};
  ASSERT_THAT(MergeFrom(path_, refusing, &counts), IsOk());
  EXPECT_EQ(counts.checkpoints, 0);
  EXPECT_THAT(counts.damaged, ElementsAre(HasSubstr("does not match its checksums")));
  EXPECT_EQ(OpenBundle(path_, true)->bundle()->damaged, counts.damaged);
  EXPECT_FALSE(*OpenBundle(path_, true)->HasCheckpoint(record.checkpoint_key()));
  EXPECT_FALSE(*refusing.HasCheckpoint(record.checkpoint_key()));
  // Nor are valid files whose action has another key than their folder.
  TrainSummary summary;
  summary.set_schema_version(kSchemaVersion);
  summary.mutable_action()->mutable_train()->set_seed(2);
  summary.set_checkpoint_sha256(Sha256Hex("other"));
  ReplaceMember(checkpoint.substr(store_.folder().size() + 1) + "/summary.rec", EncodeRecord(summary));
  counts = {};
  ASSERT_THAT(MergeFrom(path_, refusing, &counts), IsOk());
  EXPECT_THAT(counts.damaged,
              ElementsAre(HasSubstr("its action has the key " + MessageDigest(summary.action()).substr(0, 12))));
  EXPECT_EQ(OpenBundle(path_, true)->bundle()->damaged, counts.damaged);
  EXPECT_FALSE(*refusing.HasCheckpoint(record.checkpoint_key()));
  EXPECT_THAT(ListFolder(refusing.folder() + "/tmp").value(), ElementsAre());
  for (const char* name :
       {"tasks/../x.textproto", "methods/x.textproto", "tasks/.textproto", "tasks/a/b.textproto", "tasks/x.txt"}) {
    extras.library = {{name, "x"}};
    ASSERT_THAT(WriteBundle(store_, AllRecordIds(store_), path_, extras), IsOk());
    EXPECT_THAT(std::string(Read().message()), HasSubstr("has an unexpected member")) << name;
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
  ASSERT_THAT(DecodeRecord(UnpackedBundle(path_).end()[-2].content, record.get()), IsOk());
  EXPECT_EQ(record->GetReflection()->GetString(*record, type->FindFieldByName("trial_id")), TestKey("abcd"));
}

TEST_F(BundleTest, EveryFlippedBitAndEveryCutIsNoticed) {
  Write();
  const std::string bytes = *ReadFile(path_);
  const auto write = [&](const std::string& content) { std::ofstream(path_, std::ios::binary) << content; };
  // Flips one bit in every seventh byte; the bit's position cycles through all eight. The long form is :damage_test.
  for (size_t at = 0; at < bytes.size(); at += 7) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    write(damaged);
    EXPECT_THAT(Read(), IsDataLoss(path_)) << at;
    write(bytes.substr(0, at));
    EXPECT_THAT(Read(), IsDataLoss(path_)) << at;
  }
  write(bytes + "x");
  EXPECT_THAT(Read(), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(ReadBundle("/nowhere.zip", nullptr).status(),
              StatusIs(absl::StatusCode::kNotFound, "cannot open /nowhere.zip: No such file or directory"));
}

TEST_F(BundleTest, EnforcesLimits) {
  Write();
  BundleLimits limits;
  limits.member_bytes = 100;
  EXPECT_THAT(Read(limits), IsDataLoss("100 bytes"));
  limits.member_bytes = 200;  // above the manifest's size and below a record's
  EXPECT_THAT(Read(limits), IsDataLoss(TestKey("abcd") + ".rec' has more than 200 bytes"));
  limits = {};
  limits.members = 3;
  EXPECT_THAT(Read(limits), IsDataLoss("3 members"));
  WriteMembers(UnpackedBundle(path_));
  limits.members = 4;
  EXPECT_THAT(Read(limits), IsDataLoss("4 members"));
}

TEST_F(BundleTest, TheLibraryHasItsOwnLimit) {
  BundleExtras extras;
  ASSERT_THAT(store_.Make(), IsOk());
  extras.library["tasks/a.textproto"] = extras.library["tasks/b.textproto"] = "name: 'mine'";
  ASSERT_THAT(WriteBundle(store_, {}, path_, extras), IsOk());
  const auto file = [](const std::string&, const std::string&) { return absl::OkStatus(); };
  BundleLimits limits;
  limits.library_bytes = 24;
  EXPECT_THAT(ReadBundle(path_, file, limits, file), IsOk());
  limits.library_bytes = 23;
  EXPECT_THAT(ReadBundle(path_, file, limits, file), IsDataLoss("library has more than 23 bytes"));
}

// Hashing 8 TB would take hours.
TEST_F(BundleTest, DoesNotReadFilesThatAreTooLargeOrNotBundles) {
  Write();
  const std::string bytes = *ReadFile(path_);
  std::filesystem::resize_file(path_, int64_t{1} << 32);
  EXPECT_THAT(Read(), IsDataLoss(path_ + ": is not a bundle, or is truncated: copy it"));
  std::filesystem::resize_file(path_, int64_t{1} << 43);
  EXPECT_EQ(Read(), absl::DataLossError(path_ + ": has 8796093022208 bytes, more than the 8589934592 that a "
                                                "bundle may have"));
  BundleLimits limits;
  limits.bytes = static_cast<int64_t>(bytes.size());
  ASSERT_THAT(WriteFileAtomically(path_, bytes), IsOk());
  EXPECT_THAT(Read(limits), IsOk());
  --limits.bytes;
  EXPECT_THAT(Read(limits), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(BundleTest, DoesNotPassOnCorruptRecords) {
  Write();
  std::filesystem::resize_file(store_.RecordPath(TestKey("abcd")), 20);
  EXPECT_THAT(WriteBundle(store_, AllRecordIds(store_), path_), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(Read(), IsOk());  // the previous bundle
}

// Each is a record that the signer of a bundle could write; the other records are still read.
TEST_F(BundleTest, InvalidRecordsAreSkippedAndNamed) {
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
      {with([](TrialRecord* r) { r->set_schema_version(4); }), "is of schema version 4, this openset reads version 3"},
      {with([](TrialRecord* r) { r->clear_metric(); }), "metric: must not be empty"},
      {with([](TrialRecord* r) { r->mutable_metric(0)->set_name("\xff"); }), "metric[0].name: must be text in UTF-8"},
      {with([](TrialRecord* r) { r->mutable_provenance()->clear_stage(); }), "provenance: has no evaluation"},
      {with([](TrialRecord* r) { r->mutable_provenance()->clear_raised_revision(); }),
       "trial.method.model: must be set"},
  };
  for (const auto& [changed, problem] : cases) {
    // Writes a valid bundle, then replaces the record in it.
    const std::string member = "records/ab/" + id + ".rec";
    ASSERT_THAT(WriteFileAtomically(path, EncodeRecord(record)), IsOk());
    ASSERT_THAT(WriteBundle(store_, AllRecordIds(store_), path_), IsOk());
    for (const bool packed : {true, false}) {
      ReplaceMember(member, EncodeRecord(changed), packed);
      const Store bundle = OpenBundle(path_).value();
      EXPECT_THAT(bundle.bundle()->damaged, ElementsAre(HasSubstr(path_ + ": " + member + ": " + problem)));
      UnreadRecords unread;
      EXPECT_THAT(RecordIds(bundle, &unread), ElementsAre(TestKey("ef00")));
      EXPECT_EQ(unread.damaged, bundle.bundle()->damaged);
    }
    // Nor is the record exported.
    ASSERT_THAT(WriteFileAtomically(path, EncodeRecord(changed)), IsOk());
    EXPECT_THAT(WriteBundle(store_, AllRecordIds(store_), path_), StatusIs(absl::StatusCode::kDataLoss));
  }
}

TEST_F(BundleTest, ReportsUnwritablePaths) {
  Write();
  EXPECT_EQ(WriteBundle(store_, AllRecordIds(store_), "/nowhere/a.zip").status(),
            absl::InvalidArgumentError("cannot write /nowhere/a.zip: No such file or directory"));
}

}  // namespace
}  // namespace openset
