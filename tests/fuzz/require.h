// SPDX-License-Identifier: BSD-3-Clause
// Checks and reads that make a broken invariant end the process, which fuzzers and sanitizers report.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "runtime/tensor/evalue.h"

namespace rushlight::fuzz {

// Checks an invariant that sanitizers cannot see; aborts with the text if it is broken.
inline void require(bool condition, const char* otherwise) {
  if (condition) return;
  std::fprintf(stderr, "fuzz: %s\n", otherwise);
  std::abort();
}

// Keeps the compiler from removing the computation of an unused value: a store to a volatile must happen.
inline void keep(uint64_t number) {
  volatile uint64_t sink = number;
  static_cast<void>(sink);
}

// Reads every byte of a range, so that sanitizers see invalid ones.
inline void read_bytes(Span<const uint8_t> bytes) {
  uint64_t sum = 0;
  for (const uint8_t byte : bytes) sum += byte;
  keep(sum);
}

// Reads every byte of a value: the elements of tensors, the items of lists, the characters of a string.
inline void read_value(const EValue& value) {
  uint64_t sum = 0;
  // Tensors without memory are skipped: an output that no instruction has written.
  const auto tensor = [&](const Tensor& t) {
    const auto* bytes = t.const_data_ptr<uint8_t>();
    for (size_t i = 0; bytes != nullptr && i < t.nbytes(); ++i) sum += bytes[i];
  };
  switch (value.tag) {
    case Tag::Tensor:
      tensor(value.to_tensor());
      break;
    case Tag::String:
      for (const char c : value.to_string_view()) sum += static_cast<uint8_t>(c);
      break;
    case Tag::ListInt:
      for (const int64_t item : value.to_int_list()) sum += static_cast<uint64_t>(item);
      break;
    // Not added up: the sum of doubles could overflow an integer, which sanitizers report.
    case Tag::ListDouble:
      for (const double item : value.to_double_list()) sum += item < 0 ? 1 : 0;
      break;
    case Tag::ListBool:
      for (const bool item : value.to_bool_list()) sum += item ? 1 : 0;
      break;
    case Tag::ListTensor:
      for (const Tensor& item : value.to_tensor_list()) tensor(item);
      break;
    case Tag::ListOptionalTensor:
      for (const auto& item : value.to_optional_tensor_list()) {
        if (item.has_value()) tensor(*item);
      }
      break;
    default:
      break;
  }
  keep(sum);
}

}  // namespace rushlight::fuzz
