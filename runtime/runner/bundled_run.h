// SPDX-License-Identifier: BSD-3-Clause
// Runs a bundled program against its own expected outputs.
#pragma once

#include "runtime/bundled/bundled_method.h"
#include "runtime/runner/loaded_method.h"

namespace rushlight {

// Runs every test case of `bundle`, each on a newly loaded method, and prints one line per case: "forward 0:
// pass". Errors: InvalidArgument if a case fails, after all have run; errors of loading and executing at
// once.
Error run_bundle(const BundledProgram& bundle, const Program& program, const RunOptions& options,
                 const BundledTolerance& tolerance);

// Reads the tolerance from --rtol and --atol. Error: InvalidArgument (not a non-negative number).
[[nodiscard]] Result<BundledTolerance> tolerance_of(int argc, char** argv);

}  // namespace rushlight
