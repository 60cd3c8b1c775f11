#include "core/files/formats/torch_file.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/testing/archive_bytes.h"
#include "core/testing/byte_order.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

// Files that tools/peers/make_torch_files.py made.
std::string Bytes(const std::string& name) {
  return *ReadFile(absl::StrCat("core/files/formats/testdata/torch_", name, ".pth"));
}

template <typename T>
std::vector<T> Values(const OwnedArray& array) {
  std::vector<T> values(array.data.size() / sizeof(T));
  std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

void ExpectTheTensors(const absl::StatusOr<TorchTensors>& read) {
  ASSERT_THAT(read, IsOk());
  const std::map<std::string, OwnedArray>& arrays = read->arrays;
  ASSERT_THAT(arrays, SizeIs(7));
  EXPECT_THAT(arrays.at("whole").shape, ElementsAre(3, 4));
  EXPECT_EQ(arrays.at("whole").type, ArrayType::kF32);
  EXPECT_THAT(Values<float>(arrays.at("whole")), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_THAT(arrays.at("transposed").shape, ElementsAre(4, 3));
  EXPECT_THAT(Values<float>(arrays.at("transposed")), ElementsAre(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11));
  EXPECT_THAT(Values<float>(arrays.at("row")), ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(arrays.at("parameter").type, ArrayType::kF64);
  EXPECT_THAT(Values<double>(arrays.at("parameter")), ElementsAre(0.5, -0.25));
  EXPECT_THAT(arrays.at("count").shape, ElementsAre());
  EXPECT_THAT(Values<int64_t>(arrays.at("count")), ElementsAre(7));
  EXPECT_EQ(arrays.at("mask").type, ArrayType::kBool);
  EXPECT_THAT(Values<uint8_t>(arrays.at("mask")), ElementsAre(1, 0, 1));
  EXPECT_THAT(arrays.at("none").shape, ElementsAre(0, 3));
  EXPECT_EQ(arrays.at("none").data, "");
}

TEST(TorchFile, AStateDict) { ExpectTheTensors(DecodeTorchFile(Bytes("state"))); }

TEST(TorchFile, ACheckpointThatHoldsOne) { ExpectTheTensors(DecodeTorchFile(Bytes("checkpoint"))); }

// The same tensors before PyTorch 1.6; `row` lies in a view of the storage.
TEST(TorchFile, AnOldFile) { ExpectTheTensors(DecodeTorchFile(Bytes("old"))); }

TEST(TorchFile, ObjectsAreRefusedWithThePythonThatSavesTheTensors) {
  const std::pair<const char*, std::string> cases[] = {
      {"object", "torch.save({k: v for k, v in checkpoint.items() if torch.is_tensor(v)}, \"weights.pth\")"},
      {"namespace",
       "checkpoint = torch.load(FILE, map_location=\"cpu\", weights_only=False); "
       "torch.save(checkpoint[\"model\"], \"weights.pth\")"},
      {"module",
       "model = torch.load(FILE, map_location=\"cpu\", weights_only=False); "
       "torch.save(model.state_dict(), \"weights.pth\")"},
      {"old_module", "torch.save(model.state_dict(), \"weights.pth\")"},
      {"holds_module", "torch.save(checkpoint[\"ema\"].state_dict(), \"weights.pth\")"},
  };
  for (const auto& [name, how] : cases) {
    EXPECT_THAT(DecodeTorchFile(Bytes(name)).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("Python object of '"), HasSubstr(how))))
        << name;
  }
  EXPECT_THAT(DecodeTorchFile(Bytes("object")).status().message(), HasSubstr("'argparse Namespace'"));
  EXPECT_THAT(DecodeTorchFile(Bytes("module")).status().message(), HasSubstr("a whole network"));
  EXPECT_THAT(DecodeTorchFile(Bytes("module")).status().message(), HasSubstr("'my_networks Linear'"));
}

TEST(TorchFile, ACheckpointOfSeveralDictsNeedsAKey) {
  EXPECT_THAT(DecodeTorchFile(Bytes("two_dicts")).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "is a checkpoint that has tensors under several keys, 'student', 'teacher': name the one to use "
                       "with weights.key (openset score: --key)"));
  ASSERT_OK_AND_ASSIGN(const TorchTensors read, DecodeTorchFile(Bytes("two_dicts"), "teacher"));
  EXPECT_THAT(read.arrays, SizeIs(1));
  EXPECT_EQ(read.key, "teacher");
  EXPECT_THAT(read.other_keys, ElementsAre("student"));
  EXPECT_THAT(DecodeTorchFile(Bytes("two_dicts"), "epoch").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "it has no dict of tensors under the key 'epoch'; its keys are 'student', 'teacher'"));
  EXPECT_THAT(DecodeTorchFile(Bytes("nested")).status(),
              IsInvalidArgument("torch.save(checkpoint[\"state\"][\"encoder\"], \"weights.pth\")"));
}

