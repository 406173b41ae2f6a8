// SPDX-License-Identifier: BSD-3-Clause
// Reads a WAV file frame by frame: 16-bit PCM, one channel, 16 kHz. The file is not trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/base/result.h"

// Prints "error: " and the message on a line of stderr, and returns `code`.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
rushlight::Error
fail(rushlight::Error code, const char* format, ...);

class WavFile {
 public:
  static constexpr uint32_t kRate = 16000;

  // Reads the header; other chunks than "fmt " and "data" are skipped. Errors, each printed: AccessFailed (no
  // such file), InvalidArgument (another format, or fewer samples than the header says).
  [[nodiscard]] static rushlight::Result<WavFile> open(const std::string& path);

  [[nodiscard]] size_t samples() const { return samples_; }

  // Reads the next frame.size() samples. Errors, printed: AccessFailed, InvalidArgument (the file ends).
  rushlight::Error read(std::vector<int16_t>& frame);

 private:
  explicit WavFile(const std::string& path) : path_(path), file_(path, std::ios::binary) {}

  rushlight::Error read_header();
  rushlight::Error read_format(uint32_t size);
  rushlight::Error take(unsigned char* bytes, size_t size, const char* name);

  std::string path_;
  std::ifstream file_;
  uint64_t left_ = 0;  // bytes of the file behind what was read
  size_t samples_ = 0;
};
