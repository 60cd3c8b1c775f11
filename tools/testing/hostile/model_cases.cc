// Model files that the worker reads: safetensors, and archives of PyTorch.
#include "tools/testing/hostile/model_cases.h"

#include <cstdint>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/random.h"
#include "core/testing/archive_bytes.h"
#include "core/testing/byte_order.h"

namespace openset {
namespace {

constexpr char kMethod[] = R"(
model { osrci_cnn {} head { linear {} } weights { file: "weights.safetensors" } }
input { size: 20 channels: 1 }
)";

// A safetensors file: the header's length, the header, and data.
std::string Safetensors(const std::string& header, int64_t length = -1, size_t data = 24) {
  return absl::StrCat(LittleEndian(length < 0 ? header.size() : static_cast<uint64_t>(length), 8), header,
                      std::string(data, '\0'));
}

std::string Tensor(const std::string& name, const std::string& type, const std::string& shape,
                   const std::string& offsets) {
  return absl::StrCat("{\"", name, "\":{\"dtype\":\"", type, "\",\"shape\":", shape, ",\"data_offsets\":", offsets,
                      "}}");
}

}  // namespace

std::vector<HostileCase> ModelCases() {
  std::vector<HostileCase> cases;
  const auto add = [&](const std::string& what, const std::string& file, const std::string& bytes) {
    HostileCase one{"model file (.safetensors, .pth)",
                    what,
                    {"score", "--task=data/tasks/task.textproto", "--split=0", "--library=.", "--data=files",
                     "--store=scored", "--methods=mcp", "--jobs=1", "--retries=0"},
                    {},
                    End::kNoted,
                    ""};
    if (absl::EndsWith(file, ".pt")) {
      for (const char* flag : {"--model=net.pt", "--size=8", "--channels=1", "--mean=0.5", "--std=0.5"}) {
        one.command.push_back(flag);
      }
    } else {
      one.command.push_back("--model=net.textproto");
    }
    one.make = [file, bytes](const Fixture& fixture) {
      fixture.Write("work/net.textproto", kMethod);
      fixture.Replace("work/net.textproto", "weights.safetensors", file);
      fixture.Write("work/" + file, bytes);
    };
    one.writes = {"work/scored"};
    one.with_worker = true;
    cases.push_back(one);
  };
  const std::string name = "backbone.weight";
  const auto tensors = [&](const std::string& what, const std::string& bytes) {
    add(what, "weights.safetensors", bytes);
  };
  tensors("a header of 2^63 - 1 bytes", Safetensors("{}", INT64_MAX));
  tensors("a header of 99 MB", Safetensors("{}", 99'000'000));
  tensors("100,000 open braces", Safetensors(std::string(100000, '{')));
  tensors("100,000 open brackets", Safetensors("{\"x\":" + std::string(100000, '[')));
  tensors("a shape that overflows", Safetensors(Tensor(name, "F32", "[4294967296,4294967296]", "[0,24]")));
  tensors("a shape below 0", Safetensors(Tensor(name, "F32", "[-2,-3]", "[0,24]")));
  tensors("offsets beyond the file",
          Safetensors(Tensor(name, "F32", "[2,3]", "[9223372036854775783,9223372036854775807]")));
  tensors("offsets that go back", Safetensors(Tensor(name, "F32", "[2,3]", "[24,0]")));
  tensors("a type that there is not", Safetensors(Tensor(name, "F99", "[2,3]", "[0,24]")));
  tensors("a name that a terminal obeys", Safetensors(Tensor("\\u001b]0;x\\u0007", "F32", "[2,3]", "[0,24]")));
  tensors("a name that is not UTF-8", Safetensors(Tensor("\xff\xfe", "F32", "[2,3]", "[0,24]")));
  tensors("a value of another type", Safetensors("{\"x\":7,\"y\":null,\"__metadata__\":[]}"));
  std::string many = "{";
  for (int i = 0; i < 20000; ++i) {
    absl::StrAppend(&many, i == 0 ? "" : ",", "\"t", i, "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}");
  }
  tensors("20,000 tensors", Safetensors(many + "}", -1, 0));
  tensors("not a number", Safetensors(Tensor("head.weight", "F32", "[3,128]", "[0,1536]"), -1, 1536));
  // A pickle that would run a command in Python.
  const std::string code = "cposix\nsystem\n(S'touch pwn'\ntR.";
  add("code in a pickle", "weights.pth", code);
  add("code in an archive", "weights.pth", ZipBytes({{"archive/data.pkl", code}, {"archive/version", "3\n"}}));
  add("a pickle that unfolds", "weights.pth",
      ZipBytes({{"archive/data.pkl", std::string(1 << 20, ')'), true, 0100644, -1, 300}, {"archive/version", "3\n"}}));
  // Weights of a network that the command line names.
  const auto named = [&](const std::string& what, const std::string& file, const std::string& bytes) {
    add(what, file, bytes);
    std::vector<std::string>& command = cases.back().command;
    command.back() = "--model=" + file;
    command.push_back("--network=resnet18_cifar");
  };
  named("nothing, of a named network", "weights.pth", "");
  cases.back().named = "is empty";
  named("code in a pickle, of a named network", "weights.pth", code);
  cases.back().named = "is neither a safetensors file nor a file of torch.save()";
  named("a Git LFS pointer, of a named network", "weights.pth", "version https://git-lfs.github.com/spec/v1\n");
  cases.back().named = "is a Git LFS pointer";
  named("an archive named safetensors, of a named network", "weights.safetensors",
        ZipBytes({{"archive/data.pkl", code}, {"archive/version", "3\n"}}));
  cases.back().named = "not a safetensors file as its name says";
  const std::string setstate = ReadFile(*RunfilesFolder() + "/openset/models/testdata/script_setstate.pt").value();
  for (const char* file : {"weights.pth", "weights.bin", "weights", "resnet18.pth"}) {
    named(absl::StrCat("TorchScript that runs code, ", file), file, setstate);
    cases.back().named = "its code defines __setstate__";
  }
  const std::string old("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.\x80\x02}.", 25);
  named("code in a pickle of old PyTorch, of a named network", "weights.pth", old + code);
  named("storages of 2^63 - 1 elements, of a named network", "weights.pth",
        old + "\x80\x02}." + "\x80\x02]U\x01" + "aa." + LittleEndian(INT64_MAX, 8));
  named("zeros, of a named network", "weights.bin", std::string(100000, '\0'));
  named("another's tensors, of a named network", "weights.safetensors",
        Safetensors(Tensor(name, "F32", "[2,3]", "[0,24]")));
  named("a name that a terminal obeys, of a named network", "weights.safetensors",
        Safetensors(Tensor("\\u001b]0;x\\u0007", "F32", "[2,3]", "[0,24]")));
  const std::string network =
      ReadFile(*RunfilesFolder() + "/openset/tools/testing/testdata/fashion_network.pt").value();
  add("nothing", "net.pt", "");
  add("half a network", "net.pt", network.substr(0, network.size() / 2));
  RandomStream random(0, "networks");
  for (int i = 0; i < 4; ++i) {
    std::string changed = network;
    for (int n = 0; n < 20; ++n) changed[random.Below(changed.size())] = static_cast<char>(random.Below(256));
    add(absl::StrCat("a network with noise ", i), "net.pt", changed);
    cases.back().end = End::kAnswered;
  }
  return cases;
}

}  // namespace openset
