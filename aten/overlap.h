// SPDX-License-Identifier: BSD-3-Clause
// Memory that a call both writes and reads, through different arguments.
#pragma once

#include <cstdint>

#include "runtime/kernel/operator_table.h"
#include "runtime/tensor/evalue.h"

namespace rushlight::aten {

// True if the memory that `written` has for its largest shape meets the elements of `read`.
inline bool overlap(const TensorImpl& written, const TensorImpl& read) {
  const auto begin = reinterpret_cast<uintptr_t>(written.data());
  const auto other = reinterpret_cast<uintptr_t>(read.data());
  const size_t bytes = written.numel_bound() * element_size(written.scalar_type());
  return bytes != 0 && read.nbytes() != 0 && begin < other + read.nbytes() && other < begin + bytes;
}

// True if `written` overlaps a tensor that the call only reads.
inline bool is_read(const TensorImpl& written, const char* signature, EValue* const* arguments) {
  bool found = false;
  for (size_t i = 0; signature[i] != '\0'; ++i) {
    if (is_written(signature[i])) continue;
    for_each_tensor(*arguments[i],
                    [&](const Tensor& read) { found = found || overlap(written, *read.impl()); });
  }
  return found;
}

}  // namespace rushlight::aten
