// SPDX-License-Identifier: BSD-3-Clause
// Products of complex matrices as one real product: rows of `a` are real rows of twice the length, real and
// imaginary parts in turn, and each element of `b` becomes two rows and two columns,
//
//   re(b)   im(b)
//   -im(b)  re(b)
//
// so that the real product has the elements of the complex one in their order. This takes as many
// multiply-adds as four real products, but `out` is written once, and neither `a` nor `out` is copied.
#pragma once

#include <cstddef>

#include "kernels/matmul/product.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::host {

// Bytes of scratch memory, aligned to 64, that multiply_complex() uses.
[[nodiscard]] size_t complex_scratch_bytes(const Product& product);

// Computes the product, whose dtype is complex, on the threads of the context; any strides. The bias may be
// `out` itself. Errors: MemoryAllocationFailed (no scratch memory).
[[nodiscard]] Error multiply_complex(KernelContext& context, const Product& product, void* scratch);

}  // namespace rushlight::kernels::host
