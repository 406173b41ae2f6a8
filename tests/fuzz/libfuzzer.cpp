// SPDX-License-Identifier: BSD-3-Clause
// The two functions that libFuzzer requires of a target.
#include "tests/fuzz/target.h"

using rushlight::fuzz::Choices;

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t capacity);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t capacity, unsigned int seed);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rushlight::fuzz::run_input({data, size});
  return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t capacity, unsigned int seed) {
  Choices choices(seed);
  if (choices.one_in(4)) return LLVMFuzzerMutate(data, size, capacity);
  return rushlight::fuzz::mutate_input(data, size, capacity, choices);
}
