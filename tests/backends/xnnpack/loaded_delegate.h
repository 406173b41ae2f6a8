// SPDX-License-Identifier: BSD-3-Clause
// Payloads as delegates, without a program around.
#pragma once

#include <memory>
#include <vector>

#include "backends/xnnpack/delegate.h"

namespace rushlight::xnnpack {

// `bytes` outlive it.
inline Result<std::unique_ptr<LoadedDelegate>> load_delegate(const std::vector<uint8_t>& bytes,
                                                             BackendHost* host = nullptr,
                                                             EventTracer* tracer = nullptr) {
  FreeableBuffer processed(bytes.data(), bytes.size());
  return LoadedDelegate::load(BackendInitContext(nullptr, "forward", nullptr, tracer, nullptr, host),
                              &processed);
}

// A tensor of rank 2 over somebody's floats.
struct Matrix {
  Matrix(float* data, SizesType rows, SizesType columns)
      : sizes{rows, columns},
        strides{columns, 1},
        impl(ScalarType::Float, 2, sizes, data, order, strides, TensorShapeDynamism::DYNAMIC_BOUND),
        value(Tensor(&impl)) {}

  SizesType sizes[2];
  DimOrderType order[2] = {0, 1};
  StridesType strides[2];
  TensorImpl impl;
  EValue value;
};

}  // namespace rushlight::xnnpack