// Text of a pickle: BINSTRING.
std::string Text(absl::string_view text) { return absl::StrCat("U", LittleEndian(text.size(), 1), text); }

// A tensor of one value, in the storage `key`.
std::string Tensor(const std::string& key) {
  return absl::StrCat("ctorch._utils\n_rebuild_tensor_v2\n((", Text("storage"), "ctorch\nFloatStorage\n", Text(key),
                      Text("cpu"), "K\x01tQK", std::string(1, '\0'),
                      "K\x01\x85K\x01\x85\x89"
                      "ccollections\nOrderedDict\n)RtR");
}

// An archive of a network with a layer, as TorchScript writes it, and `more` code of the layer's class.
std::string ScriptArchive(const std::string& more, const std::string& buffers = "  __buffers__ = [\"mean\", ]\n") {
  const std::string layer = absl::StrCat("c__torch__.nets.mangle_1\nLayer\n)\x81}(", Text("weight"), Tensor("0"),
                                         Text("mean"), Tensor("1"), Text("cache"), Tensor("0"), Text("bias"), "Nub");
  const std::string net =
      absl::StrCat("\x80\x02", "c__torch__.nets\nNet\n)\x81}(", Text("training"), "\x88", Text("layer"), layer, "ub.");
  const std::string none = "  __parameters__ = []\n  __buffers__ = []\n";
  return ZipBytes({{"net/data.pkl", net},
                   {"net/data/0", std::string("\0\0\x80\x3f", 4)},
                   {"net/data/1", std::string("\0\0\0\x40", 4)},
                   {"net/constants.pkl", "\x80\x02)."},
                   {"net/code/__torch__/nets.py", absl::StrCat("class Net(Module):\n", none, "  training : bool\n")},
                   {"net/code/__torch__/nets/mangle_1.py",
                    absl::StrCat("class Layer(Module):\n  __parameters__ = [\"weight\", \"bias\", ]\n", buffers,
                                 "  cache : Tensor\n", more)}});
}

// The attribute `cache` is a tensor, but neither a parameter nor a buffer; `bias` is None.
TEST(TorchFile, TheParametersAndBuffersOfTorchScript) {
  ASSERT_OK_AND_ASSIGN(const TorchTensors read, DecodeTorchFile(ScriptArchive("  def forward(self):\n    return 1\n")));
  ASSERT_THAT(read.arrays, SizeIs(2));
  EXPECT_THAT(Values<float>(read.arrays.at("layer.weight")), ElementsAre(1));
  EXPECT_THAT(Values<float>(read.arrays.at("layer.mean")), ElementsAre(2));
  // Archives that do not list buffers: all tensors may be some.
  ASSERT_OK_AND_ASSIGN(const TorchTensors old, DecodeTorchFile(ScriptArchive("", "")));
  EXPECT_THAT(old.arrays, SizeIs(3));
  EXPECT_THAT(DecodeTorchFile(ScriptArchive(""), "state_dict").status(),
              IsInvalidArgument("is TorchScript, which has no keys"));
}

TEST(TorchFile, TorchScriptThatComputesItsTensorsIsRefused) {
  const std::string code = "  def __setstate__(self, state: Tensor) -> NoneType:\n    self.weight = state\n";
  EXPECT_THAT(DecodeTorchFile(ScriptArchive(code)).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("__setstate__"),
                             HasSubstr("save them with torch.save(model.state_dict(), \"weights.pth\")"))));
  const std::string path = JoinPath(::testing::TempDir(), "network.pth");
  ASSERT_THAT(WriteFileAtomically(path, ScriptArchive(code)), IsOk());
  EXPECT_THAT(CheckRunsNoCode(path), IsInvalidArgument(path + ": its code defines"));
  for (const std::string& other : {ScriptArchive(""), Bytes("state"), std::string("no archive")}) {
    ASSERT_THAT(WriteFileAtomically(path, other), IsOk());
    EXPECT_THAT(CheckRunsNoCode(path), IsOk());
  }
  EXPECT_THAT(CheckRunsNoCode("/nowhere"), IsOk());
}

