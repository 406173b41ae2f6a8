// SPDX-License-Identifier: BSD-3-Clause
// Parses the values of a payload's graph: tensors between nodes, and constants, with their quantization.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/xnnpack/payload.h"
#include "runtime/program/schema.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::xnnpack {

using Datatype = schema::xnn::XNNDatatype;

// The id of an absent value, such as a missing bias.
inline constexpr uint32_t kNoValue = UINT32_MAX;
inline constexpr size_t kMostDims = 6;  // XNNPACK's limit

// Limit for dimensions and paddings: products of two fit in 64 bits.
inline constexpr uint32_t kMostSize = INT32_MAX;

// A tensor of the graph.
struct Value {
  Datatype datatype = Datatype::XnnDatatypeInvalid;
  std::vector<int32_t> dims;  // in memory order; images are [n, height, width, channels]
  bool is_constant = false;
  Span<const uint8_t> data;  // bytes of a constant
  uint32_t external_id = kNoValue;
  uint32_t flags = 0;

  // real = (stored - zero_point) * scale. Per-channel quantization has one scale per index of dimension
  // `channel_dim`; group quantization (4-bit weights) has one per group, row by row.
  float scale = 0;
  int32_t zero_point = 0;
  std::vector<float> scales;
  int32_t channel_dim = 0;
  int32_t group_size = 0;     // 0: no groups
  int32_t nonbatch_dims = 0;  // dynamic quantization: number of dimensions that share a range

  [[nodiscard]] bool is_quantized() const { return scale != 0 || !scales.empty(); }
  [[nodiscard]] size_t rank() const { return dims.size(); }
  [[nodiscard]] int64_t numel() const;  // verified to fit
  // The scale of channel `index`.
  [[nodiscard]] float scale_of(size_t index) const { return scales.empty() ? scale : scales[index]; }
};

// is_byte: 8 bits with a static scale. is_dynamic: quantized by the layers that read it.
[[nodiscard]] constexpr bool is_byte(Datatype type) {
  return type == Datatype::XnnDatatypeQint8 || type == Datatype::XnnDatatypeQuint8;
}
[[nodiscard]] constexpr bool is_dynamic(Datatype type) {
  return type == Datatype::XnnDatatypeQdint8 || type == Datatype::XnnDatatypeQpint8;
}

// Returns true if stored integers of both values represent the same real values.
[[nodiscard]] inline bool same_quantization(const Value& a, const Value& b) {
  return a.datatype == b.datatype && a.scale == b.scale && a.zero_point == b.zero_point;
}

// The dtype of tensors that hold such values; uint8 for 4-bit values, two per byte. Error: NotSupported.
[[nodiscard]] Result<ScalarType> element_type(Datatype datatype);
[[nodiscard]] const char* to_string(Datatype datatype);

// Reads and verifies all values: known datatypes, dimensions whose product fits, constants with enough bytes,
// scales that are finite and positive. Errors: InvalidProgram, NotSupported; the log names the value.
[[nodiscard]] Result<std::vector<Value>> read_values(const Payload& payload);

}  // namespace rushlight::xnnpack
