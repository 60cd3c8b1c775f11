// Images: PNG, JPEG, WebP.
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "core/testing/archive_bytes.h"
#include "core/testing/byte_order.h"
#include "tools/testing/hostile/ground_files.h"
#include "tools/testing/hostile/hostile_case.h"

namespace openset {
namespace {

const char kPath[] = "work/files/photos/cat/1.png";

std::string Chunk(const std::string& type, const std::string& content) {
  const std::string both = type + content;
  return BigEndian(content.size()) + both + BigEndian(Crc32(both));
}

std::string Png(uint32_t width, uint32_t height, const std::string& rest, int depth = 8, int type = 2,
                int interlace = 0) {
  return absl::StrCat("\x89PNG\r\n\x1a\n",
                      Chunk("IHDR", BigEndian(width) + BigEndian(height) + BigEndian(depth, 1) + BigEndian(type, 1) +
                                        BigEndian(0, 2) + BigEndian(interlace, 1)),
                      rest, Chunk("IEND", ""));
}

// A progressive JPEG whose scans are repeated.
std::string ManyScans(int times) {
  const std::string image = StoredImage("progressive.jpeg");
  const size_t last = image.rfind("\xff\xda");
  std::string bytes = image.substr(0, last);
  for (int i = 0; i < times; ++i) bytes += image.substr(last, image.size() - 2 - last);
  return bytes + "\xff\xd9";
}

// The image with another width and height in its header.
std::string Resized(const std::string& name, uint32_t height, uint32_t width) {
  std::string bytes = StoredImage(name);
  for (const char* marker : {"\xff\xc0", "\xff\xc2"}) {
    const size_t at = bytes.find(marker);
    if (at != std::string::npos) bytes.replace(at + 5, 4, BigEndian(height, 2) + BigEndian(width, 2));
  }
  return bytes;
}

std::string Riff(const std::string& content) { return "RIFF" + LittleEndian(content.size() + 4) + "WEBP" + content; }

}  // namespace

std::vector<HostileCase> ImageCases() {
  HostileCase base{"image",       "",     {"data", "verify", "photos", "--images", "--library=.", "--data=files"}, {},
                   End::kRefused, "1.png"};
  std::vector<HostileCase> cases = CasesOfFile(base, kPath);
  for (HostileCase& one : cases) {
    // A folder is not an image, so one image is missing.
    if (one.what == "a folder" || one.what == "a link to a folder") one.named = "photos";
  }
  const auto add = [&](const std::string& what, const std::function<std::string()>& bytes, End end = End::kRefused) {
    HostileCase one = base;
    one.what = what;
    one.make = [bytes](const Ground& ground) { ground.Write(kPath, bytes()); };
    one.end = end;
    if (end != End::kRefused) one.named = "";
    cases.push_back(one);
  };
  add("PNG of 2^31 - 1 squared", [] { return Png(0x7fffffff, 0x7fffffff, Chunk("IDAT", ZlibBytes("x"))); });
  add("PNG of 60,000 squared", [] { return Png(60000, 60000, Chunk("IDAT", ZlibBytes(std::string(1 << 20, '\0')))); });
  add(
      "PNG of 8,192 squared whose pixels unfold",
      [] { return Png(8192, 8192, Chunk("IDAT", ZlibBytes(std::string(8192 * (8192 * 3 + 1), '\0')))); },
      End::kAnswered);
  add("PNG of no pixels", [] { return Png(0, 0, Chunk("IDAT", ZlibBytes(""))); });
  add("PNG of depth 255", [] { return Png(4, 4, Chunk("IDAT", ZlibBytes("x")), 255); });
  add("PNG of type 7", [] { return Png(4, 4, Chunk("IDAT", ZlibBytes("x")), 8, 7); });
  add("PNG, interlaced, without its rows", [] { return Png(100, 100, Chunk("IDAT", ZlibBytes("x")), 8, 2, 1); });
  add("PNG with a palette of 1,000",
      [] { return Png(4, 4, Chunk("PLTE", std::string(3000, 'x')) + Chunk("IDAT", ZlibBytes("x")), 8, 3); });
  add(
      "PNG with 50,000 chunks of text",
      [] {
        std::string chunks;
        for (int i = 0; i < 50000; ++i) chunks += Chunk("tEXt", std::string("k\0v", 3));
        return Png(1, 1, chunks + Chunk("IDAT", ZlibBytes(std::string(4, '\0'))));
      },
      End::kAnswered);
  add(
      "PNG with a text that unfolds",
      [] {
        return Png(1, 1,
                   Chunk("zTXt", std::string("k\0\0", 3) + ZlibBytes(std::string(200 << 20, '\0'))) +
                       Chunk("IDAT", ZlibBytes(std::string(4, '\0'))));
      },
      End::kAnswered);
  add(
      "PNG with a profile that unfolds",
      [] {
        return Png(1, 1,
                   Chunk("iCCP", std::string("k\0\0", 3) + ZlibBytes(std::string(200 << 20, '\0'))) +
                       Chunk("IDAT", ZlibBytes(std::string(4, '\0'))));
      },
      End::kAnswered);
  add("PNG whose chunk says it has 2 GB",
      [] { return absl::StrCat("\x89PNG\r\n\x1a\n", BigEndian(0x7fffffff), "IHDR"); });
  add("PNG without an end", [] { return StoredImage("rgb.png").substr(0, 60); });
  add("JPEG with 2,000 scans", [] { return ManyScans(2000); });
  add("JPEG with 2,000 scans of 16,000 squared", [] {
    std::string bytes = ManyScans(2000);
    const size_t at = bytes.find("\xff\xc2");
    return bytes.replace(at + 5, 4, BigEndian(16000, 2) + BigEndian(16000, 2));
  });
  add("JPEG of 65,535 squared", [] { return Resized("rgb.jpg", 65535, 65535); });
  add(
      "JPEG of 8,000 squared", [] { return Resized("rgb.jpg", 8000, 8000); }, End::kAnswered);
  add("JPEG of no rows", [] { return Resized("rgb.jpg", 0, 16); });
  add("JPEG of 1,000,000 markers", [] {
    std::string bytes = "\xff\xd8";
    for (int i = 0; i < 1000000; ++i) bytes += std::string("\xff\xfe\0\2", 4);
    return bytes;
  });
  add(
      "JPEG with EXIF that leads into itself",
      [] {
        std::string exif("Exif\0\0MM\0\x2a\0\0\0\x08\xff\xff", 16);
        return absl::StrCat("\xff\xd8\xff\xe1", BigEndian(exif.size() + 2, 2), exif, StoredImage("rgb.jpg").substr(2));
      },
      End::kAnswered);
  add("JPEG without its pixels", [] { return StoredImage("rgb.jpg").substr(0, 200); });
  add("WebP of 16,384 squared", [] { return Riff(std::string("VP8L\x0a\0\0\0\x2f\xff\xff\xff\x0f\0\0\0\0\0", 18)); });
  add("WebP whose canvas is 2^24 squared",
      [] { return Riff(std::string("VP8X\x0a\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff", 18)); });
  add("WebP whose chunk says it has 4 GB", [] { return Riff("VP8 " + std::string(4, '\xff') + "x"); });
  add("WebP without its pixels", [] { return StoredImage("lossy.webp").substr(0, 30); });
  add("an archive", [] { return ZipBytes({{"1.png", "x"}}); });
  add("a program", [] { return std::string("#!/bin/sh\ntouch pwn\n"); });
  // Names of files.
  for (const std::string name : {"\x1b]0;x\a.png", "\xff\xfe.png", "a\nb.png", "=1+1.png", "x';touch pwn;'.png"}) {
    for (const std::vector<std::string>& command : {base.command,
                                                    {"data", "audit", "photos", "--library=.", "--data=files"},
                                                    {"data", "describe", "files/photos", "--name=mine"}}) {
      HostileCase one = base;
      one.command = command;
      one.what = "the name " + name;
      one.end = End::kAnswered;
      one.named = "";
      one.make = [name](const Ground& ground) {
        ground.Write("work/files/photos/cat/" + name, "no image");
        ground.Write("work/files/photos/dog/" + name, StoredImage("rgb.png"));
      };
      one.writes = {"work/data/catalog", "work/catalog", "work/mine.textproto"};
      cases.push_back(one);
    }
    HostileCase folder = base;
    folder.command = {"data", "describe", "files/photos", "--name=mine"};
    folder.what = "a class called " + name;
    folder.end = End::kAnswered;
    folder.named = "";
    folder.make = [name](const Ground& ground) {
      ground.Write("work/files/photos/" + name + "/1.png", StoredImage("rgb.png"));
      ground.Write("work/files/photos/" + name + "/2.png", StoredImage("rgb.png"));
    };
    folder.writes = {"work/data/catalog", "work/catalog", "work/mine.textproto"};
    cases.push_back(folder);
  }
  HostileCase loop = base;
  loop.command = {"data", "describe", "files/photos", "--name=mine"};
  loop.what = "a folder that leads into itself";
  loop.end = End::kAnswered;
  loop.named = "";
  loop.make = [](const Ground& ground) {
    std::filesystem::create_directory_symlink("..", ground.Path("work/files/photos/loop"));
  };
  loop.writes = {"work/data/catalog", "work/catalog", "work/mine.textproto"};
  cases.push_back(loop);
  return cases;
}

}  // namespace openset
