// Images: PNG, JPEG, WebP, TIFF, GIF, BMP, PNM.
#include <array>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "core/testing/archive_bytes.h"
#include "core/testing/byte_order.h"
#include "tools/testing/hostile/fixture.h"
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

// A TIFF file with these entries, of which each is a tag, a type, a number of values, and a value or its place.
std::string Tiff(const std::vector<std::array<uint32_t, 4>>& entries, const std::string& rest = "") {
  std::string bytes = std::string("II*\0\x08\0\0\0", 8) + LittleEndian(entries.size(), 2);
  for (const auto& [tag, type, count, value] : entries) {
    bytes += LittleEndian(tag, 2) + LittleEndian(type, 2) + LittleEndian(count) + LittleEndian(value);
  }
  return bytes + LittleEndian(0) + rest;
}

// A grey TIFF image with a compression, in one strip of 64 bytes after the entries.
std::string GreyTiff(uint32_t width, uint32_t height, uint32_t compression, uint32_t bits = 8) {
  return Tiff({{256, 4, 1, width},
               {257, 4, 1, height},
               {258, 3, 1, bits},
               {259, 3, 1, compression},
               {262, 3, 1, 1},
               {273, 4, 1, 8 + 2 + 9 * 12 + 4},
               {277, 3, 1, 1},
               {278, 4, 1, height},
               {279, 4, 1, 64}},
              std::string(64, '\0'));
}

std::string Gif(uint32_t width, uint32_t height, const std::string& rest) {
  return absl::StrCat("GIF89a", LittleEndian(width, 2), LittleEndian(height, 2), std::string("\x80\0\0", 3),
                      std::string(6, '\x7f'), rest);
}

// A frame of this size at this place, with the first of its pixels.
std::string GifFrame(uint32_t left, uint32_t top, uint32_t width, uint32_t height) {
  return absl::StrCat(",", LittleEndian(left, 2), LittleEndian(top, 2), LittleEndian(width, 2), LittleEndian(height, 2),
                      std::string("\0\2\2\x4c\1\0;", 7));
}

