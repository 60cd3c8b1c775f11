#include "tools/cli/serve/serve_command.h"

#include <poll.h>
#include <sys/stat.h>

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "core/process/interrupt.h"
#include "core/status_macros.h"
#include "data/catalog.h"
#include "experiments/store/store.h"
#include "tools/cli/flags/deploy_flags.h"
#include "tools/cli/flags/library_flags.h"
#include "tools/cli/serve/access.h"
#include "tools/cli/serve/http_server.h"
#include "tools/cli/serve/routes.h"
#include "tools/cli/serve/store_pages.h"

ABSL_FLAG(std::string, host, "127.0.0.1",
          "The IP address to listen on. Addresses other than this machine's own (127.0.0.1, ::1) need the printed "
          "token; the connection is not encrypted.");
ABSL_FLAG(int, port, 6736, "The port to listen on; 0: any that is free.");
ABSL_FLAG(bool, token, false,
          "Ask for a token on this machine too, because it has other users. Always so if they can't read the store.");

namespace openset {
namespace {

// Whether other users of this machine can't look into the folder.
bool IsClosed(const std::string& folder) {
  struct stat info;
  return stat(folder.c_str(), &info) == 0 && (info.st_mode & S_IXOTH) == 0;
}

absl::Status RunServe(const std::vector<std::string>& /*arguments*/) {
  const std::string flag = absl::GetFlag(FLAGS_host);
  const std::string host = flag == "localhost" ? "127.0.0.1" : flag;
  const int port = absl::GetFlag(FLAGS_port);
  if (port < 0 || port > 65535) return absl::InvalidArgumentError("--port: must lie in 0 .. 65535");
  Access access;
  const absl::StatusOr<bool> is_local = IsLoopback(host);
  if (!is_local.ok()) return Annotate(is_local.status(), "--host");
  access.only_local = *is_local;
  OPENSET_ASSIGN_OR_RETURN(const Store store, StoreFromFlags(StoreUse::kRead));
  OPENSET_RETURN_IF_ERROR(store.CheckIsStore());
  if (!access.only_local || absl::GetFlag(FLAGS_token) || IsClosed(store.folder())) access.token = NewToken();
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, SpecFoldersFromFlags());
  OPENSET_ASSIGN_OR_RETURN(Catalog catalog, Catalog::Open(folders.catalog));
  OPENSET_ASSIGN_OR_RETURN(std::vector<std::string> data_folders, DataFoldersFromFlags());
  StorePages pages(store, std::move(catalog), std::move(data_folders));
  Interrupt interrupt;  // before the threads, so that none of them receives the signal
  const auto answer = [&pages, &access](const HttpRequest& request) {
    const std::optional<HttpAnswer> refusal = RefusalOf(request, access);
    return refusal.has_value() ? *refusal : pages.Answer(RouteOf(request.target));
  };
  const absl::StatusOr<std::unique_ptr<HttpServer>> server = HttpServer::Start(host, port, answer);
  if (!server.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--port: ", server.status().message(), "; --port=0 takes a port that is free"));
  }
  std::cout << UrlOf(host, (*server)->port()) << "/"
            << (access.token.empty() ? "" : absl::StrCat("?token=", access.token)) << " shows the store "
            << store.folder() << " until Ctrl-C" << std::endl;
  pollfd wait = {interrupt.fd(), POLLIN, 0};
  while (interrupt.Take() == 0) poll(&wait, 1, /*timeout=*/-1);
  return absl::OkStatus();
}

}  // namespace

Command ServeCommand() {
  Command command;
  command.name = "serve";
  command.summary = "Shows a store in the browser: studies, live progress, tables, plots, records, mistakes.";
  command.description =
      "It prints an address for the browser and runs until Ctrl-C. It only reads the store. By default, only this\n"
      "machine can connect. From another machine, forward the port by ssh, which is encrypted:\n"
      "\n"
      "  openset serve --store=/data/results\n"
      "  ssh -L 6736:localhost:6736 node7      # on your machine; then open http://localhost:6736/\n"
      "  openset serve --host=0.0.0.0          # all machines that reach this one, with the printed token\n";
  command.flags = {"store", "deploy", "data", "library", "host", "port", "token"};
  command.run = RunServe;
  return command;
}

}  // namespace openset
