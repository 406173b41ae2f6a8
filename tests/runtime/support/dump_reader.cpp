// SPDX-License-Identifier: BSD-3-Clause
// An independent description of ETDump's schema: a file that the writer's tables describe wrongly fails to
// verify here.
#include "tests/runtime/support/dump_reader.h"

#include <cstring>

#include <gtest/gtest.h>

#include "runtime/trace/etdump_schema.h"
#include "tests/runtime/support/program_builder.h"

namespace rushlight::testing {

namespace {

using flatbuffer::Field;
using flatbuffer::Kind;
using flatbuffer::Table;
using flatbuffer::TableVector;

enum : uint8_t {
  kFile,
  kRun,
  kAllocator,
  kEvent,
  kProfile,
  kAllocation,
  kDebug,
  kValue,
  kTensor,
  kTensorList,
  kLong,
  kByte
};

constexpr Field kFileFields[] = {{Kind::Scalar32}, {Kind::TableVector, kRun}};
constexpr Field kRunFields[] = {
    {Kind::String}, {Kind::Scalar32}, {Kind::TableVector, kAllocator}, {Kind::TableVector, kEvent}};
constexpr Field kAllocatorFields[] = {{Kind::String}};
constexpr Field kEventFields[] = {{Kind::Table, kProfile}, {Kind::Table, kAllocation}, {Kind::Table, kDebug}};
constexpr Field kProfileFields[] = {{Kind::String}, {Kind::Scalar32}, {Kind::Scalar32}, {Kind::Scalar32},
                                    {Kind::String}, {Kind::Vector8},  {Kind::Scalar64}, {Kind::Scalar64}};
constexpr Field kAllocationFields[] = {{Kind::Scalar32}, {Kind::Scalar64}};
constexpr Field kDebugFields[] = {{Kind::Scalar64}, {Kind::Scalar32}, {Kind::Table, kValue},
                                  {Kind::Scalar32}, {Kind::String},   {Kind::String}};
constexpr Field kValueFields[] = {{Kind::Scalar8},      {Kind::Table, kTensor}, {Kind::Table, kTensorList},
                                  {Kind::Table, kLong}, {Kind::Table, kLong},   {Kind::Table, kLong},
                                  {Kind::Table, kByte}, {Kind::Table, kByte}};
constexpr Field kTensorFields[] = {{Kind::Scalar8}, {Kind::Vector64}, {Kind::Vector64}, {Kind::Scalar64}};
constexpr Field kTensorListFields[] = {{Kind::TableVector, kTensor}};
constexpr Field kLongFields[] = {{Kind::Scalar64}};
constexpr Field kByteFields[] = {{Kind::Scalar8}};

template <size_t N>
constexpr flatbuffer::TableType type(const Field (&fields)[N]) {
  return {fields, N};
}
constexpr flatbuffer::TableType kTypes[] = {
    type(kFileFields),    type(kRunFields),        type(kAllocatorFields), type(kEventFields),
    type(kProfileFields), type(kAllocationFields), type(kDebugFields),     type(kValueFields),
    type(kTensorFields),  type(kTensorListFields), type(kLongFields),      type(kByteFields)};

DumpEvent read_profile(Table table) {
  namespace slot = etdump::profile;
  DumpEvent event;
  event.kind = "profile";
  event.what = table.string(slot::kName);
  const auto index = table.scalar<int32_t>(slot::kDelegateIdInt, -1);
  if (index != -1) event.what += "#" + std::to_string(index);
  if (table.string_length(slot::kDelegateIdStr) > 0)
    event.what += std::string("@") + table.string(slot::kDelegateIdStr);
  event.chain = table.scalar<int32_t>(slot::kChainIndex);
  event.instruction = table.scalar<int32_t>(slot::kInstructionId, -1);
  const auto metadata = table.vector<uint8_t>(slot::kMetadata);
  event.metadata.assign(metadata.begin(), metadata.end());
  event.start = table.scalar<uint64_t>(slot::kStartTime);
  event.end = table.scalar<uint64_t>(slot::kEndTime);
  return event;
}

void read_tensor(Table table, DumpEvent* event) {
  const auto sizes = table.vector<int64_t>(etdump::tensor::kSizes);
  const auto strides = table.vector<int64_t>(etdump::tensor::kStrides);
  event->sizes.assign(sizes.begin(), sizes.end());
  event->strides.assign(strides.begin(), strides.end());
  event->offset = table.scalar<int64_t>(etdump::tensor::kOffset);
}

std::string describe(Table value, DumpEvent* event) {
  namespace slot = etdump::value;
  using etdump::value::Kind;
  constexpr unsigned kNumber = etdump::boxed_number::kValue;
  switch (static_cast<Kind>(value.scalar<uint8_t>(slot::kKind))) {
    case Kind::Int:
      return "int " + std::to_string(value.table(slot::kInt).scalar<int64_t>(kNumber));
    case Kind::Bool:
      return value.table(slot::kBool).scalar<uint8_t>(kNumber) != 0 ? "bool true" : "bool false";
    case Kind::Double: {
      const auto bits = value.table(slot::kDouble).scalar<uint64_t>(kNumber);
      double number;
      std::memcpy(&number, &bits, sizeof number);
      return "double " + std::to_string(number);
    }
    case Kind::Tensor:
      read_tensor(value.table(slot::kTensor), event);
      return "tensor";
    case Kind::TensorList: {
      const TableVector list = value.table(slot::kTensorList).tables(etdump::tensor_list::kTensors);
      if (list.size() > 0) read_tensor(list[list.size() - 1], event);
      return std::to_string(list.size()) + " tensors";
    }
    default:
      return "nothing";
  }
}

DumpEvent read_debug(Table table) {
  namespace slot = etdump::debug;
  DumpEvent event;
  event.kind = "debug";
  event.what = describe(table.table(slot::kEntry), &event);
  const auto index = table.scalar<int32_t>(slot::kDelegateIdInt, -1);
  if (index != -1) event.what += "#" + std::to_string(index);
  if (table.string_length(slot::kDelegateIdStr) > 0)
    event.what += std::string("@") + table.string(slot::kDelegateIdStr);
  event.chain = table.scalar<int64_t>(slot::kChainIndex);
  event.instruction = table.scalar<int32_t>(slot::kInstructionId, -1);
  event.is_output = static_cast<bool>(table.table(slot::kEntry).table(etdump::value::kOutput));
  return event;
}

DumpEvent read_event(Table table) {
  if (const Table profile = table.table(etdump::event::kProfile)) return read_profile(profile);
  if (const Table debug = table.table(etdump::event::kDebug)) return read_debug(debug);
  const Table allocation = table.table(etdump::event::kAllocation);
  DumpEvent event;
  event.kind = "allocation";
  event.what = std::to_string(allocation.scalar<int32_t>(etdump::allocation::kAllocatorId)) + ": " +
               std::to_string(allocation.scalar<uint64_t>(etdump::allocation::kSize));
  return event;
}

}  // namespace

std::vector<DumpBlock> read_dump(Span<const uint8_t> file) {
  std::vector<DumpBlock> blocks;
  if (file.size() < 12 || file.size() % 8 != 0 || std::memcmp(file.data() + 8, "ED00", 4) != 0) {
    ADD_FAILURE() << "no ETDump header in " << file.size() << " bytes";
    return blocks;
  }
  uint32_t header[2];
  std::memcpy(header, file.data(), sizeof header);
  EXPECT_EQ(header[0], file.size() - 4);
  // verify() does not support a size prefix: it is replaced by the offset of the root.
  const Block copy(file.size());
  std::memcpy(copy.span().data(), file.data(), file.size());
  header[0] = header[1] + 4;
  std::memcpy(copy.span().data(), header, sizeof header[0]);
  if (flatbuffer::verify(copy.span(), kTypes) != Error::Ok) {
    ADD_FAILURE() << "the file is damaged";
    return blocks;
  }
  const Table root(copy.span().data() + header[0]);
  const TableVector runs = root.tables(etdump::file::kRunData);
  for (size_t i = 0; i < runs.size(); ++i) {
    DumpBlock block;
    block.name = runs[i].string(etdump::run::kName);
    block.bundled_input = runs[i].scalar<int32_t>(etdump::run::kBundledInputIndex, -1);
    const TableVector allocators = runs[i].tables(etdump::run::kAllocators);
    for (size_t a = 0; a < allocators.size(); ++a)
      block.allocators.emplace_back(allocators[a].string(etdump::allocator::kName));
    const TableVector events = runs[i].tables(etdump::run::kEvents);
    for (size_t e = 0; e < events.size(); ++e) block.events.push_back(read_event(events[e]));
    blocks.push_back(std::move(block));
  }
  return blocks;
}

std::vector<std::string> lines(const std::vector<DumpBlock>& blocks) {
  std::vector<std::string> all;
  for (const DumpBlock& block : blocks) {
    for (const DumpEvent& event : block.events) {
      all.push_back(block.name + ": " + event.kind + " " + event.what + " " + std::to_string(event.chain) +
                    "/" + std::to_string(event.instruction));
    }
  }
  return all;
}

}  // namespace rushlight::testing
