// SPDX-License-Identifier: BSD-3-Clause
// Running the cases of a .bpte: its inputs into a method, the method's outputs against what it expects.
//
//   load_bundled_input(method, test_case, &arena);
//   method.execute();
//   verify_method_outputs(method, test_case);
#pragma once

#include "runtime/executor/method.h"
#include "runtime/memory/arena.h"
#include "runtime/program/bundled_program.h"

namespace rushlight {

// A float passes if it differs from the expected one by at most absolute + relative * |expected|. A part that
// is kByDtype comes from a table by the output's dtype (bundled_method.cpp); its absolute part is multiplied
// by max(1, max|expected|) of the tensor, as errors of sums grow with their terms.
struct BundledTolerance {
  static constexpr double kByDtype = -1;
  double relative = kByDtype;
  double absolute = kByDtype;
};

// How far outputs are from the expected ones, over the elements of all tensors of floats and over all
// numbers. Elements that are NaN or infinite on both sides alike differ by nothing; on one side, by
// infinity. A relative error is of the expected value, where that is not 0.
struct BundledErrorStats {
  double mean_absolute = 0;
  double max_absolute = 0;
  double mean_relative = 0;
  double max_relative = 0;
};

// Gives `method` all inputs of a case. Tensors that the method uses in place stay in the bundle, or are
// copied to `memory` where the bundle has them misaligned for their dtype; without `memory` that fails.
// Errors: InvalidArgument (number of inputs, alignment, or what set_input says), MemoryAllocationFailed.
Error load_bundled_input(Method& method, const BundledCase& test_case, Arena* memory = nullptr);

// Holds the outputs of an executed method against a case: same number, kinds, shapes, dtypes and dim orders;
// integers and booleans equal, floats within the tolerance, NaN and infinities alike.
// Errors: InvalidArgument for the first difference, which is logged with its place; NotSupported when the
// case expects nothing.
Error verify_method_outputs(const Method& method, const BundledCase& test_case,
                            const BundledTolerance& tolerance = {});

// Errors: InvalidArgument for outputs of another number, kind, shape, dtype or dim order; NotSupported when
// the case expects nothing.
[[nodiscard]] Result<BundledErrorStats> compute_method_output_error_stats(const Method& method,
                                                                          const BundledCase& test_case);

}  // namespace rushlight
