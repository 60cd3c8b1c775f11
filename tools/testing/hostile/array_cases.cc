// Arrays and tables: .npy, .npz, .csv, .mat, IDX, CIFAR's; files of models.
#include <cstdint>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files/formats/npy.h"
#include "core/files/formats/safetensors.h"
#include "core/testing/archive_bytes.h"
#include "core/testing/byte_order.h"
#include "tools/testing/hostile/fixture.h"
#include "tools/testing/hostile/hostile_case.h"

namespace openset {
namespace {

using Words = std::vector<std::string>;

HostileCase Holding(const std::string& input, const std::string& what, const Words& command, const std::string& path,
                    const std::string& content, End end = End::kRefused) {
  return {input,   what,
          command, [=](const Fixture& fixture) { fixture.Write(path, content); },
          end,     end == End::kAnswered ? "" : path.substr(path.rfind('/') + 1)};
}

void AddFiles(const HostileCase& base, const std::string& path, std::vector<HostileCase>* cases) {
  for (HostileCase& one : CasesOfFile(base, path)) {
    // Data files are read up to 16 GiB: on a machine with less memory, the program reports that.
    if (base.command[0] == "data" && one.what == "10 GB of nothing") {
      one.end = End::kNoted;
      one.named = "";
    }
    cases->push_back(std::move(one));
  }
}

// An array with this header and number of bytes.
std::string Npy(const std::string& header, size_t bytes = 48) {
  return absl::StrCat(std::string("\x93NUMPY\1\0", 8), LittleEndian(header.size(), 2), header,
                      std::string(bytes, '\0'));
}

const std::vector<std::pair<std::string, std::string>>& NpyFiles() {
  static const auto* const files = [] {
    auto* all = new std::vector<std::pair<std::string, std::string>>;
    const auto shaped = [&](const std::string& descr, const std::string& shape) {
      all->push_back({descr + " " + shape.substr(0, 40),
                      Npy(absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': ", shape, ", }\n"))});
    };
    for (const char* shape :
         {"(9223372036854775807,)", "(4294967296, 4294967296)", "(-1,)", "(-6,)", "(0,)", "(3037000500, 3037000500, 2)",
          "(99999999999999999999,)", "(6", "(6,,)", "6", "(True,)"}) {
      shaped("<i8", shape);
    }
    for (const char* descr : {"|O", ">i8", "<c16", "<U0", "<U2147483647", "|S9999999999", "<i0", "<f1", "", "<m8"}) {
      shaped(descr, "(6,)");
    }
    shaped("<i8", "(" + std::string(20000, '1') + ",)");
    std::string deep = "(";
    for (int i = 0; i < 10000; ++i) deep += "1, ";
    shaped("<i8", deep + ")");
    all->push_back({"an empty header", Npy("")});
    all->push_back({"a header of braces", Npy(std::string(60000, '{'))});
    all->push_back({"a header that is longer than the file", std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12)});
    all->push_back({"version 9", std::string("\x93NUMPY\x09\0\1\0\n", 11)});
    return all;
  }();
  return *files;
}

void AddNumPy(std::vector<HostileCase>* cases) {
  const Words npy = {"eval", "label.npy", "unknown_score.npy"}, npz = {"eval", "logits.npz"};
  AddFiles({"array (.npy)", "", npy, {}, End::kRefused, "label.npy"}, "work/label.npy", cases);
  AddFiles({"arrays (.npz)", "", npz, {}, End::kRefused, "logits.npz"}, "work/logits.npz", cases);
  const std::string logits = FormatNpy(MakeNpy(std::vector<float>(12, 1), {6, 2}));
  const std::string label = FormatNpy(MakeNpy(std::vector<int64_t>{0, 1, 0, 1, -1, -1}, {6}));
  for (const auto& [what, bytes] : NpyFiles()) {
    cases->push_back(Holding("array (.npy)", what, npy, "work/label.npy", bytes));
    cases->push_back(Holding("arrays (.npz)", what, npz, "work/logits.npz",
                             ZipBytes({{"label.npy", bytes}, {"logits.npy", logits}})));
  }
  const auto archive = [&](const std::string& what, const std::vector<ZipMember>& members, End end = End::kRefused) {
    HostileCase one{"arrays (.npz)", what, npz, {}, end, end == End::kRefused ? "logits.npz" : ""};
    one.make = [members](const Fixture& fixture) { fixture.Write("work/logits.npz", ZipBytes(members)); };
    cases->push_back(one);
  };
  const std::string megabyte(1 << 20, '\0');
  archive("500 MB that unfold, in an array that is wanted",
          {{"label.npy", label}, {"logits.npy", megabyte, true, 0100644, -1, 500}});
  archive("500 MB that unfold, in one that nobody wants",
          {{"label.npy", label}, {"logits.npy", logits}, {"other.npy", megabyte, true, 0100644, -1, 500}},
          End::kHarmless);
  archive("a member that says it has 4 GB", {{"label.npy", label, false, 0100644, 0xfffffffe}, {"logits.npy", logits}});
  archive("members that together say they have 16 GB", {{"label.npy", label, false, 0100644, 0xfffffffe},
                                                        {"a.npy", label, false, 0100644, 0xfffffffe},
                                                        {"b.npy", label, false, 0100644, 0xfffffffe},
                                                        {"logits.npy", logits, false, 0100644, 0xfffffffe}});
  archive("names of groups that are paths",
          {{"label.npy", label},
           {"logits.npy", logits},
           {"group_names.npy", FormatNpy(MakeNpy({"../../x"}))},
           {"group.npy", FormatNpy(MakeNpy(std::vector<int64_t>{-1, -1, -1, -1, 0, 0}, {6}))}},
          End::kAnswered);
  archive("a member out of the folder", {{"../../label.npy", label}, {"logits.npy", logits}});
  archive("names that a terminal obeys", {{"\x1b]0;x\a.npy", label}, {"logits.npy", logits}});
  archive("30,000 members", std::vector<ZipMember>(30000, {"label.npy", "x"}));
  archive("a name of 60,000 bytes", {{std::string(60000, 'x'), label}, {"logits.npy", logits}});
  archive("labels that are not numbers",
          {{"label.npy", FormatNpy(MakeNpy(std::vector<double>(6, 1e308), {6}))}, {"logits.npy", logits}});
  archive("labels of -2^63",
          {{"label.npy", FormatNpy(MakeNpy(std::vector<int64_t>(6, INT64_MIN), {6}))}, {"logits.npy", logits}});
  archive("labels of 2^63 - 1",
          {{"label.npy", FormatNpy(MakeNpy(std::vector<int64_t>(6, INT64_MAX), {6}))}, {"logits.npy", logits}});
  archive("classes 2^31", {{"label.npy", label},
                           {"logits.npy", logits},
                           {"num_classes.npy", FormatNpy(MakeNpy(std::vector<int64_t>{1LL << 31}, {}))}});
  archive("groups out of their names",
          {{"label.npy", label},
           {"logits.npy", logits},
           {"group_names.npy", FormatNpy(MakeNpy({"\x1b[2J"}))},
           {"group.npy", FormatNpy(MakeNpy(std::vector<int64_t>{-1, -1, -1, -1, 0, 1000000000}, {6}))}});
  archive("a group that a terminal obeys",
          {{"label.npy", label},
           {"logits.npy", logits},
           {"group_names.npy", FormatNpy(MakeNpy({"\x1b[2J"}))},
           {"group.npy", FormatNpy(MakeNpy(std::vector<int64_t>{-1, -1, -1, -1, 0, 0}, {6}))}},
          End::kAnswered);
  archive("predictions out of the classes",
          {{"label.npy", label},
           {"logits.npy", logits},
           {"prediction.npy", FormatNpy(MakeNpy(std::vector<int64_t>(6, 1000000000), {6}))}});
  archive("member_uncertainty of a row",
          {{"label.npy", label},
           {"logits.npy", logits},
           {"member_uncertainty.npy", FormatNpy(MakeNpy(std::vector<float>(3, 1), {1, 3}))}});
  HostileCase joined{"arrays (.npz)",
                     "one of two files without member_uncertainty",
                     {"eval", "logits.npz", "other.npz", "--score=mutual_information"},
                     {},
                     End::kRefused,
                     ""};
  joined.make = [=](const Fixture& fixture) {
    fixture.Write("work/other.npz",
                  ZipBytes({{"label.npy", label},
                            {"logits.npy", logits},
                            {"member_uncertainty.npy", FormatNpy(MakeNpy(std::vector<float>(18, 1), {6, 3}))}}));
  };
  cases->push_back(joined);
  joined.command = {"eval", "other.npz", "logits.npz", "--score=mutual_information", "--unknown=other"};
  cases->push_back(joined);
}

void AddTables(std::vector<HostileCase>* cases) {
  const Words command = {"eval", "scores.csv"};
  AddFiles({"table (.csv)", "", command, {}, End::kRefused, "scores.csv"}, "work/scores.csv", cases);
  const auto refuse = [&](const std::string& what, const std::string& text) {
    cases->push_back(Holding("table (.csv)", what, command, "work/scores.csv", text));
  };
  const std::string head = "label,prediction,unknown_score\n", rows = "0,0,0.1\n-1,0,0.5\n";
  refuse("no rows", head);
  refuse("rows of other lengths", head + rows + "0,0\n");
  refuse("a cell that is not closed", head + rows + "0,0,\"0.1\n");
  refuse("a score that is no number", head + rows + "0,0,nan\n");
  refuse("a score that is a text", head + rows + "0,0,\x1b[2J\n");
  refuse("a label that is too large", head + rows + "99999999999999999999,0,1\n");
  refuse("a label of 10^18", head + rows + "1000000000000000000,0,1\n");
  refuse("a label below -1", head + rows + "-2,0,1\n");
  refuse("a fraction of a label", head + rows + "0.5,0,1\n");
  refuse("a column twice", "label,label,unknown_score\n0,0,1\n");
  refuse("no columns that are known", "\x1b]0;x\a,\xff\n0,0\n");
  refuse(
      "100,000 columns", "label" + [] {
        std::string text;
        for (int i = 0; i < 100000; ++i) absl::StrAppend(&text, ",logit_", i);
        return text;
      }() + "\n0,1\n");
  refuse("a logit of number 2^31", "label,logit_0,logit_2147483648\n0,1,2\n");
  refuse("zero bytes", head + std::string("0,0,\0\n", 6));
  refuse("a line of 20 MB", head + std::string(20 << 20, '1'));
  HostileCase names = Holding("table (.csv)", "classes that a terminal obeys",
                              {"eval", "scores.csv", "--classes=c.csv"}, "work/scores.csv",
                              "label,prediction,unknown_score,group\n\x1b]0;x\a,\x1b]0;x\a,0.1,\n=1+1,\x1b]0;x\a,0.2,\n"
                              "unknown,=1+1,0.5,\x1b[2J\n",
                              End::kAnswered);
  names.writes = {"work/c.csv"};
  cases->push_back(names);
  HostileCase compared =
      Holding("table (.csv)", "a table of results that a terminal obeys", {"compare", "results.csv"},
              "work/results.csv", "method,task,split,seed,auroc\n\x1b[2J,t,0,0,0.5\nb,t,0,0,nan\n", End::kAnswered);
  cases->push_back(compared);
}

Words VerifyData(const std::string& set) { return {"data", "verify", set, "--images", "--library=.", "--data=files"}; }

void AddDataFiles(std::vector<HostileCase>* cases) {
  AddFiles({"MATLAB file (.mat)", "", VerifyData("mats"), {}, End::kRefused, "digits.mat"},
           "work/files/mats/digits.mat", cases);
  const std::string head = StoredImage("digits_plain.mat").substr(0, 128);
  const auto mat = [&](const std::string& what, const std::string& bytes) {
    cases->push_back(
        Holding("MATLAB file (.mat)", what, VerifyData("mats"), "work/files/mats/digits.mat", head + bytes));
  };
  mat("an array of 2^31 bytes", LittleEndian(14) + LittleEndian(0x7fffffff));
  mat("an array of 2^32 - 8 bytes", LittleEndian(14) + LittleEndian(0xfffffff8) + "xxxxxxxx");
  mat("arrays of no bytes", [] {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += LittleEndian(14) + LittleEndian(0);
    return text;
  }());
  std::string inner = LittleEndian(14) + LittleEndian(16) + std::string(16, '\0');
  for (int i = 0; i < 6; ++i) {
    const std::string packed = GzipBytes(inner);
    inner = LittleEndian(15) + LittleEndian(packed.size()) + packed;
  }
  mat("compressed within compressed", inner);
  const std::string half = StoredImage("digits.mat");
  cases->push_back(Holding("MATLAB file (.mat)", "half a file", VerifyData("mats"), "work/files/mats/digits.mat",
                           half.substr(0, half.size() / 2)));

  AddFiles({"image file of a data set", "", VerifyData("digits"), {}, End::kRefused, "test-images"},
           "work/files/digits/test-images", cases);
  AddFiles({"image file of a data set", "", VerifyData("binary"), {}, End::kRefused, "train.bin"},
           "work/files/binary/train.bin", cases);
  AddFiles({"image file of a data set", "", VerifyData("arrays"), {}, End::kRefused, "images.npz"},
           "work/files/arrays/images.npz", cases);
  AddFiles({"image file of a data set", "", VerifyData("listed"), {}, End::kRefused, "list.txt"},
           "work/files/listed/list.txt", cases);
  const auto idx = [&](const std::string& what, const std::string& bytes) {
    cases->push_back(
        Holding("image file of a data set", what, VerifyData("digits"), "work/files/digits/test-images", bytes));
  };
  idx("IDX of 2^32 - 1 images", absl::StrCat(std::string("\0\0\x08\x03", 4), std::string(12, '\xff')));
  idx("IDX of images of no pixels", absl::StrCat(std::string("\0\0\x08\x03\0\0\0\x32", 8), std::string(8, '\0')));
  std::string megabytes;
  megabytes.resize(256 << 20);
  idx("gzip of 256 MB", GzipBytes(megabytes));
  idx("gzip within gzip", GzipBytes(GzipBytes(GzipBytes("x"))));
  idx("half of gzip", GzipBytes(std::string(100000, 'x')).substr(0, 60));
  HostileCase array{
      "image file of a data set", "300 MB that unfold", VerifyData("arrays"), {}, End::kRefused, "images.npz"};
  array.make = [](const Fixture& fixture) {
    fixture.Write("work/files/arrays/images.npz",
                  ZipBytes({{"images.npy", std::string(1 << 20, '\0'), true, 0100644, -1, 300}}));
  };
  cases->push_back(array);
}

// Models are read by the worker (model_cases.cc); the command looks for the file, and hashes it.
void AddModels(std::vector<HostileCase>* cases) {
  const Words command = {"plan", "study.textproto", "--data=files"};
  HostileCase base{"model file (.safetensors, .pth)", "", command, {}, End::kRefused, "weights.safetensors"};
  base.make = [](const Fixture& fixture) {
    fixture.Replace("work/experiments/methods/plain.textproto", "head { linear {} }",
                    "head { linear {} } weights { file: '../../weights.safetensors' }");
  };
  for (HostileCase& one : CasesOfFile(base, "work/weights.safetensors")) {
    // The command looks only for what is plainly no file of weights; the worker reports errors in its content.
    for (const char* readable : {"zeros", "noise", "what a terminal obeys"}) {
      if (one.what == readable) one.end = End::kHarmless, one.named = "";
    }
    cases->push_back(std::move(one));
  }
}

}  // namespace

std::vector<HostileCase> ArrayCases() {
  std::vector<HostileCase> cases;
  AddNumPy(&cases);
  AddTables(&cases);
  AddDataFiles(&cases);
  AddModels(&cases);
  return cases;
}

}  // namespace openset
