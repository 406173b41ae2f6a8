// SPDX-License-Identifier: BSD-3-Clause
// A .pte file is a FlatBuffers table, optionally followed by segments with constants and payloads. The
// extended header states the size of the first part, so that a loader need not read the rest.
#include "runtime/program/program.h"

#include <cstring>

#include "runtime/base/log.h"
#include "runtime/program/method_meta.h"
#include "runtime/program/schema.h"

namespace rushlight {

namespace {

using flatbuffer::read;
using flatbuffer::Table;

// Head of a file: uint32 root offset, "ET12", then optionally the extended header: "eh00", uint32 length,
// uint64 size of the flatbuffer, uint64 offset of the segments and, since length 32, uint64 size of the
// segments.
constexpr size_t kIdentifierOffset = 4;
constexpr size_t kExtendedOffset = 8;
constexpr size_t kExtendedMinimum = 24;
constexpr size_t kHeadSize = kExtendedOffset + 32;

constexpr uint32_t kKnownVersion = 0;

struct Extent {
  size_t program_size;
  size_t segment_base;
};

// Reads only the first 40 bytes, to learn how much more to read. Without an extended header the whole file is
// one FlatBuffers table.
Error read_head(DataLoader& loader, Extent* extent) {
  const size_t total = loader.size();
  RL_CHECK(total >= kExtendedOffset, Error::InvalidProgram, "program: %lu bytes are too few for a .pte",
           static_cast<unsigned long>(total));
  RL_TRY_ASSIGN(FreeableBuffer head, loader.load(0, total < kHeadSize ? total : kHeadSize));
  const uint8_t* bytes = head.bytes().data();
  RL_CHECK(std::memcmp(bytes + kIdentifierOffset, "ET12", 4) == 0, Error::InvalidProgram,
           "program: expected the identifier ET12 at byte 4, found %02x %02x %02x %02x", bytes[4], bytes[5],
           bytes[6], bytes[7]);
  *extent = {total, 0};
  if (total < kExtendedOffset + kExtendedMinimum || std::memcmp(bytes + kExtendedOffset, "eh00", 4) != 0) {
    return Error::Ok;
  }
  const uint32_t length = read<uint32_t>(bytes + kExtendedOffset + 4);
  RL_CHECK(length >= kExtendedMinimum, Error::InvalidProgram,
           "program: expected an extended header of at least 24 bytes, found %lu",
           static_cast<unsigned long>(length));
  uint64_t sizes[3] = {};
  // Headers of 24 bytes lack the size of the segments; sizes[2] is then 0, and only their start is checked.
  const size_t present = length >= 32 && head.size() >= kHeadSize ? 3 : 2;
  std::memcpy(sizes, bytes + kExtendedOffset + 8, present * sizeof(uint64_t));
  RL_CHECK(sizes[0] <= total, Error::InvalidProgram, "program: its header says %lu bytes, the file has %lu",
           static_cast<unsigned long>(sizes[0]), static_cast<unsigned long>(total));
  RL_CHECK(sizes[1] <= total && range_fits(sizes[1], sizes[2], total), Error::InvalidProgram,
           "program: its header puts segments at byte %lu, the file has %lu",
           static_cast<unsigned long>(sizes[1]), static_cast<unsigned long>(total));
  *extent = {static_cast<size_t>(sizes[0]), static_cast<size_t>(sizes[1])};
  return Error::Ok;
}

}  // namespace

Result<Program> Program::load(DataLoader& loader, Verification verification) {
  Extent extent{};
  RL_TRY(read_head(loader, &extent));
  // The FlatBuffers table alone; segments are loaded on demand.
  RL_TRY_ASSIGN(FreeableBuffer data, loader.load(0, extent.program_size));
  if (verification == Verification::InternalConsistency) {
    RL_TRY(flatbuffer::verify(data.bytes(), schema::kProgramTables));
  }
  Program program(loader, std::move(data), extent.segment_base);
  const auto version = program.root().scalar<uint32_t>(schema::program::kVersion);
  RL_CHECK(version == kKnownVersion, Error::NotSupported,
           "program: schema version %lu, this runtime reads %lu", static_cast<unsigned long>(version),
           static_cast<unsigned long>(kKnownVersion));
  RL_TRY(program.load_constants());
  return program;
}

flatbuffer::Table Program::root() const {
  const uint8_t* bytes = data_.bytes().data();
  return Table(bytes + read<uint32_t>(bytes));
}

// Checks a segment's range against the loader's size, because segments are not part of the verified
// FlatBuffers data.
Error Program::segment_range(uint64_t index, size_t* offset, size_t* size) const {
  const auto segments = root().tables(schema::program::kSegments);
  RL_CHECK(index < segments.size(), Error::InvalidProgram, "program: segment %lu of %lu",
           static_cast<unsigned long>(index), static_cast<unsigned long>(segments.size()));
  const Table segment = segments[static_cast<size_t>(index)];
  const auto start = segment.scalar<uint64_t>(schema::segment::kOffset);
  const auto length = segment.scalar<uint64_t>(schema::segment::kSize);
  // Writers leave the base 0 if no segment has data.
  // segment_base_ <= size: read_head() has checked it.
  RL_CHECK((segment_base_ != 0 || length == 0) && range_fits(start, length, loader_->size() - segment_base_),
           Error::InvalidProgram, "program: segment %lu exceeds the file of %lu bytes",
           static_cast<unsigned long>(index), static_cast<unsigned long>(loader_->size()));
  *offset = segment_base_ + static_cast<size_t>(start);
  *size = static_cast<size_t>(length);
  return Error::Ok;
}

Result<FreeableBuffer> Program::load_segment(uint64_t index) const {
  size_t offset = 0;
  size_t size = 0;
  RL_TRY(segment_range(index, &offset, &size));
  return loader_->load(offset, size);
}

// Loads all constants at once. Programs without a constant segment store them inline, which constant()
// handles.
Error Program::load_constants() {
  const Table segment = root().table(schema::program::kConstantSegment);
  if (segment.vector<uint64_t>(schema::subsegment::kOffsets).empty()) return Error::Ok;
  RL_TRY_ASSIGN(constants_, load_segment(segment.scalar<uint32_t>(schema::subsegment::kSegmentIndex)));
  return Error::Ok;
}

size_t Program::num_methods() const { return root().tables(schema::program::kExecutionPlan).size(); }

const char* Program::method_name(size_t index) const {
  return root().tables(schema::program::kExecutionPlan)[index].string(schema::plan::kName);
}

Result<MethodMeta> Program::method_meta(const char* name) const {
  const auto plans = root().tables(schema::program::kExecutionPlan);
  for (size_t i = 0; i < plans.size(); ++i) {
    if (std::strcmp(plans[i].string(schema::plan::kName), name) == 0) return MethodMeta(plans[i]);
  }
  RL_LOG(Error, "method %s: the program has no such method (%lu methods, the first is %s)", name,
         static_cast<unsigned long>(plans.size()), plans.size() == 0 ? "-" : method_name(0));
  return Error::NotFound;
}

Result<const void*> Program::constant(uint32_t index, size_t nbytes) const {
  const auto offsets =
      root().table(schema::program::kConstantSegment).vector<uint64_t>(schema::subsegment::kOffsets);
  const auto inlined = root().tables(schema::program::kConstantBuffer);
  // Index 0 is reserved in both forms: callers treat it as "no constant".
  const size_t count = offsets.empty() ? inlined.size() : offsets.size();
  RL_CHECK(index < count, Error::InvalidProgram, "constant %lu of %lu", static_cast<unsigned long>(index),
           static_cast<unsigned long>(count));
  Span<const uint8_t> bytes = constants_.bytes();
  uint64_t offset = 0;
  if (offsets.empty()) {
    bytes = inlined[index].vector<uint8_t>(schema::buffer::kStorage);
  } else {
    offset = offsets[index];
  }
  RL_CHECK(range_fits(offset, nbytes, bytes.size()), Error::InvalidProgram,
           "constant %lu: %lu bytes at %lu of %lu", static_cast<unsigned long>(index),
           static_cast<unsigned long>(nbytes), static_cast<unsigned long>(offset),
           static_cast<unsigned long>(bytes.size()));
  return static_cast<const void*>(bytes.data() + static_cast<size_t>(offset));
}

Error Program::load_mutable(uint64_t segment, uint32_t index, void* target, size_t nbytes) const {
  const auto segments = root().tables(schema::program::kMutableDataSegments);
  RL_CHECK(segment < segments.size(), Error::InvalidProgram, "mutable segment %lu of %lu",
           static_cast<unsigned long>(segment), static_cast<unsigned long>(segments.size()));
  const Table entry = segments[static_cast<size_t>(segment)];
  const auto offsets = entry.vector<uint64_t>(schema::subsegment::kOffsets);
  size_t offset = 0;
  size_t size = 0;
  RL_TRY(segment_range(entry.scalar<uint32_t>(schema::subsegment::kSegmentIndex), &offset, &size));
  RL_CHECK(index < offsets.size() && range_fits(offsets[index], nbytes, size), Error::InvalidProgram,
           "mutable segment %lu: entry %lu of %lu exceeds it", static_cast<unsigned long>(segment),
           static_cast<unsigned long>(index), static_cast<unsigned long>(offsets.size()));
  // Reads into memory of the loader and copies: loaders have one way to return data.
  RL_TRY_ASSIGN(FreeableBuffer data, loader_->load(offset + static_cast<size_t>(offsets[index]), nbytes));
  if (nbytes > 0) std::memcpy(target, data.data(), nbytes);
  return Error::Ok;
}

Result<FreeableBuffer> Program::delegate_data(Table reference) const {
  const auto index = reference.scalar<uint32_t>(schema::delegate_reference::kIndex);
  const auto location = reference.scalar<uint8_t>(schema::delegate_reference::kLocation);
  if (location == static_cast<uint8_t>(schema::DelegateDataLocation::Segment)) {
    return load_segment(index);
  }
  RL_CHECK(location == static_cast<uint8_t>(schema::DelegateDataLocation::Inline), Error::InvalidProgram,
           "delegate: unknown data location %lu", log_number(location));
  const auto inlined = root().tables(schema::program::kBackendDelegateData);
  RL_CHECK(index < inlined.size(), Error::InvalidProgram, "delegate: data %lu of %lu", log_number(index),
           log_number(inlined.size()));
  // Inline payloads belong to the program's buffer; this buffer does not free them.
  const auto bytes = inlined[index].vector<uint8_t>(schema::buffer::kStorage);
  return FreeableBuffer(bytes.data(), bytes.size());
}

}  // namespace rushlight
