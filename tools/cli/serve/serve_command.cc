#include <poll.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/file_state.h"
#include "core/files/runfiles.h"
#include "core/process/interrupt.h"
#include "core/status_macros.h"
#include "data/catalog.h"
#include "experiments/store/store.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/run_config.h"
#include "tools/cli/serve/access.h"
#include "tools/cli/serve/http_server.h"
#include "tools/cli/serve/routes.h"
#include "tools/cli/serve/store_pages.h"

namespace openset {
namespace {

namespace fs = std::filesystem;

// Whether all users of this machine can reach this folder and list it. If the system can't tell, they can't.
bool CanAllList(const std::string& folder) {
  std::error_code error;
  fs::path path = fs::canonical(folder, error);
  for (fs::perms needed = fs::perms::others_read | fs::perms::others_exec; !error; needed = fs::perms::others_exec) {
    const fs::perms found = fs::status(path, error).permissions();
    if (error || (found & needed) != needed) return false;
    if (!path.has_relative_path()) return true;
    path = path.parent_path();
  }
  return false;
}

// The same for everything below the folder. Doesn't follow links, as the pages don't.
bool CanAllReadBelow(const std::string& folder) {
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const fs::file_status status = entry->symlink_status(error);
    if (error) return false;
    fs::perms needed = fs::perms::others_read;
    if (fs::is_directory(status)) needed |= fs::perms::others_exec;
    if (!fs::is_symlink(status) && (status.permissions() & needed) != needed) return false;
  }
  return !error;
}

// Whether a folder holds only published data: what comes with the program, or what `openset data fetch` downloaded.
bool IsPublished(const std::string& folder) {
  const absl::StatusOr<std::string> runfiles = RunfilesFolder();
  return folder == UserCacheFolder("data") || (runfiles.ok() && absl::StartsWith(folder, *runfiles));
}

// Whether each user of this machine may see what the pages show anyway: the store, and images of the data. Then a token
// would protect nothing.
bool CanAllRead(const Store& store, const std::vector<std::string>& data_folders) {
  for (const std::string& folder : data_folders) {
    std::error_code error;
    if (!IsPublished(folder) && fs::exists(folder, error) && !CanAllList(folder)) return false;
  }
  return CanAllList(store.folder()) && CanAllReadBelow(store.folder());
}

absl::Status RunServe(const std::vector<std::string>& /*arguments*/, const RunConfig& config) {
  const std::string host = config.host == "localhost" ? "127.0.0.1" : config.host;
  const int port = config.port;
  if (port < 0 || port > 65535) return absl::InvalidArgumentError("--port: must lie in 0 .. 65535");
  Access access;
  const absl::StatusOr<bool> is_local = IsLoopback(host);
  if (!is_local.ok()) return Annotate(is_local.status(), "--host");
  access.only_local = *is_local;
  OPENSET_ASSIGN_OR_RETURN(const Store store, OpenStore(config, StoreUse::kRead));
  OPENSET_RETURN_IF_ERROR(store.CheckIsStore());
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, FindSpecFolders(config));
  OPENSET_ASSIGN_OR_RETURN(Catalog catalog, Catalog::Open(folders.catalog));
  if (!access.only_local || config.token || !CanAllRead(store, config.data_folders)) access.token = NewToken();
  StorePages pages(store, std::move(catalog), config.data_folders);
  Interrupt interrupt;  // before the threads, so that none of them receives the signal
  const auto answer = [&pages, &access](const HttpRequest& request) {
    const Route route = RouteOf(request.target);
    if (route.kind == Route::kHealth) return pages.Answer(route);  // monitors have no token, and it tells them nothing
    const std::optional<HttpAnswer> refusal = RefusalOf(request, access);
    return refusal.has_value() ? *refusal : pages.Answer(route);
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
      "  openset serve --host=0.0.0.0          # all machines that reach this one, with the printed token\n"
      "\n"
      "For programs: /status.json is 'openset status --format=json', /metrics has its numbers for Prometheus, and\n"
      "/health answers 'ok' without a token.\n";
  command.flags = {"store", "deploy", "data", "library", "host", "port", "token"};
  command.run = RunServe;
  return command;
}

}  // namespace openset
