// SPDX-License-Identifier: BSD-3-Clause
#include "image_file.h"

#include <cctype>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

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

using Pixels = std::vector<float>;

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(Error::AccessFailed, "%s: expected a file that can be read", path.c_str());
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

Result<Pixels> read_csv(const std::string& path, const std::string& text) {
  Pixels pixels;
  for (const char* at = text.c_str(); *at != '\0';) {
    if (std::isspace(static_cast<unsigned char>(*at)) != 0 || *at == ',') {
      ++at;
      continue;
    }
    char* end = nullptr;
    const float value = std::strtof(at, &end);
    if (end == at || !std::isfinite(value)) {
      return fail(Error::InvalidArgument, "%s: number %zu: expected a finite number", path.c_str(),
                  pixels.size());
    }
    pixels.push_back(value);
    at = end;
  }
  return pixels;
}

// Takes numbers off the front of a .pgm file, over white space and comments.
class PgmReader {
 public:
  PgmReader(const std::string& path, const std::string& text) : path_(path), text_(text) {}

  Result<unsigned> number(const char* name, unsigned most) {
    skip();
    const size_t begin = at_;
    unsigned value = 0;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 && value <= most) {
      value = 10 * value + static_cast<unsigned>(text_[at_++] - '0');
    }
    if (at_ == begin || value > most) {
      return fail(Error::InvalidArgument, "%s: %s: expected a number up to %u", path_.c_str(), name, most);
    }
    return value;
  }

  // The bytes begin behind the last number of the header and one white space.
  Result<unsigned> byte(size_t index, unsigned most) const {
    const size_t at = at_ + 1 + index;
    if (at >= text_.size() || static_cast<unsigned char>(text_[at]) > most) {
      return fail(Error::InvalidArgument, "%s: pixel %zu: expected a byte up to %u", path_.c_str(), index,
                  most);
    }
    return static_cast<unsigned char>(text_[at]);
  }

 private:
  void skip() {
    bool is_comment = false;
    for (; at_ < text_.size(); ++at_) {
      const char letter = text_[at_];
      is_comment = letter == '#' || (is_comment && letter != '\n');
      if (!is_comment && std::isspace(static_cast<unsigned char>(letter)) == 0) return;
    }
  }

  const std::string& path_;
  const std::string& text_;
  size_t at_ = 2;  // behind the magic
};

Result<Pixels> read_pgm(const std::string& path, const std::string& text, size_t count) {
  const std::string magic = text.substr(0, 2);
  if (magic != "P2" && magic != "P5")
    return fail(Error::InvalidArgument, "%s: expected P2 or P5", path.c_str());
  PgmReader reader(path, text);
  RL_TRY_ASSIGN(const unsigned width, reader.number("width", 10000));
  RL_TRY_ASSIGN(const unsigned height, reader.number("height", 10000));
  RL_TRY_ASSIGN(const unsigned most, reader.number("maximum", 255));
  if (size_t{width} * height != count || most == 0) {
    return fail(Error::InvalidArgument, "%s: expected %zu pixels, got %u x %u with maximum %u", path.c_str(),
                count, width, height, most);
  }
  Pixels pixels(count);
  for (size_t i = 0; i < count; ++i) {
    RL_TRY_ASSIGN(const unsigned value, magic == "P5" ? reader.byte(i, most) : reader.number("pixel", most));
    pixels[i] = static_cast<float>(value) / static_cast<float>(most);
  }
  return pixels;
}

}  // namespace

Result<Pixels> read_image(const std::string& path, size_t count) {
  RL_TRY_ASSIGN(const std::string text, read_file(path));
  if (ends_with(path, ".pgm")) return read_pgm(path, text, count);
  if (!ends_with(path, ".csv")) {
    return fail(Error::InvalidArgument, "%s: expected a name that ends in .csv or .pgm", path.c_str());
  }
  RL_TRY_ASSIGN(Pixels pixels, read_csv(path, text));
  if (pixels.size() != count) {
    return fail(Error::InvalidArgument, "%s: expected %zu numbers, got %zu", path.c_str(), count,
                pixels.size());
  }
  return pixels;
}
