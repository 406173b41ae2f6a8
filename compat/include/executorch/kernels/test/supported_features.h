// SPDX-License-Identifier: BSD-3-Clause
// What kernel tests may expect of the kernels beyond the common ground.
#pragma once

namespace torch::executor::testing {

struct SupportedFeatures {
  static SupportedFeatures* get();

  bool is_aten = false;        // the tensors are ATen's
  bool output_resize = false;  // static outputs take other shapes
  bool op_gelu_dtype_double = true;
  bool op_log_softmax_dtype_double = true;
};

inline SupportedFeatures supported_features{};

inline SupportedFeatures* SupportedFeatures::get() { return &supported_features; }

}  // namespace torch::executor::testing
