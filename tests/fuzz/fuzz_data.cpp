// SPDX-License-Identifier: BSD-3-Clause
// A .ptd file: read whole, alone and merged, and passed to a program whose weights are in such a file. Checks
// the invariants of read_map() and run_program() (program_case.h).
#include <fstream>
#include <iterator>
#include <vector>

#include "runtime/program/flat_tensor.h"
#include "runtime/program/merged_data_map.h"
#include "runtime/program/schema.h"
#include "tests/fuzz/copying_loader.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/program_case.h"
#include "tests/fuzz/require.h"

namespace rushlight::fuzz {

namespace {

const std::vector<uint8_t>& program() {
  static const std::vector<uint8_t> bytes = [] {
    std::ifstream file(RUSHLIGHT_FUZZ_PROGRAMS "/external_ptd/model.pte", std::ios::binary);
    return std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {});
  }();
  return bytes;
}

}  // namespace

Outcome run_input(Span<const uint8_t> input) {
  CopyingLoader loader(input);
  const auto data = FlatTensor::load(loader);
  if (!data.ok()) return {Stage::Refused, data.error()};
  read_map(*data);
  const NamedDataMap* const maps[] = {nullptr, &*data};
  const auto merged = MergedDataMap::merge(maps);
  if (merged.ok()) read_map(*merged);
  require(!program().empty(), "no program: tests/interop/external_ptd/model.pte");
  CopyingLoader program_loader({program().data(), program().size()});
  Choices choices(Choices::hash(input));
  Outcome outcome = run_program(program_loader, &*data, choices);
  if (outcome.stage == Stage::Refused) outcome.stage = Stage::Loaded;
  return outcome;
}

size_t mutate_input(uint8_t* data, size_t size, size_t capacity, Choices& choices) {
  return Mutator(schema::kDataFileTables, choices).mutate(data, size, capacity);
}

}  // namespace rushlight::fuzz
