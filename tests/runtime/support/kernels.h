// SPDX-License-Identifier: BSD-3-Clause
// Kernels for tests of the executor: each one does something that a hostile program may exploit.
#pragma once

#include "runtime/kernel/operator_table.h"

namespace rushlight::testing {

// test::add(Tensor a, Tensor b, Tensor(a!) out): float; b may have one element. Resizes out.
// test::add_int(Any a, Any b, Any(a!) out)
// test::concat(Tensor[] parts, Tensor(a!) out): float; parts one after another.
// test::fail(Tensor(a!) out): returns Internal.
// test::is_positive(Tensor a, Tensor(a!) out): a[0] > 0, as one bool.
// test::resize(Tensor(a!) out, int size): to `size` elements, all 7.
// test::scratch(int bytes): asks for `bytes` of scratch memory.
// test::split(Tensor a, Tensor(a!)[] parts): float; parts one after another.
// test::typed(Tensor, int, float, bool, Scalar, str, int[], float[], bool[], Tensor[], Tensor?[]):
//   returns Ok.
// test::typed.optional(Tensor?, int?, float?, Scalar?)
// test::view(Tensor self, int[] size, Any(a!) out)
extern const OperatorTable kernels;

}  // namespace rushlight::testing
