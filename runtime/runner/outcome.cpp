// SPDX-License-Identifier: BSD-3-Clause
// The outcome is binary, like the case stream: building JSON would need printf on the target.
#include "runtime/runner/outcome.h"

#include <cstddef>

#include "runtime/base/failure.h"
#include "runtime/base/log.h"
#include "runtime/platform/host_file.h"
#include "runtime/runner/model_files.h"

namespace rushlight {

namespace {

// The file, byte for byte. Records beyond trace.size are not written.
struct File {
  uint32_t magic = 0x434f4c52;  // "RLOC"
  uint32_t error;
  TraceLoss lost;
  uint32_t has_logs = RUSHLIGHT_LOG_LEVEL < 3;
  FailureTrace trace;
};
static_assert(sizeof(File) == 4 * (6 + kFailureRecords));

// Prints a label and 1 to kFailureRecords hexadecimal numbers with `digits` digits each.
void print_hex(const char* label, const uint32_t* numbers, size_t count, int digits) {
  char line[16 + 9 * kFailureRecords];
  char* at = line;
  while (*label != '\0') *at++ = *label++;
  for (const uint32_t* end = numbers + count; numbers != end; ++numbers) {
    uint32_t rest = *numbers;
    for (int i = digits; i-- > 0; rest >>= 4) at[i] = "0123456789abcdef"[rest & 15];
    at[digits] = ' ';
    at += digits + 1;
  }
  // The last blank becomes the end of the string.
  at[-1] = '\0';
  platform::print_line(line);
}

void print_error(const File& file) {
  // A build without logs links no text.
  if constexpr (RUSHLIGHT_LOG_LEVEL < 3) {
    platform::print_line(to_string(static_cast<Error>(file.error)));
  } else {
    print_hex("error 0x", &file.error, 1, 2);
    if (file.trace.size != 0) print_hex("failure: ", file.trace.records, file.trace.size, 8);
  }
}

}  // namespace

void tell_outcome(int argc, char** argv, Error error, TraceLoss lost) {
  File file;
  file.error = static_cast<uint32_t>(error);
  file.lost = lost;
  if (error != Error::Ok) {
    file.trace = failure_trace();
    print_error(file);
  }
  const char* path = argument(argc, argv, "--outcome");
  if (path == nullptr) return;
  const int handle = platform::file_open(path, platform::FileMode::Write);
  if (handle < 0) return;
  // Up to the last valid record.
  const size_t size = offsetof(File, trace.records) + file.trace.size * sizeof *file.trace.records;
  // Readers treat a truncated file like a missing one.
  static_cast<void>(platform::file_write(handle, &file, size));
  platform::file_close(handle);
}

}  // namespace rushlight
