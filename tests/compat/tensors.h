// SPDX-License-Identifier: BSD-3-Clause
// Tensors for tests, with their memory: row-major, of static shape, converted to the official Tensor.
//
//   TensorOf<float> a({2, 2}, {1, 2, 3, 4});
//   kernel(context, a, out);
#pragma once

#include <vector>

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/portable_type/tensor.h>

namespace rushlight::compat::testing {

// Missing elements are 0. The tensor refers to this object, which must outlive it and is not copied.
template <class T>
struct TensorOf {
  TensorOf(std::vector<int32_t> shape, std::vector<T> elements = {}) : sizes(shape), data(elements) {
    size_t numel = 1;
    for (const int32_t size : sizes) numel *= static_cast<size_t>(size);
    data.resize(numel);
    impl.emplace(executorch::runtime::CppTypeToScalarType<T>::value, static_cast<ssize_t>(sizes.size()),
                 sizes.data(), data.data());
  }
  TensorOf(const TensorOf&) = delete;

  // A handle to `impl`, as official functions take it.
  operator executorch::aten::Tensor() { return executorch::aten::Tensor(&*impl); }

  std::vector<int32_t> sizes;
  std::vector<T> data;
  std::optional<executorch::aten::TensorImpl> impl;
};

}  // namespace rushlight::compat::testing
