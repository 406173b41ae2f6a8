// SPDX-License-Identifier: BSD-3-Clause
// The values of a payload's graph: tensors between nodes and constants, with what their numbers mean.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/xnnpack/payload.h"
#include "runtime/program/schema.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::xnnpack {

using Datatype = schema::xnn::XNNDatatype;

// An id that names no value: of a bias that is not there.
inline constexpr uint32_t kNoValue = UINT32_MAX;
inline constexpr size_t kMostDims = 6;  // XNNPACK's

// The largest whole number that fits no dimension or padding: products of two fit in 64 bits.
inline constexpr uint32_t kMostSize = INT32_MAX;

struct Value {
  Datatype datatype = Datatype::XnnDatatypeInvalid;
  std::vector<int32_t> dims;  // as they lie in memory, of pixels [n, height, width, channels]
  bool is_constant = false;
  Span<const uint8_t> data;  // of a constant
  uint32_t external_id = kNoValue;
  uint32_t flags = 0;

  // real = (number - zero_point) * scale. Per channel `scales` has one for each index of dimension
  // `channel_dim`; in groups (4-bit weights) one for each group of a row, rows behind each other.
  float scale = 0;
  int32_t zero_point = 0;
  std::vector<float> scales;
  int32_t channel_dim = 0;
  int32_t group_size = 0;     // 0: no groups
  int32_t nonbatch_dims = 0;  // of numbers that are found as the graph runs: dimensions that share a range

  [[nodiscard]] bool is_quantized() const { return scale != 0 || !scales.empty(); }
  [[nodiscard]] size_t rank() const { return dims.size(); }
  [[nodiscard]] int64_t numel() const;  // proven to fit
  // The scale of channel `index`.
  [[nodiscard]] float scale_of(size_t index) const { return scales.empty() ? scale : scales[index]; }
};

// Numbers of 8 bits whose scale is known ahead; and such as the layers that read them quantize.
[[nodiscard]] constexpr bool is_byte(Datatype type) {
  return type == Datatype::XnnDatatypeQint8 || type == Datatype::XnnDatatypeQuint8;
}
[[nodiscard]] constexpr bool is_dynamic(Datatype type) {
  return type == Datatype::XnnDatatypeQdint8 || type == Datatype::XnnDatatypeQpint8;
}

// Whether numbers of both stand for the same reals.
[[nodiscard]] inline bool has_numbers_of(const Value& a, const Value& b) {
  return a.datatype == b.datatype && a.scale == b.scale && a.zero_point == b.zero_point;
}

// What tensors hold such values; of 4-bit numbers, two a byte, uint8. Error: NotSupported.
[[nodiscard]] Result<ScalarType> element_type(Datatype datatype);
[[nodiscard]] const char* to_string(Datatype datatype);

// All values, proven: known datatypes, dims whose product fits, constants with as many bytes as they need,
// scales that are finite and positive. Errors: InvalidProgram, NotSupported; each names the value.
[[nodiscard]] Result<std::vector<Value>> read_values(const Payload& payload);

}  // namespace rushlight::xnnpack
