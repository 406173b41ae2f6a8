// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/backend/backend.h"

#include <cstring>

#include "runtime/base/log.h"

namespace rushlight {

// Linear: a build has a few backends.
const Backend* BackendTable::find(const char* id) const {
  for (const BackendTable* table = this; table != nullptr; table = table->next) {
    for (size_t i = 0; i < table->size; ++i) {
      if (std::strcmp(table->entries[i].id, id) == 0) return table->entries[i].backend;
    }
  }
  return nullptr;
}

Result<Tensor> input_tensor(Span<EValue* const> arguments, size_t index) {
  RL_CHECK(index < arguments.size(), Error::InvalidProgram, "delegate: argument %lu of %lu",
           log_number(index), log_number(arguments.size()));
  RL_CHECK(arguments[index]->is_tensor(), Error::InvalidProgram,
           "delegate: argument %lu: expected a Tensor, got %s", log_number(index),
           to_string(arguments[index]->tag));
  const Tensor tensor = arguments[index]->to_tensor();
  RL_CHECK(tensor.const_data_ptr() != nullptr || tensor.numel() == 0, Error::InvalidState,
           "delegate: argument %lu has no memory", log_number(index));
  return tensor;
}

Result<Tensor> output_tensor(Span<EValue* const> arguments, size_t index) {
  RL_TRY_ASSIGN(const Tensor tensor, input_tensor(arguments, index));
  const TensorImpl& impl = *tensor.impl();
  // A planned buffer may hold any shape up to the bound; a tensor without memory must stay empty.
  RL_CHECK(impl.storage() == Storage::None ? impl.numel_bound() == 0 : impl.is_writable(),
           Error::InvalidProgram, "delegate: argument %lu is written, but constant or lent",
           log_number(index));
  return tensor;
}

}  // namespace rushlight
