// SPDX-License-Identifier: BSD-3-Clause
// A .pte: opened, described, loaded and executed by run_program(), with its invariants (program_case.h).
#include "runtime/program/schema.h"
#include "tests/fuzz/copying_loader.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/program_case.h"

namespace rushlight::fuzz {

Outcome run_input(Span<const uint8_t> input) {
  CopyingLoader loader(input);
  Choices choices(Choices::hash(input));
  return run_program(loader, nullptr, choices);
}

size_t mutate_input(uint8_t* data, size_t size, size_t capacity, Choices& choices) {
  return Mutator(schema::kProgramTables, choices).mutate(data, size, capacity);
}

}  // namespace rushlight::fuzz
