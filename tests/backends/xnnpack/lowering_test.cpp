// SPDX-License-Identifier: BSD-3-Clause
// Graphs are built field by field, so each refused graph differs from a valid one in one field. Some lowered
// graphs are executed, on values whose results are easy to predict.
#include "backends/xnnpack/lowering.h"

#include <cmath>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/xnnpack/delegate.h"
#include "tests/backends/xnnpack/graph_builder.h"
#include "tests/backends/xnnpack/loaded_delegate.h"

namespace rushlight::xnnpack {
namespace {

using ::testing::ElementsAre;

// Lowers the graph for tensors of the payload's sizes and for smaller ones; both give the error it returns.
Error lowered(const Graph& graph) {
  const std::vector<uint8_t> bytes = graph.build();
  const auto payload = Payload::read({bytes.data(), bytes.size()}, nullptr);
  if (!payload.ok()) return payload.error();
  const Error fixed = lower_to_program(*payload, false).error();
  const Error dynamic = lower_to_program(*payload, true).error();
  EXPECT_EQ(fixed, dynamic);
  return fixed;
}

// y = x . w^T, with `weights` [4, 3] in the graph.
Graph linear(uint32_t flags = 0) {
  Graph graph;
  graph.values.resize(3);
  graph.values[0].external = 0;
  graph.values[1].dims = {4, 3};
  graph.values[1].constant = 1;
  graph.values[2].dims = {2, 4};
  graph.values[2].external = 1;
  graph.buffers = {{}, std::vector<uint8_t>(48)};
  graph.nodes = {{XNodeUnion::XNNFullyConnected, fields(0, 1, kNone, 2, flags)}};
  graph.inputs = {0};
  graph.outputs = {2};
  return graph;
}

// A convolution of 3 x 3 over pixels [1, 8, 8, 2] to 5 channels; `field` becomes `number`.
Graph convolution(size_t field = SIZE_MAX, uint32_t number = 0) {
  Graph graph;
  graph.values.resize(3);
  graph.values[0] = {1, {1, 8, 8, 2}, 0, 0, {}};
  graph.values[1] = {1, {5, 3, 3, 2}, kNone, 1, {}};
  graph.values[2] = {1, {1, 8, 8, 5}, 1, 0, {}};
  graph.buffers = {{}, std::vector<uint8_t>(5 * 9 * 2 * 4)};
  std::vector<uint32_t> numbers = {1, 1, 1, 1, 3, 3, 1, 1, 1, 1, 2, 5, 1, 0, 0, 0, 1, kNone, 2, 0};
  if (field < numbers.size()) numbers[field] = number;
  graph.nodes = {{XNodeUnion::XNNConv2d, [=](FlatWriter& flat) {
                    const auto& n = numbers;
                    return fields(n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10], n[11],
                                  n[12], n[13], n[14], n[15], n[16], n[17], n[18], n[19])(flat);
                  }}};
  graph.inputs = {0};
  graph.outputs = {2};
  return graph;
}

TEST(Lowering, GoodGraphs_AreLowered) {
  EXPECT_EQ(lowered(two_nodes()), Error::Ok);
  EXPECT_EQ(lowered(linear()), Error::Ok);
  EXPECT_EQ(lowered(convolution()), Error::Ok);
}

TEST(Lowering, ADelegateOfTwoNodes_Runs) {
  const std::vector<uint8_t> bytes = two_nodes().build();
  auto delegate = load_delegate(bytes);
  ASSERT_TRUE(delegate.ok());
  // Whole inputs, then shorter ones, then whole ones again.
  for (const int32_t rows : {2, 1, 2}) {
    float x[] = {-1, 2, -3, 4, -5, 6}, y[6] = {};
    Matrix in(x, rows, 3), out(y, 2, 3);
    EValue* arguments[] = {&in.value, &out.value};
    ASSERT_EQ((*delegate)->execute({arguments, 2}, nullptr), Error::Ok);
    EXPECT_EQ(out.sizes[0], rows);
    for (int i = 0; i < 3 * rows; ++i) EXPECT_EQ(y[i], static_cast<float>(i + 1));
  }
}

TEST(Lowering, ResultsOfSmallerInputs_HaveTheirBounds) {
  Graph graph = two_nodes();
  graph.nodes[1].low = 2;
  graph.nodes[1].high = 4;
  const std::vector<uint8_t> bytes = graph.build();
  auto delegate = load_delegate(bytes);
  ASSERT_TRUE(delegate.ok());
  for (const int32_t rows : {2, 1}) {
    float x[] = {-1, 2, -3, 4, -5, 6}, y[6] = {};
    Matrix in(x, rows, 3), out(y, 2, 3);
    EValue* arguments[] = {&in.value, &out.value};
    ASSERT_EQ((*delegate)->execute({arguments, 2}, nullptr), Error::Ok);
    const float second = rows == 2 ? 4 : 0;
    EXPECT_THAT(y, ElementsAre(2, 2, 3, second, second, second));
  }
}

TEST(Lowering, AValueInsideOfTheGraph_HasTheDimsThatItsNodeGives) {
  Graph graph = two_nodes();
  graph.values[1].dims = {3, 2};  // XNNPACK does not read them
  const std::vector<uint8_t> bytes = graph.build();
  auto delegate = load_delegate(bytes);
  ASSERT_TRUE(delegate.ok());
  float x[] = {-1, 2, -3, 4, -5, 6}, y[6] = {};
  Matrix in(x, 2, 3), out(y, 2, 3);
  EValue* arguments[] = {&in.value, &out.value};
  ASSERT_EQ((*delegate)->execute({arguments, 2}, nullptr), Error::Ok);
  EXPECT_THAT(y, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Lowering, ASumOfMoreElementsThan64BitsCount_IsRefused) {
  Graph graph;
  graph.values.resize(4);
  graph.values[0] = {1, {1 << 30, 1 << 9, 1, 1, 1, 1}, 0, 0, {}};
  graph.values[1] = {1, {1, 1, 1 << 30, 1 << 9, 1, 1}, 1, 0, {}};
  graph.values[2] = {1, {4, 1, 1, 1, 1, 1}, kNone, 0, {}};
  graph.values[3] = {1, {4, 1, 1, 1, 1, 1}, 2, 0, {}};
  graph.nodes = {binary(XNodeUnion::XNNAdd, 0, 1, 2), unary(XNodeUnion::XNNAbs, 2, 3)};
  graph.inputs = {0, 1};
  graph.outputs = {3};
  EXPECT_EQ(lowered(graph), Error::Ok);  // kernels refuse the sizes of its result
  const std::vector<uint8_t> bytes = graph.build();
  EXPECT_FALSE(load_delegate(bytes).ok());
}

TEST(Lowering, Arguments_AreTensorsOfTheInputsType) {
  const std::vector<uint8_t> bytes = two_nodes().build();
  auto delegate = load_delegate(bytes);
  ASSERT_TRUE(delegate.ok());
  EValue values[2];
  EValue* arguments[] = {&values[0], &values[1]};
  EXPECT_NE((*delegate)->execute({arguments, 2}, nullptr), Error::Ok);
  EXPECT_NE((*delegate)->execute({arguments, size_t{0}}, nullptr), Error::Ok);
}

TEST(Lowering, IdsThatNameNoValue_AreRefused) {
  for (const uint32_t id : {3u, 1000u, kNone}) {
    Graph graph = two_nodes();
    graph.nodes[0] = unary(XNodeUnion::XNNNegate, id, 1);
    EXPECT_EQ(lowered(graph), Error::InvalidProgram);
    graph = two_nodes();
    graph.nodes[1] = unary(XNodeUnion::XNNAbs, 1, id);
    EXPECT_EQ(lowered(graph), Error::InvalidProgram);
    graph = two_nodes();
    graph.inputs = {id};
    EXPECT_EQ(lowered(graph), Error::InvalidProgram);
    graph = two_nodes();
    graph.outputs = {id};
    EXPECT_EQ(lowered(graph), Error::InvalidProgram);
    for (const size_t field : {15, 16, 18}) EXPECT_EQ(lowered(convolution(field, id)), Error::InvalidProgram);
  }
  EXPECT_EQ(lowered(convolution(17, 3)), Error::InvalidProgram);  // the bias
}

TEST(Lowering, EndsAreInputsAndOutputs) {
  Graph graph = two_nodes();
  graph.inputs = {1};
  EXPECT_EQ(lowered(graph), Error::InvalidProgram);
  graph = two_nodes();
  graph.values[0].constant = 1;
  graph.buffers = {{}, std::vector<uint8_t>(24)};
  EXPECT_EQ(lowered(graph), Error::InvalidProgram);
}

TEST(Lowering, AValue_IsWrittenOnceAndBeforeItIsRead) {
  Graph graph = two_nodes();
  std::swap(graph.nodes[0], graph.nodes[1]);
  EXPECT_EQ(lowered(graph), Error::InvalidProgram);
  graph = two_nodes();
  graph.nodes[1] = unary(XNodeUnion::XNNAbs, 0, 1);
  EXPECT_EQ(lowered(graph), Error::InvalidProgram);
  graph = two_nodes();
  graph.nodes[0] = unary(XNodeUnion::XNNNegate, 0, 0);
  EXPECT_EQ(lowered(graph), Error::InvalidProgram);
  graph = two_nodes();
  graph.nodes.pop_back();
  EXPECT_EQ(lowered(graph), Error::InvalidProgram);
  graph = linear();
  graph.nodes.push_back(unary(XNodeUnion::XNNNegate, 0, 1));
  EXPECT_EQ(lowered(graph), Error::InvalidProgram);
}

TEST(Lowering, WrongRanks_AreRefused) {
  for (const size_t value : {0, 1, 2}) {
    Graph graph = convolution();
    graph.values[value].dims.pop_back();
    EXPECT_EQ(lowered(graph), Error::InvalidProgram) << value;
  }
  Graph graph = linear();
  graph.values[1].dims = {12};
  EXPECT_EQ(lowered(graph), Error::InvalidProgram);
  graph = two_nodes();
  graph.nodes[0] = binary(XNodeUnion::XNNBatchMatrixMultiply, 0, 0, 1);
  EXPECT_EQ(lowered(graph), Error::InvalidProgram);
}

TEST(Lowering, WeightsThatAreNotTheKernel_AreRefused) {
  for (const size_t field : {4, 5, 10, 11, 12}) {
    for (const uint32_t number : {0u, 4u, 1u << 31, UINT32_MAX})
      EXPECT_EQ(lowered(convolution(field, number)), Error::InvalidProgram) << field << " " << number;
  }
  Graph graph = convolution();
  graph.values[1].constant = 0;
  EXPECT_EQ(lowered(graph), Error::InvalidProgram);
}

TEST(Lowering, PaddingThatDiffersOnBothSides_IsNotSupported) {
  for (const size_t field : {0, 1, 2, 3}) EXPECT_EQ(lowered(convolution(field, 0)), Error::NotSupported);
}

TEST(Lowering, BoundsOutOfOrder_AreRefused) {
  Graph graph = two_nodes();
  graph.nodes[0].low = 1;
  graph.nodes[0].high = 0;
  EXPECT_EQ(lowered(graph), Error::InvalidProgram);
  graph.nodes[0].high = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(lowered(graph), Error::InvalidProgram);
  graph.nodes[0].high = 1;
  EXPECT_EQ(lowered(graph), Error::Ok);
}

// int8 [2, 3] with scale 0.5 and zero point 3, padded by a column on both sides.
TEST(Lowering, FillsOfQuantizedTensors_StayInTheRangeOfTheirType) {
  const std::pair<float, int8_t> fills[] = {
      {0, 3}, {1, 5}, {1e9f, 127}, {-1e9f, -128}, {kInfinity, 127}, {-kInfinity, -128}, {NAN, -128}};
  for (const auto& [fill, stored] : fills) {
    Graph graph;
    graph.values.resize(2);
    for (GraphValue& value : graph.values) {
      value.datatype = static_cast<uint32_t>(Datatype::XnnDatatypeQint8);
      value.quantization = per_tensor(0.5f, 3);
    }
    graph.values[0].external = 0;
    graph.values[1].external = 1;
    graph.values[1].dims = {2, 5};
    graph.nodes = {{XNodeUnion::XNNStaticConstantPad, [fill = fill](FlatWriter& flat) {
                      namespace slot = schema::xnn::xnnstatic_constant_pad_table;
                      const Position table = flat.table(
                          {FlatWriter::offset(slot::kPrePaddings), FlatWriter::offset(slot::kPostPaddings),
                           FlatWriter::number(slot::kPaddingValue, bits(fill)),
                           FlatWriter::number(slot::kInputId, 0u), FlatWriter::number(slot::kOutputId, 1u)});
                      const std::vector<uint32_t> paddings = {0, 1};
                      flat.link(table, slot::kPrePaddings, flat.scalars(paddings));
                      flat.link(table, slot::kPostPaddings, flat.scalars(paddings));
                      return table;
                    }}};
    graph.inputs = {0};
    graph.outputs = {1};
    const std::vector<uint8_t> bytes = graph.build();
    auto delegate = load_delegate(bytes);
    ASSERT_TRUE(delegate.ok());
    int8_t x[] = {10, 20, 30, 40, 50, 60}, y[10] = {};
    SizesType x_sizes[] = {2, 3}, y_sizes[] = {2, 5};
    DimOrderType order[] = {0, 1};
    StridesType x_strides[] = {3, 1}, y_strides[] = {5, 1};
    TensorImpl in(ScalarType::Char, 2, x_sizes, x, order, x_strides);
    TensorImpl out(ScalarType::Char, 2, y_sizes, y, order, y_strides);
    EValue values[] = {EValue(Tensor(&in)), EValue(Tensor(&out))};
    EValue* arguments[] = {&values[0], &values[1]};
    ASSERT_EQ((*delegate)->execute({arguments, 2}, nullptr), Error::Ok);
    EXPECT_THAT(y, ElementsAre(stored, 10, 20, 30, stored, stored, 40, 50, 60, stored)) << fill;
  }
}

TEST(Lowering, UnknownNodes_AreNotSupported) {
  Graph graph = two_nodes();
  graph.nodes[0].kind = XNodeUnion::XNNScaledDotProductAttention;
  EXPECT_EQ(lowered(graph), Error::NotSupported);
  graph.nodes[0].kind = static_cast<XNodeUnion>(200);
  EXPECT_NE(lowered(graph), Error::Ok);
}

TEST(Lowering, UnknownDatatypes_AreNotSupported) {
  Graph graph = two_nodes();
  graph.values[1].datatype = 15;
  EXPECT_EQ(lowered(graph), Error::NotSupported);
  graph.values[1].datatype = 0;
  EXPECT_EQ(lowered(graph), Error::NotSupported);
}

TEST(Lowering, QuantizedWeightsWithoutElements_AreRefused) {
  Graph graph = linear();
  for (const size_t value : {0, 1, 2}) {
    graph.values[value].datatype = static_cast<uint32_t>(Datatype::XnnDatatypeQint8);
    graph.values[value].quantization = per_tensor(0.5f, 0);
  }
  graph.values[2].dims = {2, INT32_MAX};
  graph.values[1].dims = {INT32_MAX, 0};
  graph.values[0].dims = {2, 0};
  EXPECT_EQ(lowered(graph), Error::InvalidProgram);
}

TEST(Lowering, TransposedWeights_AreMultiplied) {
  Graph graph = linear(1);  // [3, 4]
  graph.values[1].dims = {3, 4};
  const float weights[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::memcpy(graph.buffers[1].data(), weights, sizeof weights);
  const std::vector<uint8_t> bytes = graph.build();
  auto delegate = load_delegate(bytes);
  ASSERT_TRUE(delegate.ok());
  float x[] = {1, 0, 0, 0, 1, 1}, y[8] = {};
  SizesType x_sizes[] = {2, 3}, y_sizes[] = {2, 4};
  DimOrderType order[] = {0, 1};
  StridesType x_strides[] = {3, 1}, y_strides[] = {4, 1};
  TensorImpl in(ScalarType::Float, 2, x_sizes, x, order, x_strides);
  TensorImpl out(ScalarType::Float, 2, y_sizes, y, order, y_strides);
  EValue values[] = {EValue(Tensor(&in)), EValue(Tensor(&out))};
  EValue* arguments[] = {&values[0], &values[1]};
  ASSERT_EQ((*delegate)->execute({arguments, 2}, nullptr), Error::Ok);
  EXPECT_THAT(y, ElementsAre(1, 2, 3, 4, 14, 16, 18, 20));
}

}  // namespace
}  // namespace rushlight::xnnpack
