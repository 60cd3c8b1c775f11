#include "experiments/store/bundle.h"

#include <fcntl.h>
#include <minizip/zip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/formats/zip_reader.h"
#include "core/files/input_file.h"
#include "core/files/system_calls.h"
#include "core/process/build_info.h"
#include "core/proto/record_file.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/hex.h"
#include "core/text/name.h"
#include "core/text/one_line.h"
#include "experiments/store/records/record_check.h"
#include "experiments/store/records/record_id.h"
#include "experiments/store/store_contents.h"
#include "google/protobuf/descriptor.h"

namespace openset {

bool IsBundleFile(absl::string_view name) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  if (parts[0] == "library") {
    if (parts.size() != 3 || (parts[1] != "specs" && parts[1] != "tasks" && parts[1] != "catalog")) return false;
    absl::string_view of_file = parts[2];
    return absl::ConsumeSuffix(&of_file, ".textproto") && IsName(std::string(of_file));
  }
  if (parts.size() != 4 || !IsKey(parts[2]) || !absl::StartsWith(parts[2], parts[1]) || parts[1].size() != 2) {
    return false;
  }
  const std::string& file = parts[3];
  if (file == kSummaryFile || file == kActionFile) return parts[0] == "outputs" || parts[0] == "checkpoints";
  if (parts[0] == "outputs") return file == kOutputsFile;
  return parts[0] == "checkpoints" && (file == kCheckpointFile || file == kStateFile);
}

std::string TrialOfBundleMember(absl::string_view name) {
  const bool is_replica = absl::ConsumePrefix(&name, "replicas/");
  if (!is_replica && !absl::ConsumePrefix(&name, "records/")) return "";
  if (name.size() < 3 + kSha256Digits || name[2] != '/') return "";
  const absl::string_view shard = name.substr(0, 2), id = name.substr(3, kSha256Digits);
  if (!IsKey(id) || !absl::StartsWith(id, shard)) return "";
  absl::string_view rest = name.substr(3 + kSha256Digits);
  if (!absl::ConsumeSuffix(&rest, ".rec")) return "";
  if (!is_replica) return rest.empty() ? std::string(id) : "";
  return absl::ConsumePrefix(&rest, "/") && IsKey(rest) ? std::string(id) : "";
}

std::string UnexpectedMember(absl::string_view name) {
  return absl::StrCat("has an unexpected member: '", OneLine(name), "'");
}

namespace {

constexpr size_t kBlock = 512;

// The offsets and sizes of a header's fields.
constexpr size_t kName = 0, kNameBytes = 100, kMode = 100, kSize = 124, kSizeBytes = 12, kTime = 136, kSum = 148;
constexpr size_t kType = 156, kMagic = 257, kPrefix = 345, kPrefixBytes = 155;

// Returns nothing if the name does not fit.
std::optional<std::string> HeaderOf(absl::string_view name, uint64_t size) {
  absl::string_view prefix;
  if (name.size() > kNameBytes) {
    const size_t slash = name.rfind('/');
    if (slash == absl::string_view::npos) return std::nullopt;
    prefix = name.substr(0, slash);
    name = name.substr(slash + 1);
  }
  if (name.empty() || name.size() > kNameBytes || prefix.size() > kPrefixBytes || size >> 33 != 0) return std::nullopt;
  std::string header(kBlock, '\0');
  const auto put = [&](size_t at, absl::string_view text) {
    header.replace(at, text.size(), text.data(), text.size());
  };
  put(kName, name);
  put(kMode, absl::string_view("0000644\0"
                               "0000000\0"
                               "0000000\0",
                               24));  // also owner and group
  put(kSize, absl::StrFormat("%011o", size));
  put(kTime, "00000000000");
  put(kSum, "        ");
  put(kType, "0");
  put(kMagic, absl::string_view("ustar\0"
                                "00",
                                8));
  put(kPrefix, prefix);
  uint64_t sum = 0;
  for (const char byte : header) sum += static_cast<uint8_t>(byte);
  put(kSum, absl::StrFormat("%06o", sum));
  header[kSum + 6] = '\0';
  return header;
}

absl::string_view Text(absl::string_view field) { return field.substr(0, field.find('\0')); }

bool IsZeros(absl::string_view bytes) { return bytes.find_first_not_of('\0') == absl::string_view::npos; }

size_t Filled(size_t size) { return (size + kBlock - 1) / kBlock * kBlock; }

}  // namespace

