// SPDX-License-Identifier: BSD-3-Clause
// From the elements that a pool has picked back to where it picked them.
#pragma once

#include <cstdint>

#include "kernels/geometry/spatial.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

enum class Unpooling : uint8_t {
  kCopy,
  kAdd,  // what is picked more than once adds up; -1 is no place
};

// Sets `target`, which has its shape, to zero, and writes every element of `picked` to its place, which
// `indices` count row by row within the spatial dimensions. InvalidType unless dtypes are equal and the
// indices int64; InvalidArgument for shapes that differ and for a place outside.
Error unpool(Unpooling how, size_t spatial, const Tensor& picked, const Tensor& indices,
             const Tensor& target);

}  // namespace rushlight::kernels
