// SPDX-License-Identifier: BSD-3-Clause
// Loads the method anew for each case, so that the state of one case cannot affect the next.
#include "runtime/runner/bundled_run.h"

#include <cstdlib>
#include <cstring>

#include "runtime/base/checked.h"
#include "runtime/base/log.h"
#include "runtime/platform/host_file.h"
#include "runtime/platform/platform.h"
#include "runtime/runner/loaded_method.h"
#include "runtime/runner/model_files.h"

namespace rushlight {

namespace {

// Prints "method number: verdict", with a long name cut. Without printf, which small targets lack.
void print_verdict(const char* method, size_t index, bool passed) {
  char line[128];
  char digits[24];
  size_t count = 0;
  do {
    digits[count++] = static_cast<char>('0' + index % 10);
    index /= 10;
  } while (index > 0);
  const char* verdict = passed ? ": pass" : ": fail";
  // The verdict and the number are never cut: the name gives way.
  const size_t tail = 1 + count + std::strlen(verdict);
  size_t length = std::strlen(method);
  if (length > sizeof line - 1 - tail) length = sizeof line - 1 - tail;
  std::memcpy(line, method, length);
  line[length++] = ' ';
  // Digits were produced from the lowest.
  while (count > 0) line[length++] = digits[--count];
  std::memcpy(line + length, verdict, std::strlen(verdict) + 1);
  platform::print_line(line);
}

// Memory for inputs that are misaligned in the bundle; enough for a copy of all of them.
Result<Arena> input_arena(const BundledCase& test_case) {
  size_t total = 0;
  for (size_t i = 0; i < test_case.num_inputs(); ++i) {
    total += align_up(test_case.input(i).data.size(), Arena::kDefaultAlignment);
  }
  const Span<uint8_t> memory = platform::claim_memory(total);
  RL_CHECK(memory.size() == total, Error::MemoryAllocationFailed, "inputs: no memory for %lu bytes",
           log_number(total));
  return Arena(memory);
}

Error run_case(const Program& program, const char* name, const RunOptions& options,
               const BundledCase& test_case, const BundledTolerance& tolerance, bool* passed) {
  // Claimed memory is never returned, so each case takes new memory.
  Report report{};
  RL_TRY_ASSIGN(LoadedMethod * loaded, LoadedMethod::load(program, name, options, &report));
  RL_TRY_ASSIGN(Arena inputs, input_arena(test_case));
  RL_TRY(load_bundled_input(loaded->method(), test_case, &inputs));
  RL_TRY(loaded->method().execute());
  // A mismatch is a verdict, not an error: the remaining cases are executed as well.
  *passed = verify_method_outputs(loaded->method(), test_case, tolerance) == Error::Ok;
  return Error::Ok;
}

Error parse(const char* text, double* number) {
  if (text == nullptr) return Error::Ok;
  char* end = nullptr;
  const double parsed = std::strtod(text, &end);
  // Negative tolerances are reserved: they stand for "by dtype".
  RL_CHECK(end != text && *end == 0 && parsed >= 0, Error::InvalidArgument,
           "tolerance: expected a number of 0 or more, got '%s'", text);
  *number = parsed;
  return Error::Ok;
}

}  // namespace

Error run_bundle(const BundledProgram& bundle, const Program& program, const RunOptions& options,
                 const BundledTolerance& tolerance) {
  bool all_passed = true;
  for (size_t i = 0; i < bundle.num_suites(); ++i) {
    const char* name = bundle.method_name(i);
    RL_TRY_ASSIGN(const size_t count, bundle.num_cases(name));
    for (size_t j = 0; j < count; ++j) {
      RL_TRY_ASSIGN(const BundledCase test_case, bundle.test_case(name, j));
      bool passed = false;
      // The trace tells its blocks apart by this number.
      trace_bundled_input(options.tracer, j);
      RL_TRY(run_case(program, name, options, test_case, tolerance, &passed));
      print_verdict(name, j, passed);
      all_passed = all_passed && passed;
    }
  }
  return all_passed ? Error::Ok : Error::InvalidArgument;
}

Result<BundledTolerance> tolerance_of(int argc, char** argv) {
  BundledTolerance tolerance;
  RL_TRY(parse(argument(argc, argv, "--rtol"), &tolerance.relative));
  RL_TRY(parse(argument(argc, argv, "--atol"), &tolerance.absolute));
  return tolerance;
}

}  // namespace rushlight
