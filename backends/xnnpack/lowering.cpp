// SPDX-License-Identifier: BSD-3-Clause
// lower() makes one pass over the nodes, in order. If the graph has clamps that rescale, a trial pass comes
// first, because fusing needs the number of readers of each value. The payload's nodes are in topological
// order; Forms refuses a value that is read before it is written.
#include "backends/xnnpack/lowering.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "backends/xnnpack/node_lowering.h"
#include "runtime/base/log.h"

namespace rushlight::xnnpack {

namespace {

using flatbuffer::Table;
using flatbuffer::TableVector;

namespace graph_slot = schema::xnn::xnngraph_table;
namespace node_slot = schema::xnn::xnode_table;

// Collects the external ids of a graph's inputs or outputs.
Error find_ends(Span<const uint32_t> ids, const Forms& forms, std::vector<uint32_t>* externals) {
  for (const uint32_t id : ids) {
    RL_CHECK(id < forms.size() && forms.value(id).external_id != kNoValue && !forms.value(id).is_constant,
             Error::InvalidProgram, "value %lu: expected an input or output", log_number(id));
    externals->push_back(forms.value(id).external_id);
  }
  return Error::Ok;
}

// The tensors of inputs or outputs in the list, in the payload's order.
Result<std::vector<ValueId>> tensors_of(Span<const uint32_t> ids, Forms* forms) {
  std::vector<ValueId> tensors;
  for (const uint32_t id : ids) {
    RL_TRY_ASSIGN(const ValueId tensor, forms->end(id));
    tensors.push_back(tensor);
  }
  return tensors;
}

NodeKind kind_of(Table node) {
  return static_cast<NodeKind>(node.scalar<uint8_t>(node_slot::kXnodeUnionType));
}

bool is_layer(NodeKind kind) {
  return kind == NodeKind::XNNFullyConnected || kind == NodeKind::XNNConv2d ||
         kind == NodeKind::XNNDepthwiseConv2d || kind == NodeKind::XNNConvTranspose2d;
}

// Returns true if a node is an integer clamp whose result has another scale, and both ends are valid values.
bool rescales(Table node, const Forms& forms, uint32_t* in, FusedClamp* clamp) {
  namespace slot = schema::xnn::_xnnnode1x1_table;
  // The accessors of a 1x1 node; other kinds are refused before they are used.
  const Table fields = node.table(node_slot::kXnodeUnion);
  if (kind_of(node) != NodeKind::XNNClamp || !fields) return false;
  *in = fields.scalar<uint32_t>(slot::kInputId);
  *clamp = {fields.scalar<uint32_t>(slot::kOutputId), -HUGE_VALF, HUGE_VALF};
  // Absent bounds are infinite.
  if (const Table bounds = node.table(node_slot::kOutputMinMax)) {
    clamp->low = bounds.scalar<float>(schema::xnn::output_min_max_table::kOutputMin);
    clamp->high = bounds.scalar<float>(schema::xnn::output_min_max_table::kOutputMax);
  }
  if (*in >= forms.size() || clamp->out >= forms.size()) return false;
  const Value &before = forms.value(*in), &behind = forms.value(clamp->out);
  return is_byte(before.datatype) && is_byte(behind.datatype) && !same_quantization(before, behind);
}

}  // namespace

const char* to_string(NodeKind kind) {
  // In the order of the schema's union, whose first member is 1.
  constexpr const char* kNames[] = {"Add",
                                    "FullyConnected",
                                    "Softmax",
                                    "Sigmoid",
                                    "StaticTranspose",
                                    "Clamp",
                                    "Conv2d",
                                    "Div",
                                    "StaticResizeBilinear2D",
                                    "StaticConstantPad",
                                    "AvgPooling2d",
                                    "Minimum",
                                    "DepthwiseConv2d",
                                    "MaxPooling2d",
                                    "Multiply",
                                    "Subtract",
                                    "Floor",
                                    "Convert",
                                    "GlobalAvgPooling2d",
                                    "StaticReshape",
                                    "ArgMaxPooling2d",
                                    "SquareRoot",
                                    "Ceiling",
                                    "Hardswish",
                                    "LeakyReLU",
                                    "Maximum",
                                    "Negate",
                                    "Square",
                                    "ELU",
                                    "Abs",
                                    "PReLU",
                                    "Concatenate2",
                                    "Concatenate3",
                                    "Concatenate4",
                                    "StaticSlice",
                                    "ScaledDotProductAttention",
                                    "BatchMatrixMultiply",
                                    "Concatenate5",
                                    "ConvTranspose2d",
                                    "ReciprocalSquareRoot",
                                    "Log",
                                    "Gelu",
                                    "Tanh",
                                    "Exp",
                                    "Sin",
                                    "Copy",
                                    "Cos"};
  const auto index = static_cast<size_t>(kind) - 1;
  return index < sizeof kNames / sizeof *kNames ? kNames[index] : "unknown";
}

void Lowering::name(uint32_t id, NodeKind kind) {
  // A node that names a value twice (x + x) counts once.
  if (last[id] == node) return;
  last[id] = node;
  if (nodes[id]++ == 0) writer[id] = kind;
}

namespace {

// A parsed graph.
struct Graph {
  std::vector<Value> values;
  Span<const uint32_t> inputs, outputs;
  TableVector nodes;
};

// Ends are marked first: a value that is an input counts as written, and one that is an output must not be
// shared or fused.
Error lower_nodes(const Graph& graph, const std::vector<bool>& is_fused, Lowering* lowering, Forms* forms,
                  CallList* list) {
  for (const uint32_t id : graph.inputs) forms->set_input(id);
  for (const uint32_t id : graph.outputs) forms->set_output(id);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (is_fused[i]) continue;
    lowering->node = i;
    list->set_debug_handle(graph.nodes[i].scalar<uint32_t>(node_slot::kDebugHandle));
    const Error error = NodeLowering(forms, list, lowering).lower(graph.nodes[i]);
    RL_CHECK(error == Error::Ok, error, "XNNPACK payload: node %lu, %s: %s", log_number(i),
             to_string(kind_of(graph.nodes[i])), rushlight::to_string(error));
  }
  return Error::Ok;
}

// Finds rescaling clamps that are the only readers of a layer's output. The readers are known only after all
// nodes have been lowered, which is done on a scratch list.
Error find_fused(const Graph& graph, bool is_dynamic, std::vector<bool>* is_fused, Lowering* lowering) {
  CallList list(std::make_shared<ConstantPool>(), is_dynamic);
  Forms forms(graph.values, &list);
  Lowering alone(graph.values.size());
  bool has_been_lowered = false;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    uint32_t in = 0;
    FusedClamp clamp{};
    // The condition needs only the values, so most graphs skip the trial pass.
    if (!rescales(graph.nodes[i], forms, &in, &clamp)) continue;
    if (!has_been_lowered) RL_TRY(lower_nodes(graph, *is_fused, &alone, &forms, &list));
    has_been_lowered = true;
    // Two nodes name the value: the layer that writes it, and this clamp.
    if (forms.is_output(in) || alone.nodes[in] != 2 || !is_layer(alone.writer[in])) continue;
    // The clamp is left out of the second pass; id_at() applies it when its layer is lowered.
    lowering->clamps[in] = clamp;
    (*is_fused)[i] = true;
  }
  return Error::Ok;
}

}  // namespace

