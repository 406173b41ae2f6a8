// SPDX-License-Identifier: BSD-3-Clause
// One value per graph, with its fields set one by one: limits are tested on both sides. A value that is
// accepted wrongly is a read out of bounds later, because lowering does not check again.
#include "backends/xnnpack/values.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/backends/xnnpack/graph_builder.h"

namespace rushlight::xnnpack {
namespace {

using ::testing::ElementsAre;

uint32_t code(Datatype datatype) { return static_cast<uint32_t>(datatype); }

// The one value, which may have a constant of `bytes`.
Result<Value> read(GraphValue value, size_t bytes = 0) {
  Graph graph;
  if (bytes != 0) {
    graph.buffers = {{}, std::vector<uint8_t>(bytes)};
    value.constant = 1;
  }
  graph.values = {std::move(value)};
  const std::vector<uint8_t> data = graph.build();
  RL_TRY_ASSIGN(const Payload payload, Payload::read({data.data(), data.size()}, nullptr));
  RL_TRY_ASSIGN(std::vector<Value> values, read_values(payload));
  Value found = std::move(values[0]);
  found.data = {};  // lies in the payload
  return found;
}

GraphValue quantized(Datatype datatype, Quantization quantization, std::vector<uint32_t> dims = {2, 4}) {
  return {code(datatype), std::move(dims), kNone, 0, std::move(quantization)};
}

TEST(Values, EachDatatype_IsATensorOrRefused) {
  for (uint32_t number = 0; number < 40; ++number) {
    GraphValue value;
    value.datatype = number;
    const bool is_known =
        number >= code(Datatype::XnnDatatypeFp32) && number <= code(Datatype::XnnDatatypeBf16);
    EXPECT_EQ(read(value).error(), is_known ? Error::Ok : Error::NotSupported) << number;
  }
}

TEST(Values, Dims_AreAtMostSixAndTheirProductFits) {
  GraphValue value;
  value.dims = {1, 2, 3, 4, 5, 6};
  EXPECT_THAT(read(value)->dims, ElementsAre(1, 2, 3, 4, 5, 6));
  value.dims = {};
  EXPECT_EQ(read(value)->numel(), 1);
  value.dims = {5, 0};
  EXPECT_EQ(read(value)->numel(), 0);
  for (const auto& dims : std::vector<std::vector<uint32_t>>{{1, 1, 1, 1, 1, 1, 1},
                                                             {UINT32_MAX},
                                                             {uint32_t{1} << 31},
                                                             {1u << 20, 1u << 20, 2},
                                                             {1u << 31, 0}}) {
    value.dims = dims;
    EXPECT_EQ(read(value).error(), Error::InvalidProgram);
  }
}

TEST(Values, AConstant_HasAsManyBytesAsItNeeds) {
  const GraphValue value;  // 2 x 3 of float32
  EXPECT_TRUE(read(value, 24)->is_constant);
  EXPECT_TRUE(read(value, 30).ok());
  EXPECT_EQ(read(value, 23).error(), Error::InvalidProgram);
}

TEST(Values, AConstantThatIsNotThere_IsRefused) {
  GraphValue value;
  value.constant = 1;
  EXPECT_EQ(read(value).error(), Error::InvalidProgram);
}

TEST(Values, AScaleThatIsNoPositiveNumber_IsRefused) {
  for (const float scale : {0.0f, -1.0f, std::nanf(""), kInfinity, -kInfinity}) {
    EXPECT_EQ(read(quantized(Datatype::XnnDatatypeQint8, per_tensor(scale, 0))).error(),
              Error::InvalidProgram);
    EXPECT_EQ(read(quantized(Datatype::XnnDatatypeQcint8, per_channel({1, scale}, 0)), 8).error(),
              Error::InvalidProgram);
    EXPECT_EQ(read(quantized(Datatype::XnnDatatypeQbint4, in_groups({1, 1, 1, scale}, 2)), 4).error(),
              Error::InvalidProgram);
  }
  EXPECT_FLOAT_EQ(read(quantized(Datatype::XnnDatatypeQint8, per_tensor(0.5f, 3)))->scale_of(0), 0.5f);
}

TEST(Values, AZeroPoint_IsANumberOfItsType) {
  struct Range {
    Datatype datatype;
    int32_t low, high;
  };
  for (const Range& range :
       {Range{Datatype::XnnDatatypeQint8, -128, 127}, Range{Datatype::XnnDatatypeQuint8, 0, 255},
        Range{Datatype::XnnDatatypeQint32, 0, 0}}) {
    for (const int32_t inside : {range.low, range.high})
      EXPECT_EQ(read(quantized(range.datatype, per_tensor(1, inside)))->zero_point, inside);
    for (const int32_t outside : {range.low - 1, range.high + 1, INT32_MIN, INT32_MAX})
      EXPECT_EQ(read(quantized(range.datatype, per_tensor(1, outside))).error(), Error::InvalidProgram)
          << outside;
  }
}

TEST(Values, ScalesOfChannels_FitTheirDim) {
  const auto error = [](std::vector<float> scales, int32_t dim) {
    return read(quantized(Datatype::XnnDatatypeQcint8, per_channel(std::move(scales), dim)), 8).error();
  };
  EXPECT_EQ(error({1, 2}, 0), Error::Ok);
  EXPECT_EQ(error({1, 2, 3, 4}, 1), Error::Ok);
  EXPECT_EQ(error({1, 2}, 1), Error::InvalidProgram);
  EXPECT_EQ(error({1, 2}, 2), Error::InvalidProgram);
  EXPECT_EQ(error({1, 2}, -1), Error::InvalidProgram);
  EXPECT_EQ(error({}, 0), Error::InvalidProgram);
}

TEST(Values, Groups_DivideRows) {
  const auto error = [](std::vector<float> scales, int32_t size, std::vector<uint32_t> dims = {2, 4}) {
    return read(quantized(Datatype::XnnDatatypeQbint4, in_groups(std::move(scales), size), std::move(dims)),
                4)
        .error();
  };
  EXPECT_EQ(error({1, 2, 3, 4}, 2), Error::Ok);
  EXPECT_EQ(error({1, 2}, 4), Error::Ok);
  EXPECT_EQ(error({1, 2, 3}, 2), Error::InvalidProgram);
  EXPECT_EQ(error({1, 2}, 3), Error::InvalidProgram);
  EXPECT_EQ(error({1, 2}, 0), Error::InvalidProgram);
  EXPECT_EQ(error({1, 2}, -4), Error::InvalidProgram);
  EXPECT_EQ(error({1, 2}, 4, {2, 4, 1}), Error::InvalidProgram);
}

TEST(Values, NumbersOf4Bits_ShareBytesAndRowsDoNot) {
  const auto error = [](size_t bytes, std::vector<uint32_t> dims) {
    return read(quantized(Datatype::XnnDatatypeQcint4, per_channel({1, 2}, 0), std::move(dims)), bytes)
        .error();
  };
  EXPECT_EQ(error(4, {2, 4}), Error::Ok);
  EXPECT_EQ(error(4, {2, 3}), Error::Ok);
  EXPECT_EQ(error(3, {2, 3}), Error::InvalidProgram);
  EXPECT_EQ(error(8, {2, 2, 2}), Error::InvalidProgram);
}

TEST(Values, DimsThatShareARange_AreThere) {
  EXPECT_EQ(read(quantized(Datatype::XnnDatatypeQdint8, dynamic_quantization(1)))->nonbatch_dims, 1);
  EXPECT_EQ(read(quantized(Datatype::XnnDatatypeQdint8, dynamic_quantization(3))).error(),
            Error::InvalidProgram);
  EXPECT_EQ(read(quantized(Datatype::XnnDatatypeQdint8, dynamic_quantization(-1))).error(),
            Error::InvalidProgram);
}

TEST(Values, AQuantizationWithoutKind_IsRefused) {
  GraphValue value;
  value.is_quantized = true;
  EXPECT_EQ(read(value).error(), Error::InvalidProgram);
}

}  // namespace
}  // namespace rushlight::xnnpack
