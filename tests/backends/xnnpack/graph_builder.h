// SPDX-License-Identifier: BSD-3-Clause
// Payloads of the XNNPACK delegate written field by field, including some that no exporter writes: a graph of
// values and nodes as plain structures, which tests change before build().
//
//   Graph graph = two_nodes();
//   graph.nodes[1].kind = XNodeUnion::XNNSquare;
//   auto delegate = load_delegate(graph.build());
#pragma once

#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "backends/calls/flat_writer.h"
#include "backends/xnnpack/values.h"
#include "runtime/program/schema.h"

namespace rushlight::xnnpack {

using schema::xnn::XNodeUnion;
using Position = FlatWriter::Position;

// The external id of a value that is neither input nor output.
constexpr uint32_t kNone = UINT32_MAX;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The bits of a float, which FlatWriter stores as a number.
inline uint32_t bits(float value) {
  uint32_t same = 0;
  std::memcpy(&same, &value, sizeof same);
  return same;
}

// Writes the table of a quantization's parameters; `kind` selects that table in the schema's union, 0 for
// none.
struct Quantization {
  uint8_t kind = 0;
  std::function<Position(FlatWriter&)> write;
};

// One scale and zero point.
inline Quantization per_tensor(float scale, int32_t zero_point) {
  return {2, [=](FlatWriter& flat) {
            return flat.table({FlatWriter::number(0, bits(scale)), FlatWriter::number(1, zero_point)});
          }};
}

// A scale per index of dimension `dim`, zero point 0.
inline Quantization per_channel(std::vector<float> scales, int32_t dim) {
  return {1, [=](FlatWriter& flat) {
            const Position table = flat.table({FlatWriter::offset(0), FlatWriter::number(1, dim)});
            flat.link(table, 0, flat.scalars(scales));
            return table;
          }};
}

// A scale per group of `size` elements along the depth, for weights of dynamic linear layers.
inline Quantization in_groups(std::vector<float> scales, int32_t size) {
  return {4, [=](FlatWriter& flat) {
            const Position table = flat.table({FlatWriter::offset(0), FlatWriter::number(2, size)});
            flat.link(table, 0, flat.scalars(scales));
            return table;
          }};
}

// Parameters computed in each execution: one set per index of the dimensions in front of the last `dims`.
inline Quantization dynamic_quantization(int32_t dims) {
  return {3, [=](FlatWriter& flat) { return flat.table({FlatWriter::number(0, dims)}); }};
}

// A tensor of the graph, of float32 [2, 3] unless set. `external` is the index of the delegate's argument,
// `constant` the number of a constant's data (0 for none).
struct GraphValue {
  uint32_t datatype = static_cast<uint32_t>(Datatype::XnnDatatypeFp32);
  std::vector<uint32_t> dims = {2, 3};
  uint32_t external = kNone;
  uint32_t constant = 0;
  Quantization quantization = {};
  bool is_quantized = false;  // without a quantization: one that says nothing
};

// An operation; `fields` writes its table. The result is clamped to [low, high], which is stored only if it
// is a bound.
struct GraphNode {
  XNodeUnion kind;
  std::function<Position(FlatWriter&)> fields;
  float low = -kInfinity, high = kInfinity;
};

// A table of numbers, slot by slot: most nodes are the ids of their values and flags.
template <class... T>
std::function<Position(FlatWriter&)> fields(T... numbers) {
  return [=](FlatWriter& flat) {
    unsigned slot = 0;
    return flat.table({FlatWriter::number(slot++, static_cast<uint32_t>(numbers))...});
  };
}

// Nodes of one and of two inputs: ids of values, and flags 0.
inline GraphNode unary(XNodeUnion kind, uint32_t in, uint32_t out) { return {kind, fields(in, out, 0)}; }
inline GraphNode binary(XNodeUnion kind, uint32_t a, uint32_t b, uint32_t out) {
  return {kind, fields(a, b, out, 0)};
}

// Data behind the graph: its range in bytes, or a key of named data.
struct ConstantEntry {
  uint64_t offset, size;
  std::string key;
};

// The whole graph. Nothing is checked: ids may be out of range, and lengths may differ.
struct Graph {
  std::vector<GraphValue> values;
  std::vector<GraphNode> nodes;
  std::vector<uint32_t> inputs, outputs;
  std::vector<std::vector<uint8_t>> buffers;  // in the graph, from 1
  std::vector<ConstantEntry> constants;       // from 0, which stands for none
  bool is_new = false;                        // "XN01"

  // The bytes of the graph, without a header. FlatWriter works front to back: the root first, then each list.
  [[nodiscard]] std::vector<uint8_t> build() const {
    namespace slot = schema::xnn::xnngraph_table;
    FlatWriter flat("XN00");
    const Position root =
        flat.table({FlatWriter::offset(slot::kXnodes), FlatWriter::offset(slot::kXvalues),
                    FlatWriter::offset(slot::kInputIds), FlatWriter::offset(slot::kOutputIds),
                    FlatWriter::offset(slot::kConstantBuffer), FlatWriter::offset(slot::kConstantData)});
    flat.link_root(root);
    // Writes a vector of tables: the offsets first, then each table.
    const auto all = [&](unsigned field, size_t count, const std::function<Position(size_t)>& write) {
      const Position vector = flat.offsets(count);
      flat.link(root, field, vector);
      for (size_t i = 0; i < count; ++i) flat.link_item(vector, i, write(i));
    };
    all(slot::kXnodes, nodes.size(), [&](size_t i) { return write_node(flat, nodes[i]); });
    all(slot::kXvalues, values.size(), [&](size_t i) { return write_value(flat, values[i]); });
    flat.link(root, slot::kInputIds, flat.scalars(inputs));
    flat.link(root, slot::kOutputIds, flat.scalars(outputs));
    all(slot::kConstantBuffer, buffers.size(), [&](size_t i) {
      const Position table = flat.table({FlatWriter::offset(0)});
      flat.link(table, 0, flat.scalars(buffers[i]));
      return table;
    });
    all(slot::kConstantData, constants.size(), [&](size_t i) {
      const Position table = flat.table({FlatWriter::number(0, constants[i].offset),
                                         FlatWriter::number(1, constants[i].size), FlatWriter::offset(2)});
      flat.link(table, 2, flat.string(constants[i].key));
      return table;
    });
    std::vector<uint8_t> bytes = flat.take();
    // The last byte of the identifier.
    if (is_new) bytes[7] = '1';
    return bytes;
  }

