// Untrusted records, bundles, checkpoints and outputs are read or refused with a message. They never cause a crash,
// reads or writes outside of the store, or memory allocation for sizes that they only declare. Tries --rounds mutated
// files of each kind in total (core/testing/mutation.h).
#include "core/testing/mutation.h"

#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/formats/safetensors.h"
#include "core/files/formats/torch_file.h"
#include "core/files/formats/zip_reader.h"
#include "core/proto/record_file.h"
#include "core/testing/archive_bytes.h"
#include "experiments/store/bundle.h"
#include "experiments/store/merge.h"
#include "experiments/store/outputs.h"
#include "experiments/store/records/record_fields.h"
#include "experiments/store/records/record_id.h"
#include "experiments/store/store_contents.h"
#include "experiments/store/testing/records.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

std::vector<std::string> Tokens() {
  return {"../../etc/passwd",     "/records/", "records/ab/", std::string("\xff\xff\xff\xff\x0f"),
          "openset record 9\n",   "PK\5\6",    "\"F32\"",     "[0,99999999999]",
          std::string(8, '\xff'), "{\"",       "..",          "\x0a\x80\x80",
          std::string(40, '\x0b')};
}

class MutationTest : public ::testing::Test {
 protected:
  MutationTest() {
    std::filesystem::remove_all(TestFolder());
    std::filesystem::create_directories(TestFolder());
  }

  // Calls `try_it` with mutated versions of `bytes`; it returns whether it could read them.
  template <typename Try>
  void Run(const std::string& name, const std::string& bytes, const Try& try_it) {
    int read = 0, refused = 0;
    ForEachMutation(name, bytes, Tokens(), [&](const std::string& changed) { ++(try_it(changed) ? read : refused); });
    std::cout << name << ": " << read << " read, " << refused << " refused\n";
  }

  static bool Accept(const absl::Status& status) {
    if (status.ok()) return true;
    EXPECT_NE(status.message(), "");
    return false;
  }

  static TrialRecord Example() {
    TrialRecord record = TestRecord(TestKey("ab12"), "openauc", 3, 0.91);
    AxisValue* axis = record.mutable_trial()->add_axis();
    axis->set_name("lambda");
    axis->set_value("0.1");
    record.add_epoch()->set_loss(0.5);
    return record;
  }
};

TEST_F(MutationTest, Records) {
  Run("record", EncodeRecord(Example()), [](const std::string& bytes) {
    TrialRecord record;
    return Accept(DecodeRecord(bytes, &record));
  });
}

// The checksum would hide most changes of a message from the parser, so it is made correct here.
TEST_F(MutationTest, MessagesInRecords) {
  Run("message", Example().SerializeAsString(), [](const std::string& payload) {
    TrialRecord record;
    if (!Accept(DecodeRecord(FramedRecord(payload), &record))) return false;
    TrialRecord shared;
    Accept(DecodeSharedRecord(FramedRecord(payload), Example().trial_id(), &shared));
    // Readers of a record must cope with any content.
    EXPECT_GE(FieldsOf(record).size(), 5);
    EXPECT_TRUE(DifferenceLines({record}).empty());
    DifferenceLines({record, Example()});
    return true;
  });
}

TEST_F(MutationTest, DeepAndLongMessagesAreRefused) {
  // Nested groups, deeper than any schema.
  TrialRecord record;
  EXPECT_FALSE(DecodeRecord(FramedRecord(std::string(100000, '\x0b')), &record).ok());
  // A field that declares a length of 2 GB.
  EXPECT_FALSE(DecodeRecord(FramedRecord("\x12\xff\xff\xff\xff\x07"), &record).ok());
}

