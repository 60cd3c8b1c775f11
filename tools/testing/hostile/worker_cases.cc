// Messages of workers: scripts replace the worker and write to the channel.
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/testing/byte_order.h"
#include "experiments/worker/worker.pb.h"
#include "tools/testing/hostile/hostile_case.h"
#include "tools/testing/hostile/process_case.h"

namespace openset {
namespace {

// The bytes in octal, for the shell's printf.
std::string Octal(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) absl::StrAppendFormat(&text, "\\%03o", static_cast<uint8_t>(c));
  return text;
}

}  // namespace

std::string FramedMessage(const std::string& message) { return LittleEndian(message.size()) + message; }

HostileCase WorkerCase(const std::string& what, const std::string& script, End end) {
  HostileCase one{"worker message",
                  what,
                  {"run", "study.textproto", "--deploy=deploy.textproto", "--worker=worker.sh"},
                  {},
                  end,
                  ""};
  // The first trial's outputs are missing, so the worker is asked for them.
  one.make = [script](const Fixture& fixture) {
    const std::string outputs = fixture.OutputsPath(0), record = fixture.RecordPath(0);
    std::filesystem::remove_all(fixture.Path(outputs));
    std::filesystem::remove(fixture.Path(record));
    fixture.Write("work/worker.sh", "#!/bin/sh\n" + script);
    std::filesystem::permissions(fixture.Path("work/worker.sh"), std::filesystem::perms::owner_all);
  };
  one.writes = {"work/store"};
  return one;
}

std::string WorkerThatSays(const std::string& bytes) {
  return "head -c 4 <&3 >/dev/null\nprintf '" + Octal(bytes) + "' >&3\nsleep 0.1\n";
}

std::vector<HostileCase> WorkerCases() {
  std::vector<HostileCase> cases;
  const auto add = [&](const std::string& what, const std::string& script, End end = End::kNoted) {
    cases.push_back(WorkerCase(what, script, end));
  };
  const auto says = [&](const std::string& what, const std::string& bytes) { add(what, WorkerThatSays(bytes)); };
  const auto event = [&](const std::string& what, const std::function<void(WorkEvent*)>& make, bool ends = true) {
    WorkEvent said, end;
    make(&said);
    end.mutable_outcome()->set_code(13);
    says(what, FramedMessage(said.SerializeAsString()) + (ends ? FramedMessage(end.SerializeAsString()) : ""));
  };
  says("2^32 - 1 bytes are to come", std::string(4, '\xff'));
  says("256 MB are to come", std::string("\0\0\0\x10", 4));
  says("half a message", std::string("\x10\0\0\0abc", 7));
  add("half a message, then silence",
      "head -c 4 <&3 >/dev/null\nprintf '" + Octal(std::string("\x10\0\0\0abc", 7)) + "' >&3\nexec sleep 1000\n");
  add("silence", "exec sleep 1000\n");
  says("no message", FramedMessage(std::string(100, '\xff')));
  says("groups in groups", FramedMessage(std::string(1000, '\x0b')));
  says("nothing", FramedMessage(""));
  says("an event that there is not", FramedMessage(std::string("\x9a\x06\0", 3)));
  says("1,000 empty messages", [] {
    std::string bytes;
    for (int i = 0; i < 1000; ++i) bytes += FramedMessage("");
    return bytes;
  }());
  add("the end of the channel", "exec 3>&-\n");
  add("nothing, and ends with 77", "exit 77\n");
  add("killed", "kill -9 $$\n");
  add("no program", "exec /nowhere\n");
  add("the request back", "cat <&3 >&3\n");
  add("noise for ever", "cat /dev/urandom >&3\n");
  add("10 MB of what a terminal obeys, to its log",
      "head -c 10000000 /dev/urandom\nprintf '\\033]0;x\\007\\n' >&2\nexit 3\n");
  event(
      "success without a result", [](WorkEvent* e) { e->mutable_outcome()->set_code(0); }, false);
  for (const int code : {-1, 17, 99, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    event(
        absl::StrCat("code ", code), [code](WorkEvent* e) { e->mutable_outcome()->set_code(code); }, false);
  }
  for (const std::string& text : {std::string("\x1b]0;owned\a"), std::string("\xff\xfe"), std::string("a\nb\rc"),
                                  std::string("\xe2\x80\xae x"), std::string("a\0b", 3), std::string(9000, 'x')}) {
    event(
        "it failed with " + text.substr(0, 10),
        [text](WorkEvent* e) { e->mutable_outcome()->set_code(3), e->mutable_outcome()->set_message(text); }, false);
    event("it is at " + text.substr(0, 10),
          [text](WorkEvent* e) { e->mutable_progress()->set_what(text), e->mutable_progress()->set_metric(text); });
  }
  for (const double number : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e308, -1.0}) {
    event(absl::StrCat("progress of ", number), [number](WorkEvent* e) {
      WorkProgress* progress = e->mutable_progress();
      progress->set_fraction(number), progress->set_images_per_second(number), progress->set_loss(number);
      progress->set_metric_value(number), progress->set_epoch(std::numeric_limits<int>::min());
      progress->set_epochs(std::numeric_limits<int>::max());
    });
  }
  for (HostileCase& one : CasesOfFile({"worker message",
                                       "the worker",
                                       {"run", "study.textproto", "--deploy=deploy.textproto", "--worker=worker"},
                                       [](const Fixture& fixture) {
                                         std::filesystem::remove_all(fixture.Path(fixture.OutputsPath(0)));
                                         std::filesystem::remove(fixture.Path(fixture.RecordPath(0)));
                                       },
                                       End::kNoted,
                                       "",
                                       {"work/store"}},
                                      "work/worker")) {
    cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace openset
