// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/runner/outcome.h"

#include <cstring>

#include "runtime/base/failure.h"
#include "runtime/base/log.h"
#include "runtime/platform/host_file.h"
#include "runtime/runner/model_files.h"

namespace rushlight {

namespace {

// The last `digits` hexadecimal digits of a number.
void put_hex(char* to, uint32_t number, int digits) {
  for (; digits-- > 0; number >>= 4) to[digits] = "0123456789abcdef"[number & 15];
}

// By its name, or by its number in a build without logs, which is to hold no text.
void print_name(Error error) {
  if constexpr (RUSHLIGHT_LOG_LEVEL <= static_cast<int>(LogLevel::Error)) {
    platform::print_line(to_string(error));
  } else {
    char line[] = "error 0x00";
    put_hex(line + 8, static_cast<uint32_t>(error), 2);
    platform::print_line(line);
  }
}

void print_records(const FailureTrace& trace) {
  char line[16 + 9 * kFailureRecords] = "failure:";
  char* at = line + std::strlen(line);
  for (size_t i = 0; i < trace.size; ++i, at += 9) {
    *at = ' ';
    put_hex(at + 1, trace.records[i], 8);
  }
  *at = '\0';
  platform::print_line(line);
}

void write_outcome(const char* path, const Outcome& outcome, const FailureTrace& trace) {
  constexpr uint32_t kHasLogs = RUSHLIGHT_LOG_LEVEL < 3;
  uint32_t head[] = {0,        static_cast<uint32_t>(outcome.error), outcome.lost_events, outcome.lost_values,
                     kHasLogs, static_cast<uint32_t>(trace.size)};
  std::memcpy(head, "RLOC", 4);
  const int file = platform::file_open(path, platform::FileMode::Write);
  if (file < 0) return;
  // A file that is cut off is as good as none.
  static_cast<void>(platform::file_write(file, head, sizeof head));
  static_cast<void>(platform::file_write(file, trace.records, trace.size * sizeof *trace.records));
  platform::file_close(file);
}

}  // namespace

void tell_outcome(int argc, char** argv, const Outcome& outcome) {
  FailureTrace trace;
  trace.size = 0;
  if (outcome.error != Error::Ok) {
    print_name(outcome.error);
    trace = failure_trace();
    if (RUSHLIGHT_LOG_LEVEL >= 3 && trace.size != 0) print_records(trace);
  }
  if (const char* path = argument(argc, argv, "--outcome")) write_outcome(path, outcome, trace);
}

}  // namespace rushlight
