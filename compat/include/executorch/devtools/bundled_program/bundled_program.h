// SPDX-License-Identifier: BSD-3-Clause
// .bpte files: a program with inputs for its methods and the outputs they should give.
#pragma once

#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/executor/method.h>

#define BUNDLED_PROGRAM_NAMESPACE bundled_program

namespace executorch::BUNDLED_PROGRAM_NAMESPACE {

// The bytes of a file, at a multiple of 8. Their number is not known here: a file of an unsure origin goes
// through get_program_data() first, which proves all of it.
using SerializedBundledProgram = const void;

// Sets the method's inputs to those of its case `testset_idx`. Errors: InvalidArgument (no such case, no
// bundled program), or what set_input() says.
ET_NODISCARD ::executorch::runtime::Error load_bundled_input(::executorch::runtime::Method& method,
                                                             SerializedBundledProgram* bundled_program_ptr,
                                                             size_t testset_idx);

// How far the outputs are from the expected ones, over the floats of all of them; `status` says whether the
// other members hold.
struct ErrorStats {
  ::executorch::runtime::Error status;
  double mean_abs_error;
  double max_abs_error;
  double mean_relative_error;
  double max_relative_error;
};

ET_NODISCARD ErrorStats compute_method_output_error_stats(::executorch::runtime::Method& method,
                                                          SerializedBundledProgram* bundled_program_ptr,
                                                          size_t testset_idx);

// Errors: InvalidArgument (a difference, which is logged; no such case), NotSupported (the case expects
// nothing).
ET_NODISCARD ::executorch::runtime::Error verify_method_outputs(::executorch::runtime::Method& method,
                                                                SerializedBundledProgram* bundled_program_ptr,
                                                                size_t testset_idx, double rtol = 1e-5,
                                                                double atol = 1e-8);

// The .pte inside, in place; a program that is no bundle is its own.
// Errors: InvalidArgument or InvalidProgram (neither of both).
ET_NODISCARD ::executorch::runtime::Error get_program_data(void* file_data, size_t file_data_len,
                                                           const void** out_program_data,
                                                           size_t* out_program_data_len);

// By the first bytes.
bool is_bundled_program(void* file_data, size_t file_data_len);
ET_DEPRECATED inline bool is_bundled_program(void* file_data) { return is_bundled_program(file_data, 128); }

}  // namespace executorch::BUNDLED_PROGRAM_NAMESPACE

namespace torch::executor::bundled_program {

using serialized_bundled_program = ::executorch::bundled_program::SerializedBundledProgram;

ET_NODISCARD inline ::executorch::runtime::Error LoadBundledInput(::executorch::runtime::Method& method,
                                                                  serialized_bundled_program* bundle,
                                                                  size_t testset_idx) {
  return ::executorch::bundled_program::load_bundled_input(method, bundle, testset_idx);
}
ET_NODISCARD inline ::executorch::runtime::Error VerifyResultWithBundledExpectedOutput(
    ::executorch::runtime::Method& method, serialized_bundled_program* bundle, size_t testset_idx,
    double rtol = 1e-5, double atol = 1e-8) {
  return ::executorch::bundled_program::verify_method_outputs(method, bundle, testset_idx, rtol, atol);
}
ET_NODISCARD inline ::executorch::runtime::Error GetProgramData(void* file_data, size_t file_data_len,
                                                                const void** out_program_data,
                                                                size_t* out_program_data_len) {
  return ::executorch::bundled_program::get_program_data(file_data, file_data_len, out_program_data,
                                                         out_program_data_len);
}
inline bool IsBundledProgram(void* file_data) {
  return ::executorch::bundled_program::is_bundled_program(file_data, 128);
}

}  // namespace torch::executor::bundled_program
