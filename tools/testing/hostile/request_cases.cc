// Requests to `openset serve`, and texts in the store that it shows.
#include "absl/strings/str_cat.h"
#include "core/testing/archive_bytes.h"
#include "experiments/spec/method.pb.h"
#include "experiments/spec/trial.pb.h"
#include "experiments/store/processes/run_state.pb.h"
#include "tools/testing/hostile/hostile_case.h"

namespace openset {
namespace {

constexpr char kScript[] = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\x1b]0;x\x07";

}  // namespace

std::vector<HostileCase> RequestCases() {
  std::vector<HostileCase> cases;
  const auto sends = [&](const std::string& what, const std::string& request, const std::string& answer,
                         const std::function<void(const Fixture&)>& make = Nothing) {
    HostileCase one{"request", what, {"serve", "--store=store", "--library=.", "--data=files", "--port=0"}, make};
    one.end = End::kHarmless;
    one.named = answer;
    one.request = request;
    cases.push_back(one);
  };
  const auto asks = [&](const std::string& path, const std::string& answer) {
    sends(path.substr(0, 60), absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: localhost\r\n\r\n"), answer);
  };
  for (const char* path : {"/../../../etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/store/version",
                           "/version", "/study/../../store/version", "/record/..", "/study/0123456789abcde/", "/%00",
                           "/\\..\\x", "/study/0123456789abcdef/records/99999999999999999999", "http://x/live.json"}) {
    asks(path, "HTTP/1.1 404");
  }
  asks(absl::StrCat("/", std::string(3000, '/')), "HTTP/1.1 404");
  asks(absl::StrCat("/", std::string(100000, 'a')), "HTTP/1.1 431");
  const auto with_host = [&](const std::string& host) {
    sends("host " + host.substr(0, 40), absl::StrCat("GET / HTTP/1.1\r\nHost: ", host, "\r\n\r\n"), "HTTP/1.1 421");
  };
  for (const char* host :
       {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "", "0.0.0.0", "a b"}) {
    with_host(host);
  }
  const std::string local = "Host: localhost\r\n";
  sends("two hosts", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", "HTTP/1.1 400");
  sends("a page of another site", "GET /live.json HTTP/1.1\r\n" + local + "Sec-Fetch-Site: cross-site\r\n\r\n",
        "HTTP/1.1 403");
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE", "X"}) {
    sends(method, absl::StrCat(method, " / HTTP/1.1\r\n", local, "\r\n"), "HTTP/1.1 405");
  }
  sends("a body of 8 EB", "GET / HTTP/1.1\r\n" + local + "Content-Length: 9223372036854775807\r\n\r\n", "HTTP/1.1 413");
  sends("chunks", "GET / HTTP/1.1\r\n" + local + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
        "HTTP/1.1 413");
  sends("noise", std::string(5000, '\xa5') + "\r\n\r\n", "HTTP/1.1 4");
  sends("TLS", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) + "\r\n\r\n", "HTTP/1.1 400");
  sends("half a request", "GET / HT", "");
  sends(
      "10,000 requests at once",
      [] {
        std::string all;
        for (int i = 0; i < 10000; ++i) absl::StrAppend(&all, "GET /live.json HTTP/1.1\r\nHost: localhost\r\n\r\n");
        return all;
      }(),
      "HTTP/1.1 200");
  const std::string all = "GET / HTTP/1.1\r\n" + local + "\r\n";
  sends("a study whose name is a script", all, "&lt;script&gt;", [](const Fixture& fixture) {
    TrialRecord record = fixture.Record(0);
    record.mutable_trial()->set_experiment(kScript);
    record.mutable_trial()->mutable_method()->set_name(kScript);
    fixture.WriteRecord(0, record);
  });
  sends("a run whose name is a script", "GET /live.json HTTP/1.1\r\n" + local + "\r\n", "HTTP/1.1 200",
        [](const Fixture& fixture) {
          RunState state;
          state.set_id("elsewhere.01234567.1.1");
          state.set_pid(1);
          state.set_lease_seconds(120);
          state.set_experiment(kScript);
          fixture.Write("work/store/runs/elsewhere.01234567.1.1.rec", FramedRecord(state.SerializeAsString()));
        });
  sends("a record of noise", all, "Corrupt",
        [](const Fixture& fixture) { fixture.Write(fixture.RecordPath(0), "noise"); });
  return cases;
}

}  // namespace openset
