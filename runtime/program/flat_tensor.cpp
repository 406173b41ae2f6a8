// SPDX-License-Identifier: BSD-3-Clause
// A .ptd file is a FlatBuffers directory followed by segments. load() verifies the directory, and data is
// read from the segments on request.
#include "runtime/program/flat_tensor.h"

#include <algorithm>
#include <cstring>

#include "runtime/program/ptd_tables.inc"
#include "runtime/program/schema.h"

namespace rushlight {

namespace {

using flatbuffer::read;
using flatbuffer::Table;

namespace file = schema::ptd::flat_tensor_table;
namespace segment = schema::ptd::data_segment_table;
namespace named = schema::ptd::named_data_table;
namespace layout = schema::ptd::tensor_layout_table;

constexpr uint32_t kKnownVersion = 0;

// ---- Header, at byte 8: "FH01", uint32 length, then these four values ----

constexpr size_t kHeaderOffset = 8;
constexpr uint32_t kHeaderSize = 40;
struct Header {
  uint64_t flatbuffer_offset;  // the root offset at byte 0 counts from the start of the file nonetheless
  uint64_t flatbuffer_size;
  uint64_t segment_base;
  uint64_t data_size;
};
static_assert(sizeof(Header) == kHeaderSize - 8);

Error read_header(DataLoader& loader, Header* header, size_t* directory_size) {
  const size_t total = loader.size();
  RL_CHECK(total >= kHeaderOffset + kHeaderSize, Error::InvalidExternalData,
           "data file: %lu bytes are too few for a .ptd", log_number(total));
  RL_TRY_ASSIGN(const FreeableBuffer head, loader.load(0, kHeaderOffset + kHeaderSize));
  const uint8_t* bytes = head.bytes().data();
  RL_CHECK(std::memcmp(bytes + 4, "FT01", 4) == 0, Error::InvalidExternalData,
           "data file: expected the identifier FT01 at byte 4, found %02x %02x %02x %02x", bytes[4], bytes[5],
           bytes[6], bytes[7]);
  RL_CHECK(std::memcmp(bytes + kHeaderOffset, "FH01", 4) == 0, Error::InvalidExternalData,
           "data file: expected a header FH01 at byte 8, found %02x %02x %02x %02x", bytes[8], bytes[9],
           bytes[10], bytes[11]);
  const auto length = read<uint32_t>(bytes + kHeaderOffset + 4);
  RL_CHECK(length >= kHeaderSize, Error::InvalidExternalData,
           "data file: expected a header of at least %lu bytes, found %lu", log_number(kHeaderSize),
           log_number(length));
  std::memcpy(header, bytes + kHeaderOffset + 8, sizeof *header);
  // The directory may begin behind a gap, so its end is the number of bytes to read from the start.
  uint64_t end = 0;
  // checked_add, because all values are 64 bits of an unverified file.
  RL_CHECK(checked_add(header->flatbuffer_offset, header->flatbuffer_size, &end) && end <= total,
           Error::InvalidExternalData, "data file: its header says %lu bytes at %lu, the file has %lu",
           log_number(header->flatbuffer_size), log_number(header->flatbuffer_offset), log_number(total));
  RL_CHECK(range_fits(header->segment_base, header->data_size, total), Error::InvalidExternalData,
           "data file: its header puts %lu bytes of data at %lu, the file has %lu",
           log_number(header->data_size), log_number(header->segment_base), log_number(total));
  *directory_size = static_cast<size_t>(end);
  return Error::Ok;
}

std::string_view key_of(Table entry) { return {entry.string(named::kKey), entry.string_length(named::kKey)}; }

Result<TensorLayout> layout_of(Table entry) {
  const Table table = entry.table(named::kTensorLayout);
  return make_tensor_layout(table.scalar<int8_t>(layout::kScalarType), table.vector<int32_t>(layout::kSizes),
                            table.vector<uint8_t>(layout::kDimOrder), entry.string(named::kKey));
}

}  // namespace

Result<FlatTensor> FlatTensor::load(DataLoader& loader) {
  Header header{};
  size_t directory_size = 0;
  RL_TRY(read_header(loader, &header, &directory_size));
  RL_TRY_ASSIGN(FreeableBuffer directory, loader.load(0, directory_size));
  const Error damaged = flatbuffer::verify(directory.bytes(), schema::kDataFileTables);
  if (damaged != Error::Ok) return damaged == Error::InvalidProgram ? Error::InvalidExternalData : damaged;
  FlatTensor map(loader, std::move(directory), static_cast<size_t>(header.segment_base));
  RL_TRY(map.check(header.data_size));
  return map;
}

// Each entry is checked once, at load, so that lookups can trust it.
Error FlatTensor::check(uint64_t data_size) const {
  const auto version = root().scalar<uint32_t>(file::kVersion);
  RL_CHECK(version == kKnownVersion, Error::NotSupported,
           "data file: schema version %lu, this runtime reads %lu", log_number(version),
           log_number(kKnownVersion));
  const size_t count = root().tables(file::kNamedData).size();
  for (size_t i = 0; i < count; ++i) RL_TRY(check_entry(i, data_size));
  return Error::Ok;
}

Error FlatTensor::check_entry(size_t index, uint64_t data_size) const {
  const Table entry = root().tables(file::kNamedData)[index];
  const char* key = entry.string(named::kKey);
  // key() returns a C string, which must find its own entry.
  RL_CHECK(std::strlen(key) == key_of(entry).size(), Error::InvalidExternalData, "%s: a key with a zero byte",
           key);
  const size_t segments = root().tables(file::kSegments).size();
  const auto at = entry.scalar<uint32_t>(named::kSegmentIndex);
  RL_CHECK(at < segments, Error::InvalidExternalData, "%s: segment %lu of %lu", key, log_number(at),
           log_number(segments));
  const auto offset = segment_of(entry).scalar<uint64_t>(segment::kOffset);
  const auto size = segment_of(entry).scalar<uint64_t>(segment::kSize);
  RL_CHECK(range_fits(offset, size, data_size), Error::InvalidExternalData,
           "%s: %lu bytes at %lu, the file has %lu bytes of data", key, log_number(size), log_number(offset),
           log_number(data_size));
  if (!entry.table(named::kTensorLayout)) return Error::Ok;
  const Result<TensorLayout> tensor = layout_of(entry);
  RL_CHECK(tensor.ok(), Error::InvalidExternalData, "%s: its layout is damaged", key);
  // The segment may be longer than the tensor (padding).
  RL_CHECK(tensor->nbytes <= size, Error::InvalidExternalData, "%s: a tensor of %lu bytes in %lu", key,
           log_number(tensor->nbytes), log_number(size));
  // The position in the file, up to 8 bytes; a method that uses the tensor checks the address.
  const size_t alignment = element_size(tensor->scalar_type) < 8 ? element_size(tensor->scalar_type) : 8;
  RL_CHECK((segment_base_ + offset) % alignment == 0, Error::InvalidExternalData,
           "%s: at byte %lu of the file, expected a multiple of %lu", key, log_number(segment_base_ + offset),
           log_number(alignment));
  return Error::Ok;
}

Table FlatTensor::root() const {
  const uint8_t* bytes = directory_.bytes().data();
  return Table(bytes + read<uint32_t>(bytes));
}

Table FlatTensor::segment_of(Table entry) const {
  return root().tables(file::kSegments)[entry.scalar<uint32_t>(named::kSegmentIndex)];
}

void FlatTensor::sort_keys(Span<uint32_t> sorted) {
  const auto entries = root().tables(file::kNamedData);
  for (uint32_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
  // Ties sort by index, so that the first of equal keys is found, as without sorting.
  std::sort(sorted.begin(), sorted.end(), [&](uint32_t a, uint32_t b) {
    const int order = key_of(entries[a]).compare(key_of(entries[b]));
    return order != 0 ? order < 0 : a < b;
  });
  sorted_ = sorted;
}

// Index of the key's entry, or the number of keys if it has none.
uint32_t FlatTensor::index_of(std::string_view key) const {
  const auto entries = root().tables(file::kNamedData);
  const auto count = static_cast<uint32_t>(entries.size());
  // Binary search once sort_keys() has been called.
  if (sorted_.size() == count) {
    const uint32_t* found = std::lower_bound(
        sorted_.begin(), sorted_.end(), key,
        [&](uint32_t index, std::string_view wanted) { return key_of(entries[index]) < wanted; });
    return found != sorted_.end() && key_of(entries[*found]) == key ? *found : count;
  }
  uint32_t index = 0;
  // A linear search also finds the first of equal keys.
  while (index < count && key_of(entries[index]) != key) ++index;
  return index;
}

Result<bool> FlatTensor::has(std::string_view key) const {
  return index_of(key) < root().tables(file::kNamedData).size();
}

Result<Table> FlatTensor::find(std::string_view key) const {
  const auto entries = root().tables(file::kNamedData);
  const uint32_t index = index_of(key);
  if (index < entries.size()) return entries[index];
  RL_LOG(Error, "%.*s: not in the data file (%lu keys)", static_cast<int>(key.size()), key.data(),
         log_number(entries.size()));
  return Error::NotFound;
}

Result<FreeableBuffer> FlatTensor::load_segment(Table entry, size_t size) const {
  const auto offset = segment_of(entry).scalar<uint64_t>(segment::kOffset);
  return loader_->load(segment_base_ + static_cast<size_t>(offset), size);
}

Result<TensorLayout> FlatTensor::tensor_layout(std::string_view key) const {
  RL_TRY_ASSIGN(const Table entry, find(key));
  RL_CHECK(entry.table(named::kTensorLayout), Error::InvalidArgument, "%s: not a tensor",
           entry.string(named::kKey));
  return layout_of(entry);
}

Result<FreeableBuffer> FlatTensor::data(std::string_view key) const {
  RL_TRY_ASSIGN(const Table entry, find(key));
  return load_segment(entry, static_cast<size_t>(segment_of(entry).scalar<uint64_t>(segment::kSize)));
}

Error FlatTensor::load_into(std::string_view key, void* buffer, size_t size) const {
  RL_TRY_ASSIGN(const Table entry, find(key));
  const auto held = segment_of(entry).scalar<uint64_t>(segment::kSize);
  RL_CHECK(size <= held, Error::InvalidArgument, "%s: expected at least %lu bytes, got %lu",
           entry.string(named::kKey), log_number(size), log_number(held));
  // Reads only the bytes that the caller wants, not the whole segment.
  RL_TRY_ASSIGN(const FreeableBuffer data, load_segment(entry, size));
  if (size > 0) std::memcpy(buffer, data.data(), size);
  return Error::Ok;
}

Result<uint32_t> FlatTensor::num_keys() const {
  return static_cast<uint32_t>(root().tables(file::kNamedData).size());
}

Result<const char*> FlatTensor::key(uint32_t index) const {
  const auto entries = root().tables(file::kNamedData);
  RL_CHECK(index < entries.size(), Error::InvalidArgument, "data file: key %lu of %lu", log_number(index),
           log_number(entries.size()));
  return entries[index].string(named::kKey);
}

}  // namespace rushlight
