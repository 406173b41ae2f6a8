// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/runner/print_failures.h"

#include <cstring>

#include "runtime/base/failure.h"
#include "runtime/base/log.h"
#include "runtime/platform/host_file.h"

namespace rushlight {

namespace {

// By its name, or by its number in a build without logs, which is to hold no text.
void print_name(Error error) {
  if constexpr (RUSHLIGHT_LOG_LEVEL <= static_cast<int>(LogLevel::Error)) {
    platform::print_line(to_string(error));
  } else {
    const auto number = static_cast<unsigned>(error);
    char line[] = "error 0x00";
    line[8] = "0123456789abcdef"[number >> 4 & 15];
    line[9] = "0123456789abcdef"[number & 15];
    platform::print_line(line);
  }
}

}  // namespace

void print_error(Error error) {
  if (error == Error::Ok) return;
  print_name(error);
  const FailureTrace trace = failure_trace();
  if (trace.size == 0) return;
  char line[16 + 9 * kFailureRecords] = "failure:";
  size_t at = std::strlen(line);
  for (size_t i = 0; i < trace.size; ++i) {
    line[at++] = ' ';
    for (int shift = 28; shift >= 0; shift -= 4)
      line[at++] = "0123456789abcdef"[(trace.records[i] >> shift) & 15];
  }
  line[at] = '\0';
  platform::print_line(line);
}

}  // namespace rushlight