absl::Status RecordPacker::Add(const std::string& name, absl::string_view content) {
  const std::optional<std::string> header = HeaderOf(name, content.size());
  if (!header.has_value())
    return absl::InvalidArgumentError(absl::StrCat(OneLine(name), ": this name does not fit in a bundle"));
  bytes_ += static_cast<int64_t>(kBlock + Filled(content.size()));
  OPENSET_RETURN_IF_ERROR(xz_.Write(*header));
  OPENSET_RETURN_IF_ERROR(xz_.Write(content));
  return xz_.Write(std::string(Filled(content.size()) - content.size(), '\0'));
}

absl::Status RecordPacker::Finish() {
  bytes_ += 2 * kBlock;
  OPENSET_RETURN_IF_ERROR(xz_.Write(std::string(2 * kBlock, '\0')));
  return xz_.Finish();
}

RecordUnpacker::RecordUnpacker(const Limits& limits, UseFile use)
    : limits_(limits), use_(std::move(use)), xz_([this](absl::string_view part) { return Take(part); }) {}

absl::Status RecordUnpacker::Finish() {
  OPENSET_RETURN_IF_ERROR(xz_.Finish());
  return has_ended_ ? absl::OkStatus() : absl::DataLossError("is truncated: its archive has no end marker");
}

absl::Status RecordUnpacker::Take(absl::string_view part) {
  bytes_ += static_cast<int64_t>(part.size());
  if (bytes_ > limits_.bytes) {
    return absl::DataLossError(absl::StrCat("unpacks to more than ", limits_.bytes, " bytes, which is refused"));
  }
  held_.append(part.data(), part.size());
  size_t used = 0;
  for (;;) {
    const absl::string_view rest = absl::string_view(held_).substr(used);
    if (has_ended_) {
      if (!rest.empty()) return absl::DataLossError("has bytes after the end of its archive");
      break;
    }
    if (in_file_) {
      const size_t filled = Filled(size_);
      if (rest.size() < filled) break;
      if (!IsZeros(rest.substr(size_, filled - size_))) {
        return absl::DataLossError(absl::StrCat("has bytes after the end of '", name_, "'"));
      }
      OPENSET_RETURN_IF_ERROR(use_(name_, std::string(rest.substr(0, size_))));
      used += filled;
      in_file_ = false;
      continue;
    }
    if (rest.size() < kBlock) break;
    if (!IsZeros(rest.substr(0, kBlock))) {
      OPENSET_RETURN_IF_ERROR(TakeHeader(rest.substr(0, kBlock)));
      used += kBlock;
      in_file_ = true;
      continue;
    }
    if (rest.size() < 2 * kBlock) break;
    if (!IsZeros(rest.substr(kBlock, kBlock))) return absl::DataLossError("has a block of zeros between its files");
    used += 2 * kBlock;
    has_ended_ = true;
  }
  held_.erase(0, used);
  return absl::OkStatus();
}