std::string Bmp(uint32_t width, uint32_t height, uint32_t bits, uint32_t compression, uint32_t begin,
                const std::string& rest) {
  return absl::StrCat("BM", LittleEndian(0, 8), LittleEndian(begin), LittleEndian(40), LittleEndian(width),
                      LittleEndian(height), LittleEndian(1, 2), LittleEndian(bits, 2), LittleEndian(compression),
                      LittleEndian(0, 20), rest);
}

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
    one.make = [bytes](const Fixture& fixture) { fixture.Write(kPath, bytes()); };
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
  add("WebP with an animation that has no frame",
      [] { return Riff(std::string("VP8X\x0a\0\0\0\2\0\0\0\3\0\0\3\0\0", 18)); });
  add("WebP whose frame lies outside its canvas", [] {
    std::string bytes = StoredImage("moving.webp");
    return bytes.replace(bytes.find("ANMF") + 8, 3, "\xff\xff\xff");
  });
  add("TIFF of 2^32 - 1 squared", [] { return GreyTiff(0xffffffff, 0xffffffff, 1); });
  add("TIFF of 60,000 squared", [] { return GreyTiff(60000, 60000, 1); });
  add("TIFF of 8,000 squared in 64 bytes", [] { return GreyTiff(8000, 8000, 5); });
  for (const uint32_t compression :
       {1, 2, 3, 4, 5, 6, 7, 8, 32773, 32809, 34661, 34676, 34712, 34887, 34925, 50000, 50001}) {
    add(
        absl::StrCat("TIFF of zeros with compression ", compression),
        [compression] { return GreyTiff(64, 64, compression, compression < 5 ? 1 : 8); }, End::kAnswered);
  }
  add(
      "TIFF of a fax of 8,000 squared", [] { return GreyTiff(8000, 8000, 4, 1); }, End::kAnswered);
  add("TIFF whose strip lies behind its end", [] {
    return Tiff(
        {{256, 4, 1, 4}, {257, 4, 1, 4}, {258, 3, 1, 8}, {262, 3, 1, 1}, {273, 4, 1, 0x7fffffff}, {279, 4, 1, 16}});
  });
  add("TIFF whose tag has 2^32 - 1 values", [] {
    return Tiff({{256, 4, 1, 4}, {257, 4, 1, 4}, {258, 3, 0xffffffff, 8}, {262, 3, 1, 1}, {273, 4, 0xffffffff, 8}});
  });
  add(
      "TIFF whose directories are a ring",
      [] {
        std::string bytes = GreyTiff(8, 8, 1);
        return bytes.replace(8 + 2 + 9 * 12, 4, LittleEndian(8));
      },
      End::kAnswered);
  add("TIFF with 65,535 tags", [] { return std::string("II*\0\x08\0\0\0\xff\xff", 10); });
  add("TIFF of 2^16 - 1 samples", [] {
    return Tiff({{256, 4, 1, 4}, {257, 4, 1, 4}, {258, 3, 1, 8}, {262, 3, 1, 2}, {273, 4, 1, 8}, {277, 3, 1, 65535}});
  });
  add("GIF of 65,535 squared", [] { return Gif(65535, 65535, GifFrame(0, 0, 65535, 65535)); });
  add("GIF of a large canvas", [] { return Gif(65535, 65535, GifFrame(0, 0, 1, 1)); });
  add("GIF whose frame lies far outside", [] { return Gif(8, 8, GifFrame(65535, 65535, 1, 1)); });
  add("GIF of no pixels", [] { return Gif(0, 0, GifFrame(0, 0, 0, 0)); });
  add("GIF without a frame", [] { return Gif(8, 8, ";"); });
  add("GIF without its pixels", [] { return StoredImage("palette.gif").substr(0, 80); });
  add("GIF with 1,000,000 extensions", [] {
    std::string extensions;
    for (int i = 0; i < 1000000; ++i) extensions += std::string("!\xfe\1x\0", 5);
    return Gif(8, 8, extensions);
  });
  add("BMP of 2^31 - 1 squared", [] { return Bmp(0x7fffffff, 0x7fffffff, 24, 0, 54, "x"); });
  add("BMP of -2^31 rows", [] { return Bmp(1, 0x80000000, 24, 0, 54, "x"); });
  add("BMP of no pixels", [] { return Bmp(0, 0, 24, 0, 54, "x"); });
  add("BMP whose pixels lie behind its end", [] { return Bmp(4, 4, 24, 0, 0xffffffff, std::string(64, 'x')); });
  add("BMP of 3 bits", [] { return Bmp(4, 4, 3, 0, 54, std::string(64, 'x')); });
  add("BMP compressed as JPEG", [] { return Bmp(4, 4, 0, 4, 54, std::string(64, 'x')); });
  add("BMP of runs of 8,000 squared", [] { return Bmp(8000, 8000, 8, 1, 54, std::string(1030, '\0')); });
  add("BMP of moves", [] { return Bmp(1000, 1000, 8, 1, 1078, std::string(1024, '\0') + std::string(200, '\2')); });
  add("BMP cut in its header", [] { return std::string("BM\0\0\0\0\0\0\0\0\0\0\0\0\x28\0\0\0", 18); });
  add("PPM of 60,000 squared", [] { return std::string("P6 60000 60000 255 x"); });
  add("PBM of 8,000 squared in text", [] { return std::string("P1 8000 8000 1 0 1"); });
  add("PPM of 10^18 columns", [] { return std::string("P6 1000000000000000000 1 255 x"); });
  add("PPM whose largest value is 0", [] { return std::string("P6 1 1 0 xxx"); });
  add("PGM that is a comment", [] { return "P2 #" + std::string(1 << 20, '#'); });
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
      one.make = [name](const Fixture& fixture) {
        fixture.Write("work/files/photos/cat/" + name, "no image");
        fixture.Write("work/files/photos/dog/" + name, StoredImage("rgb.png"));
      };
      one.writes = {"work/data/catalog", "work/catalog", "work/mine.textproto"};
      cases.push_back(one);
    }
    HostileCase folder = base;
    folder.command = {"data", "describe", "files/photos", "--name=mine"};
    folder.what = "a class called " + name;
    folder.end = End::kAnswered;
    folder.named = "";
    folder.make = [name](const Fixture& fixture) {
      fixture.Write("work/files/photos/" + name + "/1.png", StoredImage("rgb.png"));
      fixture.Write("work/files/photos/" + name + "/2.png", StoredImage("rgb.png"));
    };
    folder.writes = {"work/data/catalog", "work/catalog", "work/mine.textproto"};
    cases.push_back(folder);
  }
  HostileCase loop = base;
  loop.command = {"data", "describe", "files/photos", "--name=mine"};
  loop.what = "a folder that leads into itself";
  loop.end = End::kAnswered;
  loop.named = "";
  loop.make = [](const Fixture& fixture) {
    std::filesystem::create_directory_symlink("..", fixture.Path("work/files/photos/loop"));
  };
  loop.writes = {"work/data/catalog", "work/catalog", "work/mine.textproto"};
  cases.push_back(loop);
  return cases;
}

}  // namespace openset
