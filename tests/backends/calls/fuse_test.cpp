// SPDX-License-Identifier: BSD-3-Clause
// A chain of one layer, one clamp and one more call, and changes of it. Each change breaks one condition of
// fusing; a clamp that is fused all the same would change results or overwrite a live tensor.
#include <gtest/gtest.h>

#include "backends/calls/call_list.h"

namespace rushlight {
namespace {

// y = clamp(a + b) of integers with bounds, and a further call of it.
struct Clamped {
  explicit Clamped(bool is_dynamic = false) : list(std::make_shared<ConstantPool>(), is_dynamic) {}

  CallList list;
  ValueId a = image(), b = image(), sum = image(), clamped = image(), end = image();

  ValueId image() { return list.tensor(ScalarType::Char, {1, 2, 3, 4}, {0, 2, 3, 1}); }
  void add(int64_t least = -100, int64_t most = 100) {
    list.call("rushlight::quantized_add", "out",
              {a, b, list.integer(1), list.integer(1), list.integer(0), list.integer(1), list.integer(0),
               list.integer(least), list.integer(most), sum});
  }
  void clamp(ValueId from, ValueId to, int64_t least = -10, int64_t most = 120) {
    list.call("aten::clamp", "out", {from, list.integer(least), list.integer(most), to});
  }
  void negate(ValueId from, ValueId to) { list.call("aten::neg", "out", {from, to}); }
  void fuse() {
    list.set_inputs({a, b});
    list.set_outputs({end});
    list.fuse_clamps();
  }
  size_t planned() {
    EXPECT_TRUE(list.program().ok());
    return list.num_calls();
  }
};

TEST(Fuse, AClampBehindALayer_IsItsBounds) {
  for (const bool is_dynamic : {false, true}) {
    Clamped graph(is_dynamic);
    graph.add();
    graph.clamp(graph.sum, graph.clamped);
    graph.negate(graph.clamped, graph.end);
    graph.fuse();
    ASSERT_EQ(graph.planned(), 2u);
    EXPECT_EQ(graph.list.operator_name(0), "rushlight::quantized_add.out");
    const std::vector<ValueId>& arguments = graph.list.arguments(0);
    EXPECT_EQ(arguments.back(), graph.clamped);
    EXPECT_EQ(graph.list.value(arguments[7]).number, -10);
    EXPECT_EQ(graph.list.value(arguments[8]).number, 100);
  }
}

TEST(Fuse, ClampsBehindEachOther_AreFused) {
  Clamped graph;
  const ValueId between = graph.image();
  graph.add();
  graph.clamp(graph.sum, between);
  graph.clamp(between, graph.clamped, 0, 6);
  graph.negate(graph.clamped, graph.end);
  graph.fuse();
  ASSERT_EQ(graph.planned(), 2u);
  const std::vector<ValueId>& arguments = graph.list.arguments(0);
  EXPECT_EQ(graph.list.value(arguments[7]).number, 0);
  EXPECT_EQ(graph.list.value(arguments[8]).number, 6);
}

TEST(Fuse, AnotherFormOfTheSameMemory_IsFollowed) {
  Clamped graph;
  const ValueId plain = graph.list.alias(graph.sum, {1, 3, 4, 2}, {0, 1, 2, 3});
  const ValueId made = graph.list.tensor(ScalarType::Char, {1, 3, 4, 2});
  const ValueId pixels = graph.list.alias(made, {1, 2, 3, 4}, {0, 2, 3, 1});
  graph.add();
  graph.clamp(plain, made);
  graph.negate(pixels, graph.end);
  graph.fuse();
  ASSERT_EQ(graph.planned(), 2u);
  EXPECT_EQ(graph.list.arguments(0).back(), graph.sum);
  EXPECT_EQ(graph.list.value(graph.sum).storage, graph.list.value(pixels).storage);
}

TEST(Fuse, WhatElseIsRead_Stays) {
  Clamped twice;
  twice.add();
  twice.clamp(twice.sum, twice.clamped);
  twice.negate(twice.sum, twice.end);
  twice.fuse();
  EXPECT_EQ(twice.planned(), 3u);
  Clamped output;  // the caller's memory
  output.add();
  output.clamp(output.sum, output.end);
  output.fuse();
  EXPECT_EQ(output.planned(), 2u);
  Clamped input;
  input.clamp(input.a, input.clamped);
  input.negate(input.clamped, input.end);
  input.fuse();
  EXPECT_EQ(input.planned(), 2u);
  Clamped other;  // no layer with bounds
  other.negate(other.a, other.sum);
  other.clamp(other.sum, other.clamped);
  other.negate(other.clamped, other.end);
  other.fuse();
  EXPECT_EQ(other.planned(), 3u);
}

TEST(Fuse, BoundsThatDoNotMeet_Stay) {
  Clamped graph;
  graph.add(-100, -50);
  graph.clamp(graph.sum, graph.clamped, 0, 6);
  graph.negate(graph.clamped, graph.end);
  graph.fuse();
  EXPECT_EQ(graph.planned(), 3u);
}

TEST(Fuse, TensorsOfOtherSizes_Stay) {
  Clamped graph;
  const ValueId shorter = graph.list.tensor(ScalarType::Char, {1, 2, 3, 3}, {0, 2, 3, 1});
  graph.add();
  graph.clamp(graph.sum, shorter);
  graph.negate(shorter, graph.end);
  graph.fuse();
  EXPECT_EQ(graph.planned(), 3u);
}

}  // namespace
}  // namespace rushlight