absl::Status RecordUnpacker::TakeHeader(absl::string_view header) {
  const absl::string_view prefix = Text(header.substr(kPrefix, kPrefixBytes));
  std::string name = absl::StrCat(prefix, prefix.empty() ? "" : "/", Text(header.substr(kName, kNameBytes)));
  if (++members_ > limits_.members) {
    return absl::DataLossError(absl::StrCat("has more than ", limits_.members, " members"));
  }
  const char type = header[kType];
  if (type != '0') return absl::DataLossError(absl::StrCat("'", OneLine(name), "' is not a regular file"));
  uint64_t size = 0;
  for (const char digit : Text(header.substr(kSize, kSizeBytes))) size = size << 3 | static_cast<uint64_t>(digit & 7);
  const std::optional<std::string> made = HeaderOf(name, size);
  if (!made.has_value() || *made != header) {
    return absl::DataLossError(absl::StrCat("has an invalid header for '", OneLine(name), "'"));
  }
  if (TrialOfBundleMember(name).empty()) return absl::DataLossError(UnexpectedMember(name));
  if (name <= name_) return absl::DataLossError(absl::StrCat("has '", OneLine(name), "' twice, or out of order"));
  if (size > limits_.member_bytes) {
    return absl::DataLossError(
        absl::StrCat("member '", name, "' has more than ", limits_.member_bytes, " bytes, which is refused"));
  }
  name_ = std::move(name);
  size_ = size;
  return absl::OkStatus();
}

namespace {

constexpr absl::string_view kComment = "openset bundle sha256:";
constexpr size_t kDigits = 64;

void AddFile(const google::protobuf::FileDescriptor* file, std::set<const google::protobuf::FileDescriptor*>* seen,
             google::protobuf::FileDescriptorSet* set) {
  if (!seen->insert(file).second) return;
  for (int i = 0; i < file->dependency_count(); ++i) AddFile(file->dependency(i), seen, set);
  file->CopyTo(set->add_file());
}

// "records/ab/abcd...rec"
std::string MemberOf(const std::string& path, const Store& store) {
  absl::string_view name = path;
  const std::string outputs = store.FolderOf("outputs");
  const bool is_record = absl::ConsumePrefix(&name, store.folder());
  if (!is_record) absl::ConsumePrefix(&name, absl::StripSuffix(outputs, "/outputs"));  // unpacked elsewhere
  absl::ConsumePrefix(&name, "/");
  return std::string(name);
}

// Returns the SHA-256 of a file without its last 64 bytes, and these bytes. Doesn't read a file whose size or end shows
// that it is not a bundle.
absl::StatusOr<std::pair<std::string, std::string>> DigestAndSignature(const std::string& path, int64_t max_bytes) {
  OPENSET_ASSIGN_OR_RETURN(InputFile file, OpenRegularFile(path));
  const auto size = static_cast<uint64_t>(file.bytes());
  const absl::Status is_none =
      absl::DataLossError(absl::StrCat(path,
                                       ": is not a bundle, or is truncated: copy it again, or write one with 'openset "
                                       "records export --bundle=FILE.zip'"));
  if (size < kDigits + kComment.size()) return is_none;
  if (file.bytes() > max_bytes) {
    return absl::DataLossError(
        absl::StrCat(path, ": has ", size, " bytes, more than the ", max_bytes, " that a bundle may have"));
  }
  std::string comment(kComment.size(), '\0');
  OPENSET_RETURN_IF_ERROR(file.MoveTo(static_cast<int64_t>(size - kDigits - kComment.size())));
  OPENSET_ASSIGN_OR_RETURN(const size_t of_comment, file.Read(comment.data(), comment.size()));
  if (of_comment < comment.size() || comment != kComment) return is_none;
  OPENSET_RETURN_IF_ERROR(file.MoveTo(0));
  Sha256 sum;
  std::string chunk(1 << 20, '\0');
  for (uint64_t left = size - kDigits; left > 0;) {
    const size_t part = std::min<uint64_t>(left, chunk.size());
    OPENSET_ASSIGN_OR_RETURN(const size_t got, file.Read(chunk.data(), part));
    if (got < part) return absl::DataLossError(absl::StrCat(path, ": cannot be read"));
    sum.Update(absl::string_view(chunk.data(), part));
    left -= part;
  }
  std::string signature(kDigits, '\0');
  OPENSET_ASSIGN_OR_RETURN(const size_t got, file.Read(signature.data(), kDigits));
  if (got < kDigits) return absl::DataLossError(absl::StrCat(path, ": cannot be read"));
  return std::make_pair(ToHex(sum.Finish()), signature);
}

std::string SumLine(absl::string_view sum, absl::string_view name) { return absl::StrCat(sum, "  ", name, "\n"); }

// Returns the maximum size of the unpacked records of a bundle of this size.
int64_t MostUnfolded(int64_t bundle_bytes) {
  return std::max(ZipReader::kMaxInflatedBytes, ZipReader::kMaxInflation * bundle_bytes);
}

class Writer {
 public:
  // Errors call the file `shown`.
  Writer(const std::string& path, const std::string& shown) : path_(path), shown_(shown) {
    errno = 0;
    zip_ = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
  }
  ~Writer() {
    if (zip_ != nullptr) zipClose(zip_, nullptr);
  }

