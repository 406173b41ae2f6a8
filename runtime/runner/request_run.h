// SPDX-License-Identifier: BSD-3-Clause
// The two plain ways to run a program: on the calls of a request, or on nothing but ones.
#pragma once

#include "runtime/runner/loaded_method.h"

namespace rushlight {

// Runs a request's calls (case_stream.h) in order and writes the response to the file `outputs`; calls of
// one method share its state, whatever is called between them.
Error run_request(const Program& program, const RunOptions& options, Span<const uint8_t> request,
                  const char* outputs, size_t program_bytes);

// Every method once, on ones: shows that a program loads and runs at all.
Error run_on_ones(const Program& program, const RunOptions& options);

}  // namespace rushlight
