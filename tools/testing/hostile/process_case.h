// Makes cases of downloads and of messages from workers, from their bytes.
#ifndef OPENSET_TOOLS_TESTING_HOSTILE_PROCESS_CASE_H_
#define OPENSET_TOOLS_TESTING_HOSTILE_PROCESS_CASE_H_

#include <string>

#include "tools/testing/hostile/hostile_case.h"

namespace openset {

// `data fetch`, with a fake curl that downloads the files that `make` has put into served/.
HostileCase DownloadCase(const std::string& what, const std::function<void(const Fixture&)>& make,
                         End end = End::kNoted, const std::string& named = "");

// `data fetch` of an archive with these bytes, which is unpacked as `unpack` ("TAR", "ZIP") into a folder that already
// contains links.
HostileCase ArchiveCase(const std::string& what, const std::string& unpack, const std::string& bytes,
                        End end = End::kNoted);

// `run`, with one inference to do and this shell script as the worker. The script's channel is file descriptor 3.
HostileCase WorkerCase(const std::string& what, const std::string& script, End end = End::kNoted);

// A script that waits for a request, writes these bytes to the channel and ends.
std::string WorkerThatSays(const std::string& bytes);

// A message with its length in front, as it goes over the channel.
std::string FramedMessage(const std::string& message);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HOSTILE_PROCESS_CASE_H_
