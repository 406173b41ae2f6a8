// SPDX-License-Identifier: BSD-3-Clause
// Max-unpooling: scatters each value to the index that its max-pool recorded.
#pragma once

#include <cstdint>

#include "kernels/geometry/spatial.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

enum class Unpooling : uint8_t {
  kCopy,
  kAdd,  // adds up values with the same index; -1 is skipped
};

// Sets `target`, which has its shape, to zero, and writes every element of `picked` to its index. Indices are
// row-major within the spatial dimensions; each is read and checked once. With kCopy the last of equal
// indices wins. InvalidType unless the dtypes are equal and the indices int64; InvalidArgument if shapes
// differ or an index is out of range (`target` has been written then).
Error unpool(Unpooling how, size_t spatial, const Tensor& picked, const Tensor& indices,
             const Tensor& target);

}  // namespace rushlight::kernels
