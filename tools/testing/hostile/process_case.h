// Cases of what comes over the network and from workers, made of bytes.
#ifndef OPENSET_TOOLS_TESTING_HOSTILE_PROCESS_CASE_H_
#define OPENSET_TOOLS_TESTING_HOSTILE_PROCESS_CASE_H_

#include <string>

#include "tools/testing/hostile/hostile_case.h"

namespace openset {

// `data fetch` where the made-up curl brings what `make` has put into served/.
HostileCase DownloadCase(const std::string& what, const std::function<void(const Ground&)>& make, End end = End::kNoted,
                         const std::string& named = "");

// `data fetch` of an archive of these bytes, which the catalog has unpacked as `unpack` ("TAR", "ZIP") into a folder
// that is there already, in part as links.
HostileCase ArchiveCase(const std::string& what, const std::string& unpack, const std::string& bytes,
                        End end = End::kNoted);

// `run` of an inference, with this shell script in the worker's place; its channel is file 3.
HostileCase WorkerCase(const std::string& what, const std::string& script, End end = End::kNoted);

// The script of a worker that says these bytes when it is asked for something, and ends.
std::string WorkerThatSays(const std::string& bytes);

// A message with its length in front, as it goes over the channel.
std::string FramedMessage(const std::string& message);

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_HOSTILE_PROCESS_CASE_H_
