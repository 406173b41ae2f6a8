// SPDX-License-Identifier: BSD-3-Clause
// Optional features of kernels that kernel tests may rely on: rushlight's values. Official tests skip cases
// by them:
//
//   if (SupportedFeatures::get()->is_aten) GTEST_SKIP() << "...";
#pragma once

namespace torch::executor::testing {

struct SupportedFeatures {
  static SupportedFeatures* get();

  bool is_aten = false;        // tensors are ATen's
  bool output_resize = false;  // outputs with static shape may be resized
  // Operators that accept float64.
  bool op_gelu_dtype_double = true;
  bool op_log_softmax_dtype_double = true;
};

inline SupportedFeatures supported_features{};

inline SupportedFeatures* SupportedFeatures::get() { return &supported_features; }

}  // namespace torch::executor::testing