 private:
  // The tables of one node, of one value, and of its parts. Each is written in front of what it refers to.
  static Position write_node(FlatWriter& flat, const GraphNode& node) {
    namespace slot = schema::xnn::xnode_table;
    // Exporters leave the bounds out if there are none; so does this.
    const bool is_bounded = node.low != -kInfinity || node.high != kInfinity;
    const Position table =
        is_bounded
            ? flat.table({FlatWriter::number(slot::kXnodeUnionType, static_cast<uint8_t>(node.kind)),
                          FlatWriter::offset(slot::kXnodeUnion), FlatWriter::offset(slot::kOutputMinMax)})
            : flat.table({FlatWriter::number(slot::kXnodeUnionType, static_cast<uint8_t>(node.kind)),
                          FlatWriter::offset(slot::kXnodeUnion)});
    flat.link(table, slot::kXnodeUnion, node.fields(flat));
    if (is_bounded) flat.link(table, slot::kOutputMinMax, fields(bits(node.low), bits(node.high))(flat));
    return table;
  }

  static Position write_value(FlatWriter& flat, const GraphValue& value) {
    namespace slot = schema::xnn::xvalue_table;
    // Kinds of the union of values: 1 a tensor, 2 a quantized tensor, which contains one.
    const bool is_quantized = value.is_quantized || value.quantization.kind != 0;
    const Position table =
        flat.table({FlatWriter::number(slot::kXvalueUnionType, static_cast<uint8_t>(is_quantized ? 2 : 1)),
                    FlatWriter::offset(slot::kXvalueUnion)});
    flat.link(table, slot::kXvalueUnion,
              is_quantized ? write_quantized(flat, value) : write_tensor(flat, value));
    return table;
  }

  static Position write_tensor(FlatWriter& flat, const GraphValue& value) {
    namespace slot = schema::xnn::xnntensor_value_table;
    const Position table = flat.table(
        {FlatWriter::number(slot::kDatatype, value.datatype),
         FlatWriter::number(slot::kNumDims, static_cast<uint32_t>(value.dims.size())),
         FlatWriter::offset(slot::kDims), FlatWriter::number(slot::kConstantBufferIdx, value.constant),
         FlatWriter::number(slot::kExternalId, value.external)});
    flat.link(table, slot::kDims, flat.scalars(value.dims));
    return table;
  }

  static Position write_quantized(FlatWriter& flat, const GraphValue& value) {
    namespace slot = schema::xnn::xnnquantized_tensor_value_table;
    const bool has_kind = value.quantization.kind != 0;
    const Position table =
        has_kind ? flat.table({FlatWriter::offset(slot::kTensorValue),
                               FlatWriter::number(slot::kQuantParamsType, value.quantization.kind),
                               FlatWriter::offset(slot::kQuantParams)})
                 : flat.table({FlatWriter::offset(slot::kTensorValue)});
    flat.link(table, slot::kTensorValue, write_tensor(flat, value));
    if (has_kind) flat.link(table, slot::kQuantParams, value.quantization.write(flat));
    return table;
  }
};

// A header, the graph at `graph_at`, and bytes behind it. Fields of the header, by offset:
//
//   4 "XH00" | 8 u16 length of the header | 10 u32 graph's offset | 14 u32 graph's size
//   18 u32 offset of the bytes | 22 u64 their number
inline std::vector<uint8_t> with_header(const std::vector<uint8_t>& graph, const std::vector<uint8_t>& behind,
                                        uint32_t graph_at = 32) {
  std::vector<uint8_t> bytes(graph_at);
  const auto put = [&](size_t at, auto value) { std::memcpy(bytes.data() + at, &value, sizeof value); };
  std::memcpy(bytes.data() + 4, "XH00", 4);
  put(8, uint16_t{30});
  put(10, graph_at);
  put(14, static_cast<uint32_t>(graph.size()));
  put(18, static_cast<uint32_t>(graph_at + graph.size()));
  put(22, static_cast<uint64_t>(behind.size()));
  bytes.insert(bytes.end(), graph.begin(), graph.end());
  bytes.insert(bytes.end(), behind.begin(), behind.end());
  return bytes;
}

// y = |-x| for [2, 3]: the smallest graph with an inner value. External 0 is x, 1 is y.
inline Graph two_nodes() {
  Graph graph;
  graph.values.resize(3);
  graph.values[0].external = 0;
  graph.values[2].external = 1;
  graph.nodes = {unary(XNodeUnion::XNNNegate, 0, 1), unary(XNodeUnion::XNNAbs, 1, 2)};
  graph.inputs = {0};
  graph.outputs = {2};
  return graph;
}

}  // namespace rushlight::xnnpack
