// SPDX-License-Identifier: BSD-3-Clause
// Translates one node of an XNNPACK graph to calls. Implemented by kind of node in activations.cpp,
// movement.cpp, pixels.cpp, products.cpp and lowering.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "backends/calls/call_list.h"
#include "backends/xnnpack/forms.h"
#include "runtime/program/flatbuffer.h"
#include "runtime/program/schema.h"

namespace rushlight::xnnpack {

using NodeKind = schema::xnn::XNodeUnion;

// The XNNPACK flags that the exporter sets.
inline constexpr uint32_t kTransposeWeights = 1, kAlignCorners = 8;

// The exporter's name of a kind of node, without "XNN"; "unknown" for other values.
[[nodiscard]] const char* to_string(NodeKind kind);

// A rescaling clamp fused into the layer before it, as XNNPACK does: the layer writes values of the new scale
// within the clamp's bounds.
struct FusedClamp {
  uint32_t out;
  float low, high;
};

// State shared by the nodes of a graph. `values` is the number of the graph's values.
struct Lowering {
  std::map<uint32_t, FusedClamp> clamps;  // by the value that each reads
  // Per value: the number of nodes that name it (its writer and readers), the kind of the first and the index
  // of the last.
  std::vector<size_t> nodes, last;
  std::vector<NodeKind> writer;
  size_t node = 0;  // index of the current node

  explicit Lowering(size_t values)
      : nodes(values), last(values, SIZE_MAX), writer(values, NodeKind::XNNClamp) {}
  // Records that the current node names value `id`.
  void name(uint32_t id, NodeKind kind);
};

// Lowers one node; make a new object for each. The three objects must outlive it.
class NodeLowering {
 public:
  NodeLowering(Forms* forms, CallList* list, Lowering* lowering)
      : forms_(*forms), list_(*list), lowering_(*lowering) {}

  // Lowers `node`: adds its calls to the list and marks its output as written. Errors: InvalidProgram,
  // NotSupported.
  Error lower(flatbuffer::Table node);

 private:
  // Reads a field that names a value and checks its rank. A value with a fused clamp is replaced by the
  // clamp's result, whose bounds the node then applies. Error: InvalidProgram.
  [[nodiscard]] Result<uint32_t> id_at(unsigned slot, size_t rank = SIZE_MAX);
  // A size in the node's fields: uint32 in the file.
  [[nodiscard]] int64_t size_at(unsigned slot) const { return fields_.scalar<uint32_t>(slot); }
  [[nodiscard]] const Value& value(uint32_t id) const { return forms_.value(id); }
  // Returns true if the node limits its result.
  [[nodiscard]] bool has_bounds() const { return low_ > -kInfinity || high_ < kInfinity; }
  // A bound as an operator argument; None if infinite.
  ValueId bound(float limit);

  // The switch over kinds. Errors: as lower(); NotSupported for kinds that the exporter does not make.
  Error lower_kind(NodeKind kind);
  // activations.cpp. lower_unary() adds a call whose arguments are the input, `parameters` and the output.
  Error lower_unary(const char* name, std::vector<ValueId> parameters, unsigned input_slot,
                    unsigned output_slot);
  Error lower_gelu();
  Error lower_softmax();
  Error lower_clamp();
  Error lower_prelu();
  Error lower_binary(NodeKind kind);
  // Addition or subtraction, and multiplication, of bytes with the node's bounds, in XNNPACK's arithmetic.
  Error lower_quantized_sum(uint32_t a, uint32_t b, uint32_t out, bool is_difference);
  Error lower_quantized_product(uint32_t a, uint32_t b, uint32_t out);
  // Clamps the result of the last call if the node has bounds.
  Error clamp_result(uint32_t out, ValueId tensor);
  // The stored integer of a real number, quantized like XNNPACK: in float32, rounding halves to even, clamped
  // to the range of the type, also infinity. NaN becomes the lowest integer.
  static int64_t quantized(float real, const Value& out);
  // The bounds of a quantized value, as stored integers.
  void quantized_bounds(const Value& out, int64_t* least, int64_t* most) const;

  // movement.cpp
  Error lower_convert();
  Error lower_transpose();
  Error lower_reshape();
  Error lower_concatenate();
  Error lower_slice();
  Error lower_pad();
  Error lower_copy();
  // Conversions between quantizations of the same datatype, by a lookup table: requantize() follows XNNPACK's
  // integer arithmetic, rescale() that of a clamp. look_up() builds the table from `result`, limited to the
  // node's bounds.
  Error requantize(uint32_t in, uint32_t out);
  Error rescale(uint32_t in, uint32_t out);
  Error look_up(uint32_t in, uint32_t out, const std::function<int64_t(int32_t)>& result);

  // pixels.cpp
  Error lower_average_pool();
  Error lower_max_pool();
  Error lower_argmax_pool();
  Error lower_global_average();
  Error lower_resize();

  // products.cpp
  Error lower_linear();
  // Calls the operator that quantizes each row with its own range, and clamps its result to the node's
  // bounds. `weight` holds the integers of `weights`.
  Error multiply_dynamic(uint32_t input, const Value& weights, ValueId weight, ValueId addend,
                         uint32_t output);
  Error lower_convolution(NodeKind kind);
  Error lower_matmul();
  // Operands of an integer layer: int32 addends, float32 scales (one, or one for each output), and the bounds
  // of the stored results.
  struct Layer {
    ValueId folded, multipliers;
    int64_t least, most;
  };
  // Folds bias, zero points and scales of a quantized layer. Weights of each output are contiguous, or
  // interleaved with weights of other outputs. Errors: NotSupported (not int8, sums beyond 32 bits),
  // InvalidProgram.
  Error fold(uint32_t input, uint32_t filter, uint32_t bias, uint32_t output, size_t outputs,
             bool is_interleaved, Layer* layer);
  // Arguments of a convolution that describe its windows.
  struct Window {
    ValueId stride, padding, dilation, transposed, extra, groups;
  };
  // Convolves integers; the result is quantized as `output`.
  Error convolve_integers(uint32_t input, uint32_t output, ValueId weight, const Layer& layer,
                          const Window& window);
  // The input rounded to the real values of its integers, with one range for each image; as pixels.
  [[nodiscard]] Result<ValueId> fake_quantized(uint32_t input);
  // The bias of a layer that computes in `dtype`; None without one.
  [[nodiscard]] Result<ValueId> bias_of(uint32_t id, ScalarType dtype);
  // The weights in the layout that operators expect. `transposed_groups` is the number of groups of a
  // transposed convolution, 0 for others.
  [[nodiscard]] Result<ValueId> transposed(uint32_t filter);
  [[nodiscard]] Result<ValueId> filter_of(uint32_t filter, ScalarType dtype, bool is_depthwise,
                                          int64_t transposed_groups);

  static constexpr float kInfinity = __builtin_inff();

  Forms& forms_;
  CallList& list_;
  Lowering& lowering_;
  flatbuffer::Table fields_;
  NodeKind kind_ = NodeKind::XNNAdd;
  float low_ = -kInfinity, high_ = kInfinity;
};

}  // namespace rushlight::xnnpack