TEST_F(MutationTest, Bundles) {
  const Store store(TestFolder() + "/store");
  const TrialRecord record = Example();
  ASSERT_TRUE(store.CommitRecord(record).ok());
  const std::string path = TestFolder() + "/bundle.zip", into = TestFolder() + "/outer/into";
  ASSERT_TRUE(WriteBundle(store, {record.trial_id()}, path).ok());
  const std::string valid = *ReadFile(path);
  const auto merge = [&](std::string bytes, bool sign) {
    // Signed again, so that the content is read.
    if (sign && bytes.size() > 64)
      bytes = absl::StrCat(bytes.substr(0, bytes.size() - 64), Sha256Hex(bytes.substr(0, bytes.size() - 64)));
    EXPECT_TRUE(WriteFileAtomically(path, bytes).ok());
    std::filesystem::remove_all(TestFolder() + "/outer");
    std::filesystem::create_directories(TestFolder() + "/outer");
    MergeCounts counts;
    const bool read = Accept(MergeFrom(path, Store(into), &counts));
    // Only the one record is written, below the store.
    for (const auto& entry : std::filesystem::recursive_directory_iterator(TestFolder() + "/outer")) {
      if (!entry.is_regular_file()) continue;
      const std::string file = entry.path().string();
      EXPECT_TRUE(file == into + "/version" || file == Store(into).RecordPath(record.trial_id())) << file;
    }
    return read;
  };
  Run("bundle", valid, [&](const std::string& bytes) { return merge(bytes, false); });
  Run("signed bundle", valid, [&](const std::string& bytes) { return merge(bytes, true); });
}

TEST_F(MutationTest, Checkpoints) {
  Safetensors content;
  const std::string data(24, '\1');
  content.arrays["weight"] = {ArrayType::kF32, {2, 3}, data};
  content.metadata["key"] = TestKey("ab");
  Run("checkpoint", EncodeSafetensors(content).value(), [](const std::string& bytes) {
    const absl::StatusOr<Safetensors> read = DecodeSafetensors(bytes);
    if (!Accept(read.status())) return false;
    size_t held = 0;
    for (const auto& [name, array] : read->arrays) held += array.data.size();
    EXPECT_LE(held, bytes.size());
    return true;
  });
}

// What torch.save() writes, now and before PyTorch 1.6, and TorchScript.
TEST_F(MutationTest, TorchFiles) {
  const auto run = [&](const std::string& name, const std::string& path) {
    const absl::StatusOr<std::string> valid = ReadFile(path);
    ASSERT_TRUE(valid.ok()) << path;
    Run(name, *valid, [](const std::string& bytes) {
      const absl::StatusOr<TorchTensors> read = DecodeTorchFile(bytes);
      if (!Accept(read.status())) return false;
      for (const auto& [tensor, array] : read->arrays) {
        int64_t size = SizeOf(array.type);
        for (const int64_t extent : array.shape) size *= extent;
        EXPECT_EQ(static_cast<int64_t>(array.data.size()), size) << tensor;
      }
      return true;
    });
  };
  run("torch.save", "core/files/formats/testdata/torch_checkpoint.pth");
  run("old torch.save", "core/files/formats/testdata/torch_old.pth");
  run("whole network", "core/files/formats/testdata/torch_module.pth");
  run("TorchScript", "models/testdata/script_logits.pt");
}

// The pickle itself, without an archive whose checksums hide most changes.
TEST_F(MutationTest, PicklesInTorchFiles) {
  for (const char* name : {"checkpoint", "namespace"}) {
    const std::string archive = ReadFile(absl::StrCat("core/files/formats/testdata/torch_", name, ".pth")).value();
    ZipReader zip = ZipReader::OfBytes(archive).value();
    std::vector<ZipMember> members;
    for (const std::string& member : zip.Names()) {
      if (member != "archive/data.pkl") members.push_back({member, zip.Read(member).value()});
    }
    Run(absl::StrCat("pickle of ", name), zip.Read("archive/data.pkl").value(), [&](const std::string& pickle) {
      std::vector<ZipMember> changed = members;
      changed.push_back({"archive/data.pkl", pickle});
      return Accept(DecodeTorchFile(ZipBytes(changed)).status());
    });
  }
}

TEST_F(MutationTest, OutputFiles) {
  Outputs outputs;
  outputs.logits = {1, 2, 3, 4};
  outputs.num_outputs = 2;
  outputs.label = {0, -1};
  outputs.class_id = {0, 7};
  outputs.group = {-1, 0};
  outputs.group_names = {"near"};
  const std::string path = TestFolder() + "/outputs.npz";
  ASSERT_TRUE(WriteOutputs(outputs, path).ok());
  const std::string valid = *ReadFile(path);
  Run("outputs", valid, [&](const std::string& bytes) {
    EXPECT_TRUE(WriteFileAtomically(path, bytes).ok());
    const absl::StatusOr<Outputs> read = ReadOutputs(path);
    return Accept(read.status());
  });
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) { return openset::RunMutationTests(argc, argv); }