  absl::Status Add(const std::string& name, absl::string_view content) {
    OPENSET_RETURN_IF_ERROR(Begin(name, Z_DEFLATED));
    OPENSET_RETURN_IF_ERROR(Write(content));
    return End(name);
  }

  // Adds the record files, in order: `read` must call its argument for each.
  using AddRecord = std::function<absl::Status(const std::string& name, absl::string_view content)>;
  absl::Status AddRecords(const std::function<absl::Status(const AddRecord&)>& read) {
    OPENSET_RETURN_IF_ERROR(Begin(kBundleRecords, /*method=*/0));
    RecordPacker packer([this](absl::string_view part) { return Write(part); });
    OPENSET_RETURN_IF_ERROR(read([&](const std::string& name, absl::string_view content) {
      absl::StrAppend(&record_sums_, SumLine(Sha256Hex(content), name));
      return packer.Add(name, content);
    }));
    OPENSET_RETURN_IF_ERROR(packer.Finish());
    record_bytes_ = packer.bytes();
    return End(kBundleRecords);
  }

  // Returns the digest.
  absl::StatusOr<std::string> Finish() {
    OPENSET_RETURN_IF_ERROR(Add(kBundleSums, sums_ + record_sums_));
    const bool closed = zipClose(zip_, absl::StrCat(kComment, std::string(kDigits, '0')).c_str()) == ZIP_OK;
    zip_ = nullptr;
    if (!closed) return Failed();
    if (FileSize(path_) > kMaxBundleBytes) {
      return absl::InvalidArgumentError(absl::StrCat("the bundle would have ", FileSize(path_),
                                                     " bytes, more than the ", kMaxBundleBytes,
                                                     " that one may have: export fewer trials"));
    }
    if (record_bytes_ > MostUnfolded(FileSize(path_))) {
      return absl::InvalidArgumentError(absl::StrCat("the bundle's records would unpack to ", record_bytes_,
                                                     " bytes, more than a bundle's may: export fewer trials"));
    }
    OPENSET_ASSIGN_OR_RETURN(const auto digest, DigestAndSignature(path_, kMaxBundleBytes));
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-static_cast<std::streamoff>(kDigits), std::ios::end);
    file << digest.first;
    file.close();
    return file ? absl::StatusOr<std::string>(digest.first) : Failed();
  }

 private:
  // Method 0 stores the content without compression.
  absl::Status Begin(const std::string& name, int method) {
    sum_ = Sha256();
    zip_fileinfo info = {};
    info.dosDate = (1 << 21) | (1 << 16);  // 1980-01-01, the earliest possible date
    const bool is_stream = method == 0;    // its length is not known in advance and may exceed 4 GB
    const bool ok = zip_ != nullptr && zipOpenNewFileInZip64(zip_, name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr,
                                                             method, Z_DEFAULT_COMPRESSION, is_stream) == ZIP_OK;
    return ok ? absl::OkStatus() : Failed();
  }

  absl::Status Write(absl::string_view content) {
    sum_.Update(content);
    const bool ok = zipWriteInFileInZip(zip_, content.data(), static_cast<unsigned>(content.size())) == ZIP_OK;
    return ok ? absl::OkStatus() : Failed();
  }

  absl::Status End(const std::string& name) {
    absl::StrAppend(&sums_, SumLine(ToHex(sum_.Finish()), name));
    return zipCloseFileInZip(zip_) == ZIP_OK ? absl::OkStatus() : Failed();
  }

