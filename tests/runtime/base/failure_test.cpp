// SPDX-License-Identifier: BSD-3-Clause
// The failure trace of failed checks in builds without logs.
#undef RUSHLIGHT_LOG_LEVEL
#define RUSHLIGHT_LOG_LEVEL 3
#undef RUSHLIGHT_FAILURE_TRACE
#define RUSHLIGHT_FAILURE_TRACE 1
#include "runtime/base/failure.h"

#include <gtest/gtest.h>

#include "runtime/base/log.h"

namespace rushlight {
namespace {

Error positive(int value) {
  RL_CHECK(value > 0, Error::InvalidArgument, "value: expected more than 0, got %d", value);
  return Error::Ok;
}

const int* not_null(const int* pointer) {
  RL_CHECK(pointer != nullptr, nullptr, "no pointer");
  return pointer;
}

uint32_t last() {
  const FailureTrace trace = failure_trace();
  return trace.size == 0 ? 0 : trace.records[trace.size - 1];
}

TEST(Failure, OfACheck_HasItsCodeAndPlace) {
  EXPECT_EQ(positive(1), Error::Ok);
  EXPECT_EQ(positive(-1), Error::InvalidArgument);
  EXPECT_EQ(last() & 0x3f, static_cast<uint32_t>(Error::InvalidArgument));
  EXPECT_EQ(last() & ~0x3fu, failure_position(__FILE__, 17));
}

TEST(Failure, OfACheckThatReturnsAPointer_IsRecorded) {
  EXPECT_EQ(not_null(nullptr), nullptr);
  EXPECT_EQ(last() & 0x3f, static_cast<uint32_t>(Error::Internal));
}

TEST(Failure, IsKept_UntilEnoughOthersFollow) {
  for (unsigned i = 0; i < 100; ++i) record_index(i);
  const FailureTrace trace = failure_trace();
  ASSERT_EQ(trace.size, kFailureRecords);
  for (uint32_t i = 0; i < trace.size; ++i) EXPECT_EQ(trace.records[i], (100 - trace.size + i) << 6);
}

TEST(Failure, OfAShortage_HasItsBytes) {
  record_shortage(100, 60);
  EXPECT_EQ(last(), 40u << 6 | kShortage);
  record_shortage(SIZE_MAX, 0);
  EXPECT_EQ(last(), UINT32_MAX);
}

TEST(Failure, Position_IsWhatTheDecoderComputes) {
  // The same numbers stand in tests/python/run/test_failures.py.
  EXPECT_EQ(failure_position("runtime/executor/method.cpp", 77), 0xbc3a3740u);
  EXPECT_EQ(failure_position("runtime/executor/method.cpp", 256 + 77), 0x7c39d280u);
}

}  // namespace
}  // namespace rushlight