Result<Ends> lower(const Payload& payload, CallList* list) {
  const Table root = payload.graph();
  RL_TRY_ASSIGN(std::vector<Value> values, read_values(payload));
  const Graph graph{std::move(values), root.vector<uint32_t>(graph_slot::kInputIds),
                    root.vector<uint32_t>(graph_slot::kOutputIds), root.tables(graph_slot::kXnodes)};
  Forms forms(graph.values, list);
  Ends ends;
  RL_TRY(find_ends(graph.inputs, forms, &ends.inputs));
  RL_TRY(find_ends(graph.outputs, forms, &ends.outputs));
  Lowering lowering(graph.values.size());
  std::vector<bool> is_fused(graph.nodes.size());
  RL_TRY(find_fused(graph, list->is_dynamic(), &is_fused, &lowering));
  RL_TRY(lower_nodes(graph, is_fused, &lowering, &forms, list));
  RL_TRY_ASSIGN(std::vector<ValueId> first, tensors_of(graph.inputs, &forms));
  RL_TRY_ASSIGN(std::vector<ValueId> last, tensors_of(graph.outputs, &forms));
  list->set_inputs(std::move(first));
  list->set_outputs(std::move(last));
  // Only now: outputs are known, whose memory must not be fused away.
  list->fuse_clamps();
  return ends;
}

// Bounds apply to every kind of node, so they are read here; has_bounds() tells later if they matter.
Error NodeLowering::lower(Table node) {
  fields_ = node.table(node_slot::kXnodeUnion);
  kind_ = kind_of(node);
  RL_CHECK(fields_, Error::InvalidProgram, "it has no fields");
  if (const Table bounds = node.table(node_slot::kOutputMinMax)) {
    namespace slot = schema::xnn::output_min_max_table;
    low_ = bounds.scalar<float>(slot::kOutputMin);
    high_ = bounds.scalar<float>(slot::kOutputMax);
    RL_CHECK(low_ <= high_, Error::InvalidProgram, "its bounds are out of order");
  }
  return lower_kind(kind_);
}