TEST(TorchFile, TensorsLieInTheirStorage) {
  for (const char* name : {"outside", "expanded", "short"}) {
    EXPECT_THAT(DecodeTorchFile(Bytes(name)), IsDataLoss("tensor 'weight': lies outside its storage")) << name;
  }
}

// A file of 5 kB whose tensors would take 1.1 GiB, each copied from the one storage that they share.
TEST(TorchFile, TensorsOfOneStorageAreNotCopiedWithoutEnd) {
  EXPECT_THAT(DecodeTorchFile(Bytes("shared")), IsDataLoss("it takes more than 1073741824 bytes"));
}

TEST(TorchFile, OtherErrors) {
  EXPECT_THAT(DecodeTorchFile(Bytes("big_endian")), IsInvalidArgument("byte order 'big'"));
  EXPECT_THAT(DecodeTorchFile(Bytes("no_tensors")), IsInvalidArgument("other things than tensors: 'epoch'"));
  EXPECT_THAT(DecodeTorchFile(absl::string_view("\x80\x02\x8a\x0alor", 7)), IsDataLoss("not a valid pickle"));
  EXPECT_THAT(DecodeTorchFile("\x80\x02K\x07.").status(),
              IsInvalidArgument("a pickle that torch.save() did not write"));
  EXPECT_THAT(DecodeTorchFile(ZipBytes({{"archive/label.npy", "x"}})).status(),
              IsInvalidArgument("neither torch.save() nor TorchScript wrote"));
  EXPECT_THAT(DecodeTorchFile("no archive"), StatusIs(absl::StatusCode::kInvalidArgument));
}

// A truncated or changed file gives an error or the same tensors, because fields that are not read may differ.
TEST(TorchFile, CorruptionNeverGivesOtherTensors) {
  const std::string whole = Bytes("state");
  int refused = 0, tried = 0;
  const auto check = [&](const std::string& content) {
    const absl::StatusOr<TorchTensors> read = DecodeTorchFile(content);
    ++tried;
    refused += !read.ok();
    if (read.ok()) ExpectTheTensors(read);
  };
  for (size_t size = 0; size + 22 < whole.size(); size += 7) check(whole.substr(0, size));
  EXPECT_EQ(refused, tried);  // a zip archive is invalid without the record at its end
  for (size_t at = 0; at < whole.size(); at += 3) {
    std::string damaged = whole;
    damaged[at] ^= 0x20;
    check(damaged);
  }
}

// An old file has no checksums, but each byte of its tensors must be there.
TEST(TorchFile, AnOldFileThatIsCutShortIsRefused) {
  const std::string whole = Bytes("old");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(DecodeTorchFile(whole.substr(0, size)).status(), Not(IsOk())) << size;
  }
}

// A module that contains the next one twice, 60 times: 2^60 modules in 3 kB.
TEST(TorchFile, ModulesThatUnfoldAreRefused) {
  std::string pickle = "\x80\x02";
  for (int i = 0; i < 60; ++i) absl::StrAppend(&pickle, "c__torch__\nNet\n)\x81}(U\x01", "a");
  absl::StrAppend(&pickle, "N");
  for (int i = 59; i >= 0; --i) {
    absl::StrAppend(&pickle, std::string({'q', static_cast<char>(i)}), "U\x01", "bh",
                    std::string(1, static_cast<char>(i)), "ub");
  }
  const std::string code = "class Net(Module):\n  __parameters__ = []\n  __buffers__ = []\n";
  EXPECT_THAT(DecodeTorchFile(ZipBytes({{"archive/data.pkl", pickle + "."},
                                        {"archive/constants.pkl", "\x80\x02)."},
                                        {"archive/code/__torch__.py", code}}))
                  .status(),
              IsDataLoss("too many modules"));
}

}  // namespace
}  // namespace openset
