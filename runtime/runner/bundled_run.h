// SPDX-License-Identifier: BSD-3-Clause
// Running a bundled program against its own expectations.
#pragma once

#include "runtime/bundled/bundled_method.h"
#include "runtime/runner/loaded_method.h"

namespace rushlight {

// Runs every case of every method of `bundle`, each on a method loaded for it, and prints a line for each:
// "forward 0: pass". Errors: InvalidArgument when a case fails, once all have run; what loading and
// executing return, at once.
Error run_bundle(const BundledProgram& bundle, const Program& program, const RunOptions& options,
                 const BundledTolerance& tolerance);

// A tolerance as --rtol and --atol give it. Error: InvalidArgument for what is no number.
[[nodiscard]] Result<BundledTolerance> tolerance_of(int argc, char** argv);

}  // namespace rushlight