  absl::Status Failed() const {
    return absl::UnavailableError(
        absl::StrCat("cannot write ", shown_, errno == 0 ? "" : ": ", errno == 0 ? "" : std::strerror(errno)));
  }

  const std::string path_, shown_;
  zipFile zip_;
  Sha256 sum_;  // of the member being written
  std::string sums_, record_sums_;
  int64_t record_bytes_ = 0;
};

// Adds the keys of the record's outputs and checkpoints that `extras` asks for.
void AddKeys(const TrialRecord& record, const BundleExtras& extras, std::set<std::string>* outputs,
             std::set<std::string>* checkpoints) {
  for (const StageProvenance& stage : record.provenance().stage()) {
    const bool trains = stage.stage() == StageProvenance::TRAIN;
    const bool infers = stage.stage() == StageProvenance::INFER || stage.stage() == StageProvenance::FIT;
    if (extras.checkpoints && trains && IsKey(stage.key())) checkpoints->insert(stage.key());
    if (extras.outputs && infers && IsKey(stage.key())) outputs->insert(stage.key());
  }
}

// The file of a record without its details.
absl::StatusOr<std::string> WithoutDetails(const std::string& path, absl::string_view bytes) {
  TrialRecord record;
  OPENSET_RETURN_IF_ERROR(Annotate(DecodeRecord(bytes, &record), path));
  record.clear_details();
  return EncodeRecord(record);
}

bool IsOfRecord(absl::string_view name) {
  return absl::StartsWith(name, "records/") || absl::StartsWith(name, "replicas/");
}

// The sums of an archive's members, by their names.
using MemberSums = std::map<std::string, std::string, std::less<>>;

// Takes the lines of the archive's members from the front of SHA256SUMS; `is_packed`: without those of record files,
// which are no members. Errors (without the path): kDataLoss.
absl::StatusOr<MemberSums> TakeMemberSums(bool is_packed, absl::string_view* sums) {
  constexpr size_t kNameAt = kDigits + 2;
  MemberSums found;
  while (!sums->empty()) {
    const absl::string_view line = sums->substr(0, sums->find('\n'));
    const std::string name(line.substr(std::min(kNameAt, line.size())));
    if (is_packed && IsOfRecord(name)) break;
    const std::string sum(line.substr(0, kDigits));
    if (!absl::ConsumePrefix(sums, SumLine(sum, name)) || !IsSha256(sum)) {
      return absl::DataLossError(absl::StrCat(kBundleSums, " has a malformed line: '", OneLine(line), "'"));
    }
    if (!found.emplace(name, sum).second) {
      return absl::DataLossError(absl::StrCat(kBundleSums, " has '", OneLine(name), "' twice"));
    }
  }
  return found;
}

// Compares a member with its line.
absl::Status CheckMemberSum(const MemberSums& sums, absl::string_view name, absl::string_view sum) {
  const auto line = sums.find(name);
  if (line == sums.end()) {
    return absl::DataLossError(absl::StrCat("the sum of '", OneLine(name), "' is not in ", kBundleSums));
  }
  if (line->second == sum) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("'", OneLine(name), "' does not have its sum in ", kBundleSums));
}

// Reads the record files of the stream, and checks that its sum is that in `members`, and that the files' sums are the
// lines `left`, the end of SHA256SUMS. Errors (without the path): kDataLoss; any error that `use` returns.
absl::Status ReadPackedRecords(ZipReader* zip, const BundleLimits& limits, int64_t bundle_bytes,
                               const MemberSums& members, absl::string_view left, const RecordUnpacker::UseFile& use) {
  RecordUnpacker unpacker(
      {MostUnfolded(bundle_bytes), limits.members, limits.member_bytes},
      [&](const std::string& name, const std::string& bytes) {
        if (!absl::ConsumePrefix(&left, SumLine(Sha256Hex(bytes), name))) {
          return absl::DataLossError(absl::StrCat("the sum of '", name, "' is not in ", kBundleSums));
        }
        return use(name, bytes);
      });
  Sha256 sum;
  absl::Status status = zip->ReadParts(kBundleRecords, limits.bytes, [&](absl::string_view part) {
    sum.Update(part);
    return unpacker.Add(part);
  });
  status.Update(status.ok() ? unpacker.Finish() : status);
  OPENSET_RETURN_IF_ERROR(status, kBundleRecords);
  if (!left.empty()) {
    return absl::DataLossError(absl::StrCat(kBundleSums, " lists files that are not in ", kBundleRecords));
  }
  return CheckMemberSum(members, kBundleRecords, ToHex(sum.Finish()));
}

}  // namespace

