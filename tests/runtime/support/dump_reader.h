// SPDX-License-Identifier: BSD-3-Clause
// Verifies and parses an ETDump file, for tests.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/span.h"
#include "runtime/program/flatbuffer.h"

namespace rushlight::testing {

struct DumpEvent {
  // "profile", "debug" or "allocation".
  std::string kind;
  // The name of a profile event, or its delegate's: "#7" by index, "@name" by name; the kind of value of a
  // debug event.
  std::string what;
  int64_t chain = 0;
  int32_t instruction = 0;
  uint64_t start = 0;
  uint64_t end = 0;
  std::vector<uint8_t> metadata;
  // The shape of a tensor.
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = 0;
  bool is_output = false;
};

// The events between two create_event_block(), in order.
struct DumpBlock {
  std::string name;
  int32_t bundled_input = 0;
  std::vector<std::string> allocators;
  std::vector<DumpEvent> events;
};

// Fails the test, and returns nothing, if the file violates the format.
std::vector<DumpBlock> read_dump(Span<const uint8_t> file);

// All events, one line each: "Execute: profile native_call_add.out 0/3".
std::vector<std::string> lines(const std::vector<DumpBlock>& blocks);

}  // namespace rushlight::testing
