// SPDX-License-Identifier: BSD-3-Clause
// RIFF: chunks of a name, a size (little-endian) and contents, padded to an even size. A size is compared
// with the bytes that the file still has before it is used.
#include "wav_file.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>

using rushlight::Error;
using rushlight::Result;

Error fail(Error code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::fputs("error: ", stderr);
  std::vfprintf(stderr, format, arguments);
  std::fputc('\n', stderr);
  va_end(arguments);
  return code;
}

namespace {

constexpr uint32_t kFormatSize = 16;
constexpr uint16_t kPcm = 1;

uint16_t u16(const unsigned char* bytes) { return static_cast<uint16_t>(bytes[0] | bytes[1] << 8); }

uint32_t u32(const unsigned char* bytes) { return u16(bytes) | static_cast<uint32_t>(u16(bytes + 2)) << 16; }

bool is(const unsigned char* bytes, const char* name) { return std::memcmp(bytes, name, 4) == 0; }

}  // namespace

Result<WavFile> WavFile::open(const std::string& path) {
  WavFile wav(path);
  RL_TRY(wav.read_header());
  return wav;
}

Error WavFile::read_header() {
  const char* path = path_.c_str();
  if (file_) file_.seekg(0, std::ios::end);
  const std::streamoff end = file_ ? static_cast<std::streamoff>(file_.tellg()) : -1;
  if (end < 0 || !file_.seekg(0)) return fail(Error::AccessFailed, "%s: expected a file, got none", path);
  left_ = static_cast<uint64_t>(end);
  std::array<unsigned char, 12> riff{};
  RL_TRY(take(riff.data(), riff.size(), "header"));
  if (!is(riff.data(), "RIFF") || !is(riff.data() + 8, "WAVE")) {
    return fail(Error::InvalidArgument, "%s: expected RIFF and WAVE, got another format", path);
  }
  for (bool has_format = false;;) {
    std::array<unsigned char, 8> chunk{};
    RL_TRY(take(chunk.data(), chunk.size(), has_format ? "chunk data" : "chunk fmt"));
    const uint32_t size = u32(chunk.data() + 4);
    if (size > left_) {
      const char* name = is(chunk.data(), "data")   ? "chunk data"
                         : is(chunk.data(), "fmt ") ? "chunk fmt"
                                                    : "other chunk";
      return fail(Error::InvalidArgument, "%s: %s: expected %u bytes, got %llu", path, name, size,
                  static_cast<unsigned long long>(left_));
    }
    if (is(chunk.data(), "data")) {
      if (!has_format) return fail(Error::InvalidArgument, "%s: expected chunk fmt first, got data", path);
      if (size % sizeof(int16_t) != 0) {
        return fail(Error::InvalidArgument, "%s: chunk data: expected an even size, got %u", path, size);
      }
      samples_ = size / sizeof(int16_t);
      return Error::Ok;
    }
    uint64_t rest = uint64_t{size} + size % 2;
    if (is(chunk.data(), "fmt ")) {
      RL_TRY(read_format(size));
      has_format = true;
      rest -= kFormatSize;
    }
    rest = rest < left_ ? rest : left_;
    file_.seekg(static_cast<std::streamoff>(rest), std::ios::cur);
    left_ -= rest;
  }
}

Error WavFile::read_format(uint32_t size) {
  if (size < kFormatSize) {
    return fail(Error::InvalidArgument, "%s: chunk fmt: expected %u bytes, got %u", path_.c_str(),
                kFormatSize, size);
  }
  std::array<unsigned char, kFormatSize> format{};
  RL_TRY(take(format.data(), format.size(), "chunk fmt"));
  struct Field {
    const char* name;
    uint32_t expected, got;
  };
  for (const Field& field : {
           Field{"format", kPcm, u16(format.data())},
           Field{"channels", 1, u16(format.data() + 2)},
           Field{"samples a second", kRate, u32(format.data() + 4)},
           Field{"bits a sample", 16, u16(format.data() + 14)},
       }) {
    if (field.got != field.expected) {
      return fail(Error::InvalidArgument, "%s: %s: expected %u, got %u", path_.c_str(), field.name,
                  field.expected, field.got);
    }
  }
  return Error::Ok;
}

Error WavFile::take(unsigned char* bytes, size_t size, const char* name) {
  if (size > left_) {
    return fail(Error::InvalidArgument, "%s: %s: expected %zu bytes, got %llu", path_.c_str(), name, size,
                static_cast<unsigned long long>(left_));
  }
  if (!file_.read(reinterpret_cast<char*>(bytes), static_cast<std::streamsize>(size))) {
    return fail(Error::AccessFailed, "%s: %s: expected %zu bytes, got a read error", path_.c_str(), name,
                size);
  }
  left_ -= size;
  return Error::Ok;
}

Error WavFile::read(std::vector<int16_t>& frame) {
  std::vector<unsigned char> bytes(frame.size() * sizeof(int16_t));
  RL_TRY(take(bytes.data(), bytes.size(), "samples"));
  for (size_t i = 0; i < frame.size(); ++i) frame[i] = static_cast<int16_t>(u16(&bytes[2 * i]));
  return Error::Ok;
}