google::protobuf::FileDescriptorSet RecordSchema() {
  google::protobuf::FileDescriptorSet set;
  std::set<const google::protobuf::FileDescriptor*> seen;
  AddFile(TrialRecord::descriptor()->file(), &seen, &set);
  return set;
}

absl::StatusOr<BundleWritten> WriteBundle(const Store& store, const std::vector<std::string>& trial_ids,
                                          const std::string& path, const BundleExtras& extras) {
  BundleWritten written;
  std::map<std::string, std::string> files;  // by the name of the member
  std::set<std::string> outputs, checkpoints;
  for (const std::string& id : trial_ids) {
    OPENSET_ASSIGN_OR_RETURN(const TrialRecord record, store.LoadRecord(id));
    OPENSET_RETURN_IF_ERROR(Annotate(CheckTrialId(record), store.RecordPath(id)));
    files[MemberOf(store.RecordPath(id), store)] = store.RecordPath(id);
    AddKeys(record, extras, &outputs, &checkpoints);
    written.manifest.set_records(written.manifest.records() + 1);
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> replicas, ReplicaPaths(store, id));
    for (const std::string& replica : replicas) {
      OPENSET_ASSIGN_OR_RETURN(const std::string bytes, store.ReadBytes(replica));
      TrialRecord other;
      OPENSET_RETURN_IF_ERROR(Annotate(DecodeSharedRecord(bytes, id, &other), replica));
      std::string member = MemberOf(replica, store);
      if (!extras.details) {  // its name is the sum of its content
        other.clear_details();
        member = absl::StrCat(member.substr(0, member.rfind('/') + 1), Sha256Hex(EncodeRecord(other)), ".rec");
      }
      files[member] = replica;
      written.manifest.set_replicas(written.manifest.replicas() + 1);
    }
  }
  std::vector<std::string> large;  // files of outputs and checkpoints
  for (const bool of_outputs : {false, true}) {
    for (const std::string& key : of_outputs ? outputs : checkpoints) {
      const std::string folder = of_outputs ? store.OutputsFolder(key) : store.CheckpointFolder(key);
      OPENSET_ASSIGN_OR_RETURN(const bool is_there, of_outputs ? store.HasOutputs(key) : store.HasCheckpoint(key));
      if (!is_there) {
        written.left_out.push_back(absl::StrCat(MemberOf(folder, store), ": is no longer in the store"));
        continue;
      }
      OPENSET_RETURN_IF_ERROR(of_outputs ? store.CheckOutputs(key) : store.CheckCheckpoint(key));
      OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesInFolder(folder));
      for (const std::string& name : names) {
        const std::string file = JoinPath(folder, name);
        if (!IsBundleFile(MemberOf(file, store))) continue;
        if (FileSize(file) > static_cast<int64_t>(BundleLimits().large_member_bytes)) {
          return absl::InvalidArgumentError(absl::StrCat(file, ": has ", FileSize(file), " bytes, more than the ",
                                                         BundleLimits().large_member_bytes,
                                                         " that a file of a bundle may have"));
        }
        large.push_back(file);
      }
    }
  }
  written.manifest.set_bundle_version(kBundleVersion);
  written.manifest.set_schema_version(kSchemaVersion);
  written.manifest.set_commit(BuildCommit());
  const std::string temporary = TemporaryName(path);
  // The archive is opened by name, so a link or file that others put there must not be followed.
  const int reserved = Calls().Open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (reserved < 0) {
    const int error = errno;
    const std::string message = absl::StrCat("cannot write ", path, ": ", std::strerror(error));
    // Tells a path where no file can be from a failing disk.
    for (const int wrong : {ENOENT, ENOTDIR, EACCES, EPERM, EROFS, ENAMETOOLONG, ELOOP, EINVAL}) {
      if (error == wrong) return absl::InvalidArgumentError(message);
    }
    return absl::UnavailableError(message);
  }
  Calls().Close(reserved);
  {
    Writer writer(temporary, path);
    const absl::Status status = [&]() -> absl::Status {
      OPENSET_RETURN_IF_ERROR(writer.Add(kBundleManifest, ToText(written.manifest)));
      OPENSET_RETURN_IF_ERROR(writer.Add(kBundleSchema, RecordSchema().SerializeAsString()));
      for (const auto& [name, content] : extras.library) {
        OPENSET_RETURN_IF_ERROR(writer.Add(absl::StrCat("library/", name), content));
      }
      for (const std::string& file : large) {
        OPENSET_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(file));
        OPENSET_RETURN_IF_ERROR(writer.Add(MemberOf(file, store), bytes));
      }
      OPENSET_RETURN_IF_ERROR(writer.AddRecords([&](const Writer::AddRecord& add) -> absl::Status {
        for (const auto& [member, file] : files) {
          OPENSET_ASSIGN_OR_RETURN(std::string bytes, store.ReadBytes(file));
          if (!extras.details) {
            OPENSET_ASSIGN_OR_RETURN(bytes, WithoutDetails(file, bytes));
          }
          OPENSET_RETURN_IF_ERROR(add(member, bytes));
        }
        return absl::OkStatus();
      }));
      OPENSET_ASSIGN_OR_RETURN(written.digest, writer.Finish());
      return absl::OkStatus();
    }();
    if (!status.ok()) {
      std::error_code ignored;
      std::filesystem::remove(temporary, ignored);
      return status;
    }
  }
  OPENSET_RETURN_IF_ERROR(MoveFile(temporary, path));
  return written;
}

