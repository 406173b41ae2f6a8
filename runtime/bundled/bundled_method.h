// SPDX-License-Identifier: BSD-3-Clause
// Runs the test cases of a bundled program: sets a case's inputs and compares the outputs with the expected
// ones.
//
//   auto test_case = bundle.test_case("forward", 0);
//   load_bundled_input(method, *test_case, &arena);
//   method.execute();
//   verify_method_outputs(method, *test_case);
#pragma once

#include "runtime/executor/method.h"
#include "runtime/memory/arena.h"
#include "runtime/program/bundled_program.h"

namespace rushlight {

// A floating-point element passes if |actual - expected| <= absolute + relative * |expected|. A part that is
// kByDtype is replaced by a default for the output's dtype (table in bundled_method.cpp). The default
// absolute part is multiplied by max(1, max|expected|) of the tensor, because errors of sums grow with their
// terms.
struct BundledTolerance {
  static constexpr double kByDtype = -1;
  double relative = kByDtype;
  double absolute = kByDtype;
};

// Differences between actual and expected outputs, over all elements and numbers. NaN equals NaN and
// infinities equal themselves; any other difference that involves them is infinite. Relative errors refer to
// the expected value and are 0 where it is 0.
struct BundledErrorStats {
  double mean_absolute = 0;
  double max_absolute = 0;
  double mean_relative = 0;
  double max_relative = 0;
};

// Sets all inputs of `method` from a case. Aligned tensors that the method uses in place stay in the bundle,
// which must then outlive the execution. Tensors that are misaligned for their dtype are copied to `memory`;
// if it is null, this is an error. Errors: InvalidArgument (number of inputs, alignment),
// MemoryAllocationFailed, or as Method::set_input().
Error load_bundled_input(Method& method, const BundledCase& test_case, Arena* memory = nullptr);

// Compares the outputs of an executed method with a case: number, kinds, shapes, dtypes and dim orders must
// be equal; integers and booleans equal; floating-point values within the tolerance, NaN and infinities
// equal. Errors: InvalidArgument (logs the position of the first difference), NotSupported (the case has no
// expected outputs).
Error verify_method_outputs(const Method& method, const BundledCase& test_case,
                            const BundledTolerance& tolerance = {});

// Computes the error statistics of an executed method's outputs. Errors: InvalidArgument (number, kind,
// shape, dtype or dim order differ), NotSupported (the case has no expected outputs).
[[nodiscard]] Result<BundledErrorStats> compute_method_output_error_stats(const Method& method,
                                                                          const BundledCase& test_case);

}  // namespace rushlight
