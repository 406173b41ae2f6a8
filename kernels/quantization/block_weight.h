// SPDX-License-Identifier: BSD-3-Clause
// Block-quantized weights as operator arguments: integers of 4 or 8 bits, or float16, in the layout of
// kernels/ukernel/block_weights.h. The exporter writes that layout, so nothing is packed at load.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/block_weights.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The arguments of a call that describe a weight. The tensor itself is bytes, whose shape has to follow from
// these.
struct BlockArguments {
  int64_t features;
  int64_t depth;
  int64_t bits;    // 4 or 8; 16: float16, and the fields below are 0
  int64_t group;   // 16, or a multiple of 32
  int64_t scales;  // a ScalarType, float16 or float32
  bool has_minimum;
};

// A checked weight; refers to the tensor's data. A panel holds 16 features for the whole depth.
struct BlockWeight {
  ukernel::BlockForm form;
  bool is_half = false;  // float16: only the depth of `form` is set
  const uint8_t* data = nullptr;
  size_t features = 0;

  [[nodiscard]] size_t panels() const {
    return (features + ukernel::kBlockFeatures - 1) / ukernel::kBlockFeatures;
  }
  [[nodiscard]] size_t panel_bytes() const {
    return is_half ? form.depth * ukernel::kBlockFeatures * sizeof(uint16_t) : form.panel_bytes();
  }
  [[nodiscard]] const uint8_t* panel_data(size_t index) const { return data + index * panel_bytes(); }
  [[nodiscard]] ukernel::BlockPanel panel(size_t index) const { return {form, panel_data(index)}; }
  // An element of a float16 weight, converted.
  [[nodiscard]] float half(size_t feature, size_t k) const;
  // The scale or minimum of a feature, from scales() or minimums() of its panel.
  [[nodiscard]] float real(const uint8_t* from, size_t feature) const;
};

// Checks that `weight` is uint8 [panels, bytes of a panel], row-major, as the arguments describe.
// InvalidType, InvalidArgument.
Error make_block_weight(const Tensor& weight, const BlockArguments& arguments, BlockWeight* made);

}  // namespace rushlight::kernels
