// SPDX-License-Identifier: BSD-3-Clause
// Payloads as delegates, without a program around: what Method::load() would do with one delegate.
#pragma once

#include <memory>
#include <vector>

#include "backends/xnnpack/delegate.h"

namespace rushlight::xnnpack {

// The delegate refers to `bytes`, which must outlive it. No named data; `host` and `tracer` may be null.
// Errors: as LoadedDelegate::load().
inline Result<std::unique_ptr<LoadedDelegate>> load_delegate(const std::vector<uint8_t>& bytes,
                                                             BackendHost* host = nullptr,
                                                             EventTracer* tracer = nullptr) {
  FreeableBuffer processed(bytes.data(), bytes.size());
  return LoadedDelegate::load(BackendInitContext(nullptr, "forward", nullptr, tracer, nullptr, host),
                              &processed);
}

// A row-major tensor [rows, columns] over floats of the caller, as an argument. Its shape may shrink.
struct Matrix {
  Matrix(float* data, SizesType rows, SizesType columns)
      : sizes{rows, columns},
        strides{columns, 1},
        impl(ScalarType::Float, 2, sizes, data, order, strides, TensorShapeDynamism::DYNAMIC_BOUND),
        value(Tensor(&impl)) {}

  // In front of `impl`, which refers to them.
  SizesType sizes[2];
  DimOrderType order[2] = {0, 1};
  StridesType strides[2];
  TensorImpl impl;
  EValue value;
};

}  // namespace rushlight::xnnpack
