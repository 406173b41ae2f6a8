// SPDX-License-Identifier: BSD-3-Clause
// Executes a program on the calls of a request, or on inputs of ones.
#pragma once

#include "runtime/runner/loaded_method.h"

namespace rushlight {

// Executes a request's calls (case_stream.h) in order and writes the response to the file `outputs`. Calls of
// one method share its state, even if other methods are called in between.
Error run_request(const Program& program, const RunOptions& options, Span<const uint8_t> request,
                  const char* outputs, size_t program_bytes);

// Executes every method once on ones, which shows that the program loads and runs.
Error run_on_ones(const Program& program, const RunOptions& options);

}  // namespace rushlight