absl::StatusOr<std::string> ReadBundle(const std::string& path, const UseFile& record, const BundleLimits& limits,
                                       const UseFile& file, const std::function<bool(const std::string& name)>& wanted,
                                       int schema_version) {
  OPENSET_ASSIGN_OR_RETURN(const auto digest, DigestAndSignature(path, limits.bytes));
  const auto damaged = [&](absl::string_view what) { return absl::DataLossError(absl::StrCat(path, ": ", what)); };
  if (digest.first != digest.second)
    return damaged("does not match the digest at its end, or is not a bundle: copy it again");
  // What could not be read is not corrupt.
  const auto unread = [&](const absl::Status& status) {
    return IsReadFailure(status) ? Annotate(status, path) : damaged(status.message());
  };
  absl::StatusOr<ZipReader> zip = ZipReader::Open(path);
  if (!zip.ok()) return unread(zip.status());
  const std::vector<std::string> names = zip->Names();
  if (names.size() > limits.members) return damaged(absl::StrCat("has more than ", limits.members, " members"));
  for (const char* name : {kBundleManifest, kBundleSchema, kBundleSums}) {
    if (!zip->Has(name)) return damaged(absl::StrCat("has no ", name));
  }
  if (!zip->Duplicate().empty()) return damaged(absl::StrCat("has '", OneLine(zip->Duplicate()), "' twice"));
  absl::StatusOr<std::string> text = zip->Read(kBundleManifest, limits.member_bytes);
  if (!text.ok()) return unread(text.status());
  BundleManifest manifest;
  const auto parsed = ParseTextProto(*text, absl::StrCat(path, "/", kBundleManifest), &manifest);
  if (!parsed.ok()) return damaged(OneLine(std::string(parsed.status().message())));
  if (const absl::Status rules = CheckMessage(manifest); !rules.ok()) {
    return damaged(absl::StrCat(kBundleManifest, ": ", rules.message()));
  }
  if (manifest.bundle_version() > kBundleVersion) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": is a bundle of version ", manifest.bundle_version(),
                                                      ", this openset reads up to version ", kBundleVersion,
                                                      ": use the newer openset"));
  }
  if (manifest.schema_version() != schema_version) {
    const bool is_old = manifest.schema_version() == kSchemaVersion - 1;
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": has records of schema version ", manifest.schema_version(),
        schema_version == kSchemaVersion ? ", this openset reads version " : ", only those can be upgraded of version ",
        schema_version, is_old ? absl::StrCat(": openset records upgrade ", path, " NEW.zip") : ""));
  }
  const bool is_packed = manifest.bundle_version() > 1;
  if (is_packed && !zip->Has(kBundleRecords)) return damaged(absl::StrCat("has no ", kBundleRecords));
  const absl::StatusOr<std::string> sums = zip->Read(kBundleSums, limits.large_member_bytes);
  if (!sums.ok()) return unread(sums.status());
  absl::string_view sums_of_records = *sums;
  const absl::StatusOr<MemberSums> members = TakeMemberSums(is_packed, &sums_of_records);
  if (!members.ok()) return damaged(members.status().message());
  // Returns the content of a member that has its sum.
  const auto read = [&](const std::string& name, size_t max_bytes) -> absl::StatusOr<std::string> {
    absl::StatusOr<std::string> content = zip->Read(name, max_bytes);
    if (!content.ok()) return unread(content.status());
    const absl::Status checked = CheckMemberSum(*members, name, Sha256Hex(*content));
    if (!checked.ok()) return damaged(checked.message());
    return content;
  };
  const absl::Status of_manifest = CheckMemberSum(*members, kBundleManifest, Sha256Hex(*text));
  if (!of_manifest.ok()) return damaged(of_manifest.message());
  OPENSET_RETURN_IF_ERROR(read(kBundleSchema, limits.large_member_bytes).status());
  size_t library_bytes = 0;
  int64_t records = 0;  // without further records of the same trials
  const auto use_record = [&](const std::string& name, const std::string& content) {
    records += absl::StartsWith(name, "records/");
    return record(name, content);
  };
  for (const std::string& name : names) {
    if (name == kBundleManifest || name == kBundleSchema || name == kBundleSums) continue;
    if (is_packed && name == kBundleRecords) continue;
    if (IsBundleFile(name)) {
      const bool is_large = !absl::StartsWith(name, "library/");
      const bool is_wanted = file != nullptr && (wanted == nullptr || wanted(name));
      if (is_large && !is_wanted) continue;
      OPENSET_ASSIGN_OR_RETURN(const std::string content,
                               read(name, is_large ? limits.large_member_bytes : limits.member_bytes));
      if (!is_large && (library_bytes += content.size()) > limits.library_bytes) {
        return damaged(absl::StrCat("its library has more than ", limits.library_bytes, " bytes"));
      }
      if (is_wanted) OPENSET_RETURN_IF_ERROR(file(name, content));
      continue;
    }
    if (is_packed || TrialOfBundleMember(name).empty()) return damaged(UnexpectedMember(name));
    OPENSET_ASSIGN_OR_RETURN(const std::string bytes, read(name, limits.member_bytes));
    OPENSET_RETURN_IF_ERROR(use_record(name, bytes));
  }
  if (is_packed) {
    absl::Status stopped;  // by `record`
    const absl::Status status =
        ReadPackedRecords(&*zip, limits, FileSize(path), *members, sums_of_records,
                          [&](const auto& name, const auto& bytes) { return stopped = use_record(name, bytes); });
    OPENSET_RETURN_IF_ERROR(stopped);
    if (!status.ok()) return unread(status);
  }
  for (const auto& [name, sum] : *members) {
    if (!zip->Has(name)) {
      return damaged(absl::StrCat(kBundleSums, " lists '", OneLine(name), "', which is not in the bundle"));
    }
  }
  if (manifest.has_records() && records != manifest.records()) {
    return damaged(absl::StrCat("was written with ", manifest.records(), " records and has ", records,
                                ": somebody changed it; get it again"));
  }
  return digest.first;
}

}  // namespace openset
