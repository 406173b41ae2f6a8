// SPDX-License-Identifier: BSD-3-Clause
// A .bpte: all its values, and the program inside. A failure is a sanitizer's report, or answers of the
// reader that contradict each other, such as a counted case that is missing. Which outputs are right is
// unknown; outputs that pass verification must also have error statistics.
#include <algorithm>
#include <cstring>

#include "runtime/bundled/bundled_method.h"
#include "runtime/program/schema.h"
#include "tests/fuzz/copying_loader.h"
#include "tests/fuzz/heap.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/program_case.h"
#include "tests/fuzz/require.h"

namespace rushlight::fuzz {

namespace {

constexpr size_t kMaxListed = 64;

void read_bundled(const BundledValue& value) {
  if (value.tag != Tag::Tensor) return read_value(value.number);
  require(value.data.size() == value.layout.nbytes, "a tensor with other bytes than it has elements for");
  read_bytes(value.data);
  read_bytes(value.layout.dim_order);
}

void read_cases(const BundledProgram& bundled) {
  for (size_t suite = 0; suite < std::min(bundled.num_suites(), kMaxListed); ++suite) {
    const char* method = bundled.method_name(suite);
    const auto count = bundled.num_cases(method);
    require(count.ok(), "the cases of a suite's method are missing");
    for (size_t i = 0; i < std::min(*count, kMaxListed); ++i) {
      const auto test = bundled.test_case(method, i);
      require(test.ok(), "a counted case is missing");
      for (size_t v = 0; v < std::min(test->num_inputs(), kMaxListed); ++v) read_bundled(test->input(v));
      for (size_t v = 0; v < std::min(test->num_outputs(), kMaxListed); ++v) {
        read_bundled(test->expected_output(v));
      }
    }
    require(!bundled.test_case(method, *count).ok(), "a case beyond the last");
  }
}

void run_cases(const BundledProgram& bundled, Method& method) {
  const auto count = bundled.num_cases(method.meta().name());
  if (!count.ok()) return;
  for (size_t i = 0; i < std::min<size_t>(*count, 4); ++i) {
    const auto test = bundled.test_case(method.meta().name(), i);
    Heap heap;
    // With enough memory for copies of misaligned data, with too little, and with none.
    Arena memory(heap.allocate(i == 1 ? 16 : 65536));
    if (load_bundled_input(method, *test, i == 2 ? nullptr : &memory) != Error::Ok) continue;
    if (method.execute() != Error::Ok) continue;
    const Error verified = verify_method_outputs(method, *test);
    const auto stats = compute_method_output_error_stats(method, *test);
    require(verified != Error::Ok || stats.ok(), "outputs that are right and cannot be compared");
  }
}

}  // namespace

Outcome run_input(Span<const uint8_t> input) {
  static_cast<void>(BundledProgram::is_bundled_program(input));
  const auto bundled = BundledProgram::open(input);
  if (!bundled.ok()) return {Stage::Refused, bundled.error()};
  read_cases(*bundled);
  CopyingLoader loader(bundled->program());
  Choices choices(Choices::hash(input));
  Outcome outcome =
      run_program(loader, nullptr, choices, [&](Method& method) { run_cases(*bundled, method); });
  if (outcome.stage == Stage::Refused) outcome.stage = Stage::Loaded;
  return outcome;
}

size_t mutate_input(uint8_t* data, size_t size, size_t capacity, Choices& choices) {
  return Mutator(schema::kBundledProgramTables, choices).mutate(data, size, capacity);
}

}  // namespace rushlight::fuzz
