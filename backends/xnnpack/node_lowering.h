// SPDX-License-Identifier: BSD-3-Clause
// One node of a graph at a time becomes calls.
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

// XNNPACK's flags that the exporter sets.
inline constexpr uint32_t kTransposeWeights = 1, kAlignCorners = 8;

// The exporter's name of a kind of nodes, without "XNN"; "unknown" for a number that is none.
[[nodiscard]] const char* to_string(NodeKind kind);

// A clamp of integers whose result has another scale, as a part of the layer before it: XNNPACK makes that
// write numbers of the new scale, within the clamp's bounds.
struct FusedClamp {
  uint32_t out;
  float low, high;
};

// What the nodes of a graph have in common.
struct Lowering {
  std::map<uint32_t, FusedClamp> clamps;  // by the values that they read
  // Of each value: the nodes that name it, which are its writer and its readers, the first one's kind, and
  // the last one's index.
  std::vector<size_t> nodes, last;
  std::vector<NodeKind> writer;
  size_t node = 0;  // that is being lowered

  explicit Lowering(size_t values)
      : nodes(values), last(values, SIZE_MAX), writer(values, NodeKind::XNNClamp) {}
  void name(uint32_t id, NodeKind kind);
};

class NodeLowering {
 public:
  NodeLowering(Forms* forms, CallList* list, Lowering* lowering)
      : forms_(*forms), list_(*list), lowering_(*lowering) {}

  // Errors: InvalidProgram, NotSupported.
  Error lower(flatbuffer::Table node);

 private:
  // A field that names a value; in place of one that is clamped, the result of that, which the node then
  // bounds. Error: InvalidProgram.
  [[nodiscard]] Result<uint32_t> id_at(unsigned slot, size_t rank = SIZE_MAX);
  [[nodiscard]] int64_t size_at(unsigned slot) const { return fields_.scalar<uint32_t>(slot); }
  [[nodiscard]] const Value& value(uint32_t id) const { return forms_.value(id); }
  [[nodiscard]] bool has_bounds() const { return low_ > -kInfinity || high_ < kInfinity; }
  // A number for an operator, None where it bounds nothing.
  ValueId bound(float limit);

  Error lower_kind(NodeKind kind);
  // activations.cpp
  Error lower_unary(const char* name, std::vector<ValueId> parameters, unsigned input_slot,
                    unsigned output_slot);
  Error lower_gelu();
  Error lower_softmax();
  Error lower_clamp();
  Error lower_prelu();
  Error lower_binary(NodeKind kind);
  Error lower_quantized_sum(uint32_t a, uint32_t b, uint32_t out, bool is_difference);
  Error lower_quantized_product(uint32_t a, uint32_t b, uint32_t out);
  // Clamps the result of the last call where the node has bounds.
  Error clamp_result(uint32_t out, ValueId tensor);
  // The least and greatest number of a quantized value that the bounds leave.
  void quantized_bounds(const Value& out, int64_t* least, int64_t* most) const;

  // movement.cpp
  Error lower_convert();
  Error lower_transpose();
  Error lower_reshape();
  Error lower_concatenate();
  Error lower_slice();
  Error lower_pad();
  Error lower_copy();
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
  Error multiply_dynamic(uint32_t input, const Value& weights, ValueId weight, ValueId addend,
                         uint32_t output);
  Error lower_convolution(NodeKind kind);
  Error lower_matmul();
  struct Layer {
    ValueId folded, multipliers;
    int64_t least, most;
  };
  // The integers of a quantized layer. Weights of one of `outputs` outputs lie side by side, or interleaved
  // with those of the others.
  Error fold(uint32_t input, uint32_t filter, uint32_t bias, uint32_t output, size_t outputs,
             bool is_interleaved, Layer* layer);
  // The operands of a convolution that say where its windows are.
  struct Window {
    ValueId stride, padding, dilation, transposed, extra, groups;
  };
  Error convolve_integers(uint32_t input, uint32_t output, ValueId weight, const Layer& layer,
                          const Window& window);
  [[nodiscard]] Result<ValueId> fake_quantized(uint32_t input);
  // Of a layer that computes in `dtype`; None where there is none.
  [[nodiscard]] Result<ValueId> bias_of(uint32_t id, ScalarType dtype);
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
