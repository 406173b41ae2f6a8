// SPDX-License-Identifier: BSD-3-Clause
// Reader of bundled programs (.bpte): a program with test inputs for its methods and the expected outputs.
#pragma once

#include "runtime/base/result.h"
#include "runtime/base/span.h"
#include "runtime/program/flatbuffer.h"
#include "runtime/program/tensor_layout.h"
#include "runtime/tensor/evalue.h"

namespace rushlight {

// An input or an expected output. `tag` is Tensor, Int, Bool or Double and tells which members are valid. A
// tensor's data lies in the file and may be misaligned: writers align it to 4 bytes only.
struct BundledValue {
  Tag tag;
  // Valid if `tag` is Int, Bool or Double.
  EValue number;
  // Valid, with `data`, if `tag` is Tensor.
  TensorLayout layout;
  Span<const uint8_t> data;  // layout.nbytes bytes
};

// One test case of a method: inputs and expected outputs. Refers to its BundledProgram, which must outlive
// it.
class BundledCase {
 public:
  explicit BundledCase(flatbuffer::Table table) : table_(table) {}

  [[nodiscard]] size_t num_inputs() const;
  [[nodiscard]] size_t num_outputs() const;                        // 0 if the file has no expected outputs
  [[nodiscard]] BundledValue input(size_t index) const;            // index < num_inputs()
  [[nodiscard]] BundledValue expected_output(size_t index) const;  // index < num_outputs()

 private:
  flatbuffer::Table table_;
};

// A verified .bpte file. Copying copies the pointer to the bytes.
class BundledProgram {
 public:
  // Verifies the whole file: its structure, and the kind, layout and data of every value. `bytes` must be
  // aligned to 8; they are used in place and must outlive the object. Errors: InvalidProgram (damaged, or not
  // a .bpte), NotSupported (unknown schema version), InvalidArgument (not aligned).
  [[nodiscard]] static Result<BundledProgram> open(Span<const uint8_t> bytes);

  // Returns true if the bytes carry the identifier of a .bpte.
  [[nodiscard]] static bool is_bundled_program(Span<const uint8_t> bytes);

  // The .pte file inside, in place. Writers intend to align it to 32 bytes and miss by 4: if it is not
  // aligned to 16, copy it before loading.
  [[nodiscard]] Span<const uint8_t> program() const;

  // The methods with test cases, in file order. If a method is listed more than once, the first entry counts.
  [[nodiscard]] size_t num_suites() const;
  [[nodiscard]] const char* method_name(size_t suite) const;  // suite < num_suites()

  // Number of test cases, and the case at `index`. Errors: NotFound (no cases for this method),
  // InvalidArgument (index).
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
