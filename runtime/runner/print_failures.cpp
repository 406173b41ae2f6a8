// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/runner/print_failures.h"

#include <cstring>

#include "runtime/base/failure.h"
#include "runtime/platform/host_file.h"

namespace rushlight {

void print_error(Error error) {
  if (error == Error::Ok) return;
  platform::print_line(to_string(error));
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
