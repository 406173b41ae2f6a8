// SPDX-License-Identifier: BSD-3-Clause
// Named data of a .pte: keys with segments, without layouts. Lookup is linear; programs have a few keys.
#include "runtime/program/program_data_map.h"

#include <cstring>

#include "runtime/program/schema.h"

namespace rushlight {

using flatbuffer::Table;

Result<Table> ProgramDataMap::find(std::string_view key) const {
  const auto entries = program_->root().tables(schema::program::kNamedData);
  for (size_t i = 0; i < entries.size(); ++i) {
    const Table entry = entries[i];
    const std::string_view held(entry.string(schema::named_data::kKey),
                                entry.string_length(schema::named_data::kKey));
    // Compares lengths as well, because keys may contain zero bytes.
    if (held == key) return entry;
  }
  RL_LOG(Error, "%.*s: not in the program's named data (%lu keys)", static_cast<int>(key.size()), key.data(),
         log_number(entries.size()));
  return Error::NotFound;
}

Result<TensorLayout> ProgramDataMap::tensor_layout(std::string_view key) const {
  RL_TRY_ASSIGN(const Table entry, find(key));
  RL_LOG(Error, "%s: named data of a program has no layout", entry.string(schema::named_data::kKey));
  return Error::InvalidArgument;
}

Result<FreeableBuffer> ProgramDataMap::data(std::string_view key) const {
  RL_TRY_ASSIGN(const Table entry, find(key));
  return program_->load_segment(entry.scalar<uint32_t>(schema::named_data::kSegmentIndex));
}

Error ProgramDataMap::load_into(std::string_view key, void* buffer, size_t size) const {
  RL_TRY_ASSIGN(const Table entry, find(key));
  // The loader may return the segment in place; if not, it is read as a whole to copy a part.
  RL_TRY_ASSIGN(const FreeableBuffer held,
                program_->load_segment(entry.scalar<uint32_t>(schema::named_data::kSegmentIndex)));
  RL_CHECK(size <= held.size(), Error::InvalidArgument, "%s: expected at least %lu bytes, got %lu",
           entry.string(schema::named_data::kKey), log_number(size), log_number(held.size()));
  if (size > 0) std::memcpy(buffer, held.data(), size);
  return Error::Ok;
}

Result<uint32_t> ProgramDataMap::num_keys() const {
  return static_cast<uint32_t>(program_->root().tables(schema::program::kNamedData).size());
}

Result<const char*> ProgramDataMap::key(uint32_t index) const {
  const auto entries = program_->root().tables(schema::program::kNamedData);
  RL_CHECK(index < entries.size(), Error::InvalidArgument, "program: key %lu of %lu", log_number(index),
           log_number(entries.size()));
  return entries[index].string(schema::named_data::kKey);
}

}  // namespace rushlight
