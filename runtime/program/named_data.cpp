// SPDX-License-Identifier: BSD-3-Clause
// Checks that data from another file fits the program that asks for it. Both files are exported separately,
// and a mismatch would otherwise show as wrong numbers only.
#include "runtime/program/named_data.h"

#include "runtime/base/log.h"

namespace rushlight {

namespace {

Error check_layout(const char* key, const TensorLayout& found, const TensorLayout& expected) {
  RL_CHECK(found.scalar_type == expected.scalar_type && found.nbytes == expected.nbytes,
           Error::InvalidExternalData, "tensor %s: the program has %lu bytes of %s, the data file %lu of %s",
           key, log_number(expected.nbytes), to_string(expected.scalar_type), log_number(found.nbytes),
           to_string(found.scalar_type));
  bool same =
      found.sizes.size() == expected.sizes.size() && found.dim_order.size() == expected.dim_order.size();
  for (size_t d = 0; same && d < expected.sizes.size(); ++d) {
    same = found.sizes[d] == expected.sizes[d] && found.dim_order[d] == expected.dim_order[d];
  }
  RL_CHECK(same, Error::InvalidExternalData, "tensor %s: the data file has another shape or dim order", key);
  return Error::Ok;
}

}  // namespace

// The default for maps without an index: compares all keys.
Result<bool> NamedDataMap::has(std::string_view key) const {
  RL_TRY_ASSIGN(const uint32_t count, num_keys());
  for (uint32_t i = 0; i < count; ++i) {
    RL_TRY_ASSIGN(const char* held, this->key(i));
    if (key == held) return true;
  }
  return false;
}

Result<FreeableBuffer> NamedDataMap::tensor_data(const char* key, const TensorLayout& expected) const {
  RL_TRY_ASSIGN(const TensorLayout found, tensor_layout(key));
  RL_TRY(check_layout(key, found, expected));
  RL_TRY_ASSIGN(FreeableBuffer bytes, data(key));
  RL_CHECK(bytes.size() >= expected.nbytes, Error::InvalidExternalData,
           "tensor %s: needs %lu bytes, the data file has %lu", key, log_number(expected.nbytes),
           log_number(bytes.size()));
  return bytes;
}

Error NamedDataMap::load_tensor(const char* key, const TensorLayout& expected, void* buffer) const {
  RL_TRY_ASSIGN(const TensorLayout found, tensor_layout(key));
  RL_TRY(check_layout(key, found, expected));
  return load_into(key, buffer, expected.nbytes);
}

}  // namespace rushlight
