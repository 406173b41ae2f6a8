// SPDX-License-Identifier: BSD-3-Clause
// A .ptd: read whole, alone and merged, and given to a program that has its weights in such a file.
#include <fstream>
#include <iterator>
#include <vector>

#include "runtime/program/flat_tensor.h"
#include "runtime/program/merged_data_map.h"
#include "tests/fuzz/copying_loader.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/program_case.h"
#include "tests/fuzz/require.h"

namespace rushlight::fuzz {

namespace {

using flatbuffer::Field;
using flatbuffer::Kind;

enum : uint8_t { kFile, kSegment, kNamed, kLayout };
constexpr Field kFileFields[] = {
    {Kind::Scalar32}, {Kind::TableVector, kSegment}, {Kind::TableVector, kNamed}};
constexpr Field kSegmentFields[] = {{Kind::Scalar64}, {Kind::Scalar64}};
constexpr Field kNamedFields[] = {{Kind::String}, {Kind::Scalar32}, {Kind::Table, kLayout}};
constexpr Field kLayoutFields[] = {{Kind::Scalar8}, {Kind::Vector32}, {Kind::Vector8}};
constexpr flatbuffer::TableType kTables[] = {
    {kFileFields, 3}, {kSegmentFields, 2}, {kNamedFields, 3}, {kLayoutFields, 3}};

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
  return Mutator(kTables, choices).mutate(data, size, capacity);
}

}  // namespace rushlight::fuzz