Result<uint32_t> NodeLowering::id_at(unsigned slot, size_t rank) {
  auto id = fields_.scalar<uint32_t>(slot);
  // A layer with a fused clamp writes the clamp's output.
  const auto fused = lowering_.clamps.find(id);
  if (fused != lowering_.clamps.end()) {
    id = fused->second.out;
    const float low = fused->second.low, high = fused->second.high;
    // Two clamps in a row are one, whose ends are the inner ends clamped by the outer range.
    low_ = std::min(std::max(low_, low), high);
    high_ = std::min(std::max(high_, low), high);
    lowering_.clamps.erase(fused);
  }
  RL_CHECK(id < forms_.size(), Error::InvalidProgram, "expected one of %lu values, got %lu",
           log_number(forms_.size()), log_number(id));
  RL_CHECK(rank == SIZE_MAX || value(id).rank() == rank, Error::InvalidProgram,
           "value %lu: expected %lu dims, got %lu", log_number(id), log_number(rank),
           log_number(value(id).rank()));
  lowering_.name(id, kind_);
  return id;
}

Error NodeLowering::lower_kind(NodeKind kind) {
  namespace one = schema::xnn::_xnnnode1x1_table;
  const auto unary = [this](const char* name) {
    return lower_unary(name, {}, one::kInputId, one::kOutputId);
  };
  switch (kind) {
    case NodeKind::XNNAdd:
    case NodeKind::XNNSubtract:
    case NodeKind::XNNMultiply:
    case NodeKind::XNNDiv:
    case NodeKind::XNNMinimum:
    case NodeKind::XNNMaximum:
      return lower_binary(kind);
    case NodeKind::XNNFullyConnected:
      return lower_linear();
    case NodeKind::XNNConv2d:
    case NodeKind::XNNDepthwiseConv2d:
    case NodeKind::XNNConvTranspose2d:
      return lower_convolution(kind);
    case NodeKind::XNNBatchMatrixMultiply:
      return lower_matmul();
    case NodeKind::XNNSoftmax:
      return lower_softmax();
    case NodeKind::XNNClamp:
      return lower_clamp();
    case NodeKind::XNNConvert:
      return lower_convert();
    case NodeKind::XNNCopy:
      return lower_copy();
    case NodeKind::XNNStaticTranspose:
      return lower_transpose();
    case NodeKind::XNNStaticReshape:
      return lower_reshape();
    case NodeKind::XNNStaticSlice:
      return lower_slice();
    case NodeKind::XNNStaticConstantPad:
      return lower_pad();
    case NodeKind::XNNConcatenate2:
    case NodeKind::XNNConcatenate3:
    case NodeKind::XNNConcatenate4:
    case NodeKind::XNNConcatenate5:
      return lower_concatenate();
    case NodeKind::XNNAvgPooling2d:
      return lower_average_pool();
    case NodeKind::XNNMaxPooling2d:
      return lower_max_pool();
    case NodeKind::XNNArgMaxPooling2d:
      return lower_argmax_pool();
    case NodeKind::XNNGlobalAvgPooling2d:
      return lower_global_average();
    case NodeKind::XNNStaticResizeBilinear2D:
      return lower_resize();
    case NodeKind::XNNSigmoid:
      return unary("aten::sigmoid");
    case NodeKind::XNNTanh:
      return unary("aten::tanh");
    case NodeKind::XNNHardswish:
      return unary("aten::hardswish");
    case NodeKind::XNNGelu:
      return lower_gelu();
    case NodeKind::XNNExp:
      return unary("aten::exp");
    case NodeKind::XNNLog:
      return unary("aten::log");
    case NodeKind::XNNSin:
      return unary("aten::sin");
    case NodeKind::XNNCos:
      return unary("aten::cos");
    case NodeKind::XNNAbs:
      return unary("aten::abs");
    case NodeKind::XNNNegate:
      return unary("aten::neg");
    case NodeKind::XNNFloor:
      return unary("aten::floor");
    case NodeKind::XNNCeiling:
      return unary("aten::ceil");
    case NodeKind::XNNSquareRoot:
      return unary("aten::sqrt");
    case NodeKind::XNNReciprocalSquareRoot:
      return unary("aten::rsqrt");
    case NodeKind::XNNSquare:
      return unary("aten::square");
    case NodeKind::XNNLeakyReLU: {
      namespace slot = schema::xnn::xnnleaky_re_lu_table;
      const ValueId slope = list_.real(fields_.scalar<float>(slot::kNegativeSlope));
      return lower_unary("aten::leaky_relu", {slope}, slot::kInputId, slot::kOutputId);
    }
    case NodeKind::XNNELU: {
      namespace slot = schema::xnn::xnnelu_table;
      const ValueId alpha = list_.real(fields_.scalar<float>(slot::kAlpha));
      return lower_unary("aten::elu", {alpha, list_.real(1), list_.real(1)}, slot::kInputId, slot::kOutputId);
    }
    case NodeKind::XNNPReLU:
      return lower_prelu();
    case NodeKind::XNNScaledDotProductAttention:
      break;
  }
  RL_CHECK(false, Error::NotSupported, "the exporter of executorch 1.5.1 makes no such node");
}

}  // namespace rushlight::xnnpack
