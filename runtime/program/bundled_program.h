// SPDX-License-Identifier: BSD-3-Clause
// A .bpte file: a program with inputs for its methods and the outputs they should give.
#pragma once

#include "runtime/base/result.h"
#include "runtime/base/span.h"
#include "runtime/program/flatbuffer.h"
#include "runtime/program/tensor_layout.h"
#include "runtime/tensor/evalue.h"

namespace rushlight {

// An input or an expected output. `tag` is Tensor, Int, Bool or Double and says which members hold.
// A tensor's data lies in the file, at any address: writers align it to 4 bytes only.
struct BundledValue {
  Tag tag;
  EValue number;
  TensorLayout layout;
  Span<const uint8_t> data;  // layout.nbytes of them
};

// One call of a method. Made by BundledProgram, which outlives it.
class BundledCase {
 public:
  explicit BundledCase(flatbuffer::Table table) : table_(table) {}

  [[nodiscard]] size_t num_inputs() const;
  [[nodiscard]] size_t num_outputs() const;                        // 0: the file expects nothing
  [[nodiscard]] BundledValue input(size_t index) const;            // index < num_inputs()
  [[nodiscard]] BundledValue expected_output(size_t index) const;  // index < num_outputs()

 private:
  flatbuffer::Table table_;
};

class BundledProgram {
 public:
  // Proves the file: all of its structure, every value's kind, layout and data. The bytes, at a multiple of
  // 8, are used in place and outlive the object.
  // Errors: InvalidProgram (damaged, or no .bpte), NotSupported (a schema version this runtime does not
  // know), InvalidArgument (not aligned).
  [[nodiscard]] static Result<BundledProgram> open(Span<const uint8_t> bytes);

  // Whether the bytes say that they are a .bpte.
  [[nodiscard]] static bool is_bundled_program(Span<const uint8_t> bytes);

  // The .pte inside, in place. Writers mean to align it to 32 bytes and miss by 4: where it is not aligned
  // to 16 it has to be copied before it is loaded.
  [[nodiscard]] Span<const uint8_t> program() const;

  // The methods that have cases, by the order of the file. A method may be named there more than once;
  // the first counts.
  [[nodiscard]] size_t num_suites() const;
  [[nodiscard]] const char* method_name(size_t suite) const;  // suite < num_suites()

  // Errors: NotFound (no cases for this method), InvalidArgument (index).
  [[nodiscard]] Result<size_t> num_cases(std::string_view method) const;
  [[nodiscard]] Result<BundledCase> test_case(std::string_view method, size_t index) const;

 private:
  explicit BundledProgram(Span<const uint8_t> bytes) : bytes_(bytes) {}

  [[nodiscard]] flatbuffer::Table root() const;
  [[nodiscard]] Result<flatbuffer::Table> suite(std::string_view method) const;
  Error check() const;

  Span<const uint8_t> bytes_;
};

}  // namespace rushlight
