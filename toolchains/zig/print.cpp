// SPDX-License-Identifier: BSD-3-Clause
// snprintf for log lines: integers, characters and strings. Other conversions are copied to the output.
#include <cstdarg>
#include <cstddef>
#include <cstdint>

namespace {

class Line {
 public:
  Line(char* text, size_t size) : text_(text), size_(size) {}

  void put(char c) {
    if (length_ + 1 < size_) text_[length_] = c;
    ++length_;
  }

  void fill(char c, int count) {
    for (; count > 0; --count) put(c);
  }

  // Terminates the text and returns its full length, as snprintf does.
  int end() {
    if (size_ > 0) text_[length_ < size_ ? length_ : size_ - 1] = '\0';
    return static_cast<int>(length_);
  }

 private:
  char* text_;
  size_t size_;
  size_t length_ = 0;
};

struct Conversion {
  bool zeros = false;
  bool left = false;
  int width = 0;
  int precision = -1;
  int longs = 0;  // 1: long, size_t, pointers; 2: long long
  char kind = '\0';
};

int number(const char** format) {
  int value = 0;
  for (; **format >= '0' && **format <= '9'; ++*format) value = 10 * value + (**format - '0');
  return value;
}

// `format` points behind the percent sign, and is advanced behind the conversion.
Conversion read(const char** format) {
  Conversion result;
  for (;; ++*format) {
    if (**format == '0') {
      result.zeros = true;
    } else if (**format == '-') {
      result.left = true;
    } else {
      break;
    }
  }
  result.width = number(format);
  if (**format == '.') {
    ++*format;
    result.precision = number(format);
  }
  for (;; ++*format) {
    switch (**format) {
      case 'l':
        ++result.longs;
        continue;
      case 'j':
        result.longs = 2;
        continue;
      case 'z':
      case 't':
        result.longs = 1;
        continue;
      case 'h':
        continue;
      default:
        break;
    }
    break;
  }
  result.kind = **format;
  if (result.kind != '\0') ++*format;
  return result;
}

void put_string(Line& line, const Conversion& conversion, const char* text) {
  int length = 0;
  while (length != conversion.precision && text[length] != '\0') ++length;
  if (!conversion.left) line.fill(' ', conversion.width - length);
  for (int i = 0; i < length; ++i) line.put(text[i]);
  if (conversion.left) line.fill(' ', conversion.width - length);
}

void put_number(Line& line, const Conversion& conversion, uint64_t value, bool negative) {
  char digits[20];
  int count = 0;
  const uint64_t base = conversion.kind == 'x' || conversion.kind == 'p' ? 16 : 10;
  do {
    digits[count++] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value != 0);
  const int length = count + (negative ? 1 : 0);
  if (!conversion.left && !conversion.zeros) line.fill(' ', conversion.width - length);
  if (negative) line.put('-');
  if (conversion.zeros && !conversion.left) line.fill('0', conversion.width - length);
  while (count > 0) line.put(digits[--count]);
  if (conversion.left) line.fill(' ', conversion.width - length);
}

}  // namespace

extern "C" {

int vsnprintf(char* text, size_t size, const char* format, va_list arguments) {
  Line line(text, size);
  while (*format != '\0') {
    if (*format != '%') {
      line.put(*format++);
      continue;
    }
    const char* const start = format++;
    const Conversion conversion = read(&format);
    switch (conversion.kind) {
      case '%':
        line.put('%');
        break;
      case 'c':
        line.put(static_cast<char>(va_arg(arguments, int)));
        break;
      case 's':
        put_string(line, conversion, va_arg(arguments, const char*));
        break;
      case 'p':
        put_number(line, conversion, va_arg(arguments, uintptr_t), false);
        break;
      case 'd':
      case 'i': {
        const int64_t value = conversion.longs == 0   ? va_arg(arguments, int)
                              : conversion.longs == 1 ? va_arg(arguments, long)
                                                      : va_arg(arguments, long long);
        const uint64_t magnitude =
            value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
        put_number(line, conversion, magnitude, value < 0);
        break;
      }
      case 'u':
      case 'x':
        put_number(line, conversion,
                   conversion.longs == 0   ? va_arg(arguments, unsigned)
                   : conversion.longs == 1 ? va_arg(arguments, unsigned long)
                                           : va_arg(arguments, unsigned long long),
                   false);
        break;
      default:
        for (const char* c = start; c != format; ++c) line.put(*c);
    }
  }
  return line.end();
}

int snprintf(char* text, size_t size, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, size, format, arguments);
  va_end(arguments);
  return length;
}

}  // extern "C"
