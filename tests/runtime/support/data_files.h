// SPDX-License-Identifier: BSD-3-Clause
// Data files (.ptd) and bundled programs (.bpte) for tests, including damaged ones: the fields of a spec are
// written as they are, valid or not.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/tensor/scalar_type.h"
#include "tests/runtime/support/program_builder.h"

namespace rushlight::testing {

// The description of a tensor: float32 [2] unless set.
struct LayoutSpec {
  std::vector<int32_t> sizes = {2};
  ScalarType type = ScalarType::Float;
  std::vector<uint8_t> dim_order = {0};
};

// One key; its data is a separate segment unless `segment` names another. Without a layout it is no tensor.
struct NamedSpec {
  std::string key;
  Bytes data;
  std::optional<LayoutSpec> layout = LayoutSpec{};
  std::optional<uint32_t> segment = std::nullopt;
};

// A file with these keys. The other fields replace parts of the format.
struct DataFileSpec {
  std::vector<NamedSpec> entries;
  uint32_t version = 0;
  std::string identifier = "FT01";
  std::string header = "FH01";
  uint32_t header_length = 40;
  size_t segment_alignment = 128;
  size_t cut = 0;  // bytes to leave out at the end
};
// The bytes of the file: header, directory, padding to 128 bytes, segments.
Bytes build(const DataFileSpec& spec);

// Inputs and expected outputs of a case.
NodePtr bundled_tensor(const Bytes& data, const LayoutSpec& layout = {});
NodePtr bundled_int(int64_t value);
NodePtr bundled_bool(uint8_t value);
NodePtr bundled_double(double value);

// One case; without outputs, its file has no expected ones.
struct BundledCaseSpec {
  std::vector<NodePtr> inputs;
  std::vector<NodePtr> outputs;
};
// A bundle with cases for one method.
struct BundleSpec {
  Bytes program;
  std::vector<BundledCaseSpec> cases;
  std::string method = "forward";
  uint32_t version = 2;
  std::string identifier = "BP08";
};
// The bytes of the file, with the program inside.
Bytes build(const BundleSpec& spec);

// For matchers of containers.
template <class T>
std::vector<T> items(Span<const T> span) {
  return {span.begin(), span.end()};
}

// Reads a file of tests/interop/; empty if there is none.
Bytes interop_file(const std::string& name);

// Calls `use` with damaged copies of `file`: cut at every length of a few, single bytes changed, and 32-bit
// values set to extremes; `rounds` of each, the same in every run.
void for_each_mutant(const Bytes& file, unsigned rounds, const std::function<void(const Bytes&)>& use);

}  // namespace rushlight::testing
