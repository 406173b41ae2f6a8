// SPDX-License-Identifier: BSD-3-Clause
// Requests are written word by word from the description of the format, independent of the reader.
#include "runtime/runner/case_stream.h"

#include <cstdio>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/platform/host_file.h"
#include "tests/runtime/support/program_builder.h"

namespace rushlight {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words
using ::testing::ElementsAre;

// A request, written as the header describes it.
class Request {
 public:
  explicit Request(uint32_t calls) {
    words({0x4f494c52, calls, 0, 0});  // "RLIO"
  }
  Request& call(const std::string& name, uint32_t values) {
    words({static_cast<uint32_t>(name.size()), values, 0, 0});
    return put(name.c_str(), name.size() + 1);
  }
  Request& value(Tag tag, ScalarType type, const std::vector<int32_t>& sizes, const Bytes& data) {
    words({static_cast<uint32_t>(tag), static_cast<uint32_t>(type), static_cast<uint32_t>(sizes.size()),
           static_cast<uint32_t>(data.size())});
    put(sizes.data(), sizes.size() * sizeof(int32_t));
    return put(data.data(), data.size());
  }
  Request& words(std::vector<uint32_t> values) { return put(values.data(), values.size() * 4); }
  Bytes bytes;

 private:
  Request& put(const void* data, size_t size) {
    bytes.resize((bytes.size() + 15) / 16 * 16);
    const auto* start = static_cast<const uint8_t*>(data);
    bytes.insert(bytes.end(), start, start + size);
    return *this;
  }
};

// Reads from a copy of exactly the bytes.
struct Reading {
  explicit Reading(const Bytes& bytes) : block(bytes.size()), reader(Span<const uint8_t>(block.span())) {
    if (!bytes.empty()) std::memcpy(block.span().data(), bytes.data(), bytes.size());
  }
  bool value(EValue* result, const std::vector<uint8_t>& dim_order = {}) {
    return reader.value({dim_order.data(), dim_order.size()}, &storage, result);
  }
  Block block;
  CaseReader reader;
  CaseReader::TensorStorage storage;
};

Bytes bytes_of(double value) {
  Bytes bytes(8);
  std::memcpy(bytes.data(), &value, 8);
  return bytes;
}

Request full_request() {
  Request request(1);
  request.call("forward", 4)
      .value(Tag::Tensor, ScalarType::Float, {1, 2, 2, 1}, floats({1, 2, 3, 4}))
      .value(Tag::Double, ScalarType::Byte, {}, bytes_of(0.5))
      .value(Tag::Bool, ScalarType::Byte, {}, {1})
      .value(Tag::None, ScalarType::Byte, {}, {});
  return request;
}

TEST(CaseReader, ReadsCallsAndValues) {
  Reading reading(full_request().bytes);
  uint32_t calls = 0;
  const char* name = nullptr;
  uint32_t values = 0;
  ASSERT_TRUE(reading.reader.begin(&calls));
  ASSERT_TRUE(reading.reader.call(&name, &values));
  EXPECT_STREQ(name, "forward");
  EXPECT_EQ(calls, 1u);
  EXPECT_EQ(values, 4u);
  EValue value;
  ASSERT_TRUE(reading.value(&value, {0, 2, 3, 1}));
  EXPECT_THAT(elements(value), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(value.to_tensor().strides()[1], 1);
  EXPECT_EQ(value.to_tensor().strides()[2], 2);
  ASSERT_TRUE(reading.value(&value));
  EXPECT_EQ(value.to_double(), 0.5);
  ASSERT_TRUE(reading.value(&value));
  EXPECT_TRUE(value.to_bool());
  ASSERT_TRUE(reading.value(&value));
  EXPECT_TRUE(value.is_none());
  EXPECT_FALSE(reading.value(&value));
}

TEST(CaseReader, RefusesEveryTruncation) {
  const Bytes all = full_request().bytes;
  for (size_t size = 0; size < all.size(); ++size) {
    Reading reading(Bytes(all.begin(), all.begin() + static_cast<long>(size)));
    uint32_t calls = 0;
    const char* name = nullptr;
    uint32_t values = 0;
    EValue value;
    const bool whole = reading.reader.begin(&calls) && reading.reader.call(&name, &values) &&
                       reading.value(&value) && reading.value(&value) && reading.value(&value) &&
                       reading.value(&value);
    EXPECT_FALSE(whole) << size;
  }
}

TEST(CaseReader, RefusesValuesThatCannotBe) {
  const auto reads = [](const Request& request, const std::vector<uint8_t>& order = {}) {
    Reading reading(request.bytes);
    uint32_t calls = 0;
    EValue value;
    return reading.reader.begin(&calls) && reading.value(&value, order);
  };
  const auto one = [](Tag tag, ScalarType type, const std::vector<int32_t>& sizes, const Bytes& data) {
    return Request(1).value(tag, type, sizes, data);
  };
  EXPECT_TRUE(reads(one(Tag::Tensor, ScalarType::Float, {2}, floats({1, 2}))));
  EXPECT_FALSE(reads(one(Tag::Tensor, ScalarType::Float, {3}, floats({1, 2}))));
  EXPECT_FALSE(reads(one(Tag::Tensor, ScalarType::Double, {2}, floats({1, 2}))));
  EXPECT_FALSE(reads(one(Tag::Tensor, ScalarType::Float, {-2}, floats({1, 2}))));
  EXPECT_FALSE(reads(one(Tag::Tensor, ScalarType::Float, std::vector<int32_t>(17, 1), floats({1}))));
  EXPECT_FALSE(reads(one(Tag::Int, ScalarType::Byte, {}, {})));
  EXPECT_FALSE(reads(one(Tag::Double, ScalarType::Byte, {}, {1})));
  EXPECT_FALSE(reads(one(Tag::Bool, ScalarType::Byte, {}, {})));
  EXPECT_FALSE(reads(one(Tag::ListInt, ScalarType::Byte, {}, {})));
  EXPECT_FALSE(reads(one(static_cast<Tag>(99), ScalarType::Byte, {}, {})));
  // A receiving tensor of another rank: its order does not apply, and is not read past its end.
  EXPECT_TRUE(reads(one(Tag::Tensor, ScalarType::Float, {1, 2}, floats({1, 2})), {0}));
}

TEST(CaseReader, RefusesStreamsOfAnotherKind) {
  Bytes bytes = full_request().bytes;
  bytes[0] = 'X';
  uint32_t calls = 0;
  EXPECT_FALSE(Reading(bytes).reader.begin(&calls));
  Request long_name(1);
  long_name.words({UINT32_MAX, 0, 0, 0});
  Reading reading(long_name.bytes);
  const char* name = nullptr;
  EXPECT_TRUE(reading.reader.begin(&calls));
  EXPECT_FALSE(reading.reader.call(&name, &calls));
}

TEST(CaseWriter, WritesWhatTheReaderReads) {
  const std::string path = ::testing::TempDir() + "rushlight_case_stream_test.bin";
  const int file = platform::file_open(path.c_str(), platform::FileMode::Write);
  ASSERT_GE(file, 0);
  FloatTensor tensor({3, 1}, {1.5, 2.5, 3.5});
  CaseWriter writer(file);
  Report report{};
  report.planned_bytes = 77;
  writer.begin(1, report);
  writer.call(3, CallReport{5, 6}, 4321);
  writer.value(tensor.value());
  writer.value(EValue(int64_t{-9}));
  writer.value(EValue());
  EXPECT_TRUE(writer.ok());
  platform::file_close(file);

  std::ifstream stream(path, std::ios::binary);
  const Bytes bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  std::remove(path.c_str());
  Report read_report;
  CallReport call_report;
  std::memcpy(&read_report, &bytes[16], sizeof read_report);
  EXPECT_EQ(read_report.planned_bytes, 77u);
  const size_t call_at = 16 + sizeof read_report;
  std::memcpy(&call_report, &bytes[call_at + 16], sizeof call_report);
  EXPECT_EQ(call_report.ns, 6u);
  uint32_t stack_bytes = 0;
  std::memcpy(&stack_bytes, &bytes[call_at + 8], sizeof stack_bytes);
  EXPECT_EQ(stack_bytes, 4321u);
  Request rest(1);
  rest.bytes.insert(rest.bytes.end(), bytes.begin() + static_cast<long>(call_at + 16 + sizeof call_report),
                    bytes.end());
  Reading reading(rest.bytes);
  uint32_t calls = 0;
  EValue value;
  ASSERT_TRUE(reading.reader.begin(&calls));
  ASSERT_TRUE(reading.value(&value));
  EXPECT_THAT(elements(value), ElementsAre(1.5, 2.5, 3.5));
  ASSERT_TRUE(reading.value(&value));
  EXPECT_EQ(value.to_int(), -9);
  ASSERT_TRUE(reading.value(&value));
  EXPECT_TRUE(value.is_none());
}

TEST(CaseWriter, SaysWhenItCouldNotWrite) {
  CaseWriter writer(-1);
  writer.begin(0, Report{});
  EXPECT_FALSE(writer.ok());
}

}  // namespace
}  // namespace rushlight
