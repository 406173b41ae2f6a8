// SPDX-License-Identifier: BSD-3-Clause
// Bundled programs (.bpte): a program with test inputs for its methods and the expected outputs.
// BundledModule has the same for files.
//
//   load_bundled_input(*method, bundle, 0);
//   method->execute();
//   verify_method_outputs(*method, bundle, 0);
#pragma once

#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/executor/method.h>

#ifdef USE_ATEN_LIB
#define BUNDLED_PROGRAM_NAMESPACE bundled_program::aten
#else
#define BUNDLED_PROGRAM_NAMESPACE bundled_program
#endif

namespace executorch::BUNDLED_PROGRAM_NAMESPACE {

// The bytes of a file, aligned to 8. Their length is unknown here: pass files of unknown origin to
// get_program_data() first, which verifies them.
using SerializedBundledProgram = const void;

// Sets all inputs of the method from its case `testset_idx`, counted from 0. The bundle must outlive the
// executions, because inputs that the program did not plan are used in place; misaligned ones are copied to
// memory of the method, until its next case. Errors: InvalidArgument (no such case, number of inputs, not a
// bundled program), or as set_input().
ET_NODISCARD ::executorch::runtime::Error load_bundled_input(
    ::executorch::ET_RUNTIME_NAMESPACE::Method& method, SerializedBundledProgram* bundled_program_ptr,
    size_t testset_idx);

// Differences of the outputs from the expected ones, over all elements and numbers, including integers.
// Relative errors refer to the expected value and are 0 where that is 0; NaN equals NaN. The other members
// are valid if `status` is Ok; its errors are as in verify_method_outputs(), except that no tolerance
// applies.
struct ErrorStats {
  ::executorch::runtime::Error status;
  double mean_abs_error;
  double max_abs_error;
  double mean_relative_error;
  double max_relative_error;
};

// Compares the outputs of the last execution with case `testset_idx`.
ET_NODISCARD ErrorStats compute_method_output_error_stats(::executorch::ET_RUNTIME_NAMESPACE::Method& method,
                                                          SerializedBundledProgram* bundled_program_ptr,
                                                          size_t testset_idx);

// Compares the outputs of the last execution with the expected ones: kinds, dtypes, shapes, dim orders,
// integers and bools must be equal; a floating-point element passes if |actual - expected| <= atol + rtol *
// |expected|. A negative tolerance selects a default for the output's dtype. Errors: InvalidArgument (a
// difference, which is logged; no such case), NotSupported (the case has no expected outputs).
ET_NODISCARD ::executorch::runtime::Error verify_method_outputs(
    ::executorch::ET_RUNTIME_NAMESPACE::Method& method, SerializedBundledProgram* bundled_program_ptr,
    size_t testset_idx, double rtol = 1e-5, double atol = 1e-8);

// Returns the .pte inside, in place: a pointer into `file_data`, which must be aligned to 8. Verifies the
// whole bundle; a plain program is returned unchanged and only its first bytes are checked. Errors:
// InvalidArgument or InvalidProgram (neither a bundle nor a program, or damaged), NotSupported (unknown
// schema version).
ET_NODISCARD ::executorch::runtime::Error get_program_data(void* file_data, size_t file_data_len,
                                                           const void** out_program_data,
                                                           size_t* out_program_data_len);

// Checks the identifier in the file's first 8 bytes; false for null. The form without a length reads no more.
bool is_bundled_program(void* file_data, size_t file_data_len);
ET_DEPRECATED inline bool is_bundled_program(void* file_data) { return is_bundled_program(file_data, 128); }

}  // namespace executorch::BUNDLED_PROGRAM_NAMESPACE

namespace torch::executor::bundled_program {

// Former names of the same functions. IsBundledProgram() has no length: it reads the first 8 bytes.
using serialized_bundled_program = ::executorch::BUNDLED_PROGRAM_NAMESPACE::SerializedBundledProgram;

ET_NODISCARD inline ::executorch::runtime::Error LoadBundledInput(
    ::executorch::ET_RUNTIME_NAMESPACE::Method& method, serialized_bundled_program* bundle,
    size_t testset_idx) {
  return ::executorch::BUNDLED_PROGRAM_NAMESPACE::load_bundled_input(method, bundle, testset_idx);
}
ET_NODISCARD inline ::executorch::runtime::Error VerifyResultWithBundledExpectedOutput(
    ::executorch::ET_RUNTIME_NAMESPACE::Method& method, serialized_bundled_program* bundle,
    size_t testset_idx, double rtol = 1e-5, double atol = 1e-8) {
  return ::executorch::BUNDLED_PROGRAM_NAMESPACE::verify_method_outputs(method, bundle, testset_idx, rtol,
                                                                        atol);
}
ET_NODISCARD inline ::executorch::runtime::Error GetProgramData(void* file_data, size_t file_data_len,
                                                                const void** out_program_data,
                                                                size_t* out_program_data_len) {
  return ::executorch::BUNDLED_PROGRAM_NAMESPACE::get_program_data(file_data, file_data_len, out_program_data,
                                                                   out_program_data_len);
}
inline bool IsBundledProgram(void* file_data) {
  return ::executorch::BUNDLED_PROGRAM_NAMESPACE::is_bundled_program(file_data, 128);
}

}  // namespace torch::executor::bundled_program
