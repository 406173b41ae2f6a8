// SPDX-License-Identifier: BSD-3-Clause
// Test cases of bundled programs on runtime/bundled. The official functions take no length: the bundle is
// verified in each call against the largest size that a file of this format can have.
#include <executorch/devtools/bundled_program/bundled_program.h>

#include "compat/detail/method_state.h"
#include "runtime/bundled/bundled_method.h"

namespace executorch::BUNDLED_PROGRAM_NAMESPACE {

using ET_RUNTIME_NAMESPACE::Method;
using runtime::Error;
using runtime::Result;
using rushlight::BundledProgram;
using rushlight::compat::official;

namespace {

// Officially, a missing item of a bundle is an invalid argument.
Error as_argument(rushlight::Error error) {
  return error == rushlight::Error::NotFound || error == rushlight::Error::InvalidProgram
             ? Error::InvalidArgument
             : official(error);
}

Result<rushlight::BundledCase> case_of(const Method& method, SerializedBundledProgram* bundle, size_t index) {
  constexpr size_t kMostOfAnyFile = INT32_MAX;  // offsets reach no further
  ET_CHECK_OK_OR_RETURN_ERROR(rushlight::compat::MethodAccess::check_present(method));
  ET_CHECK_OR_RETURN_ERROR(bundle != nullptr, InvalidArgument, "the bundled program is null");
  auto program = BundledProgram::open({static_cast<const uint8_t*>(bundle), kMostOfAnyFile});
  if (!program.ok()) return as_argument(program.error());
  auto found = program->test_case(method.method_meta().name(), index);
  if (!found.ok()) return as_argument(found.error());
  return *found;
}

}  // namespace

Error load_bundled_input(Method& method, SerializedBundledProgram* bundled_program_ptr, size_t testset_idx) {
  auto found = case_of(method, bundled_program_ptr, testset_idx);
  if (!found.ok()) return found.error();
  // An upper bound: as if each tensor had to be copied to be aligned.
  size_t bytes = 0;
  for (size_t i = 0; i < found->num_inputs(); ++i) {
    const auto value = found->input(i);
    if (value.tag == rushlight::Tag::Tensor) bytes += value.data.size() + rushlight::Arena::kDefaultAlignment;
  }
  auto& state = rushlight::compat::MethodAccess::state(method);
  rushlight::Arena memory(state.bundled_memory(bytes));
  ET_CHECK_OK_OR_RETURN_ERROR(official(rushlight::load_bundled_input(state.method(), *found, &memory)));
  // A case sets all inputs.
  state.has_input.assign(state.has_input.size(), true);
  return Error::Ok;
}

Error verify_method_outputs(Method& method, SerializedBundledProgram* bundled_program_ptr, size_t testset_idx,
                            double rtol, double atol) {
  auto found = case_of(method, bundled_program_ptr, testset_idx);
  if (!found.ok()) return found.error();
  auto& state = rushlight::compat::MethodAccess::state(method);
  return official(rushlight::verify_method_outputs(state.method(), *found, {rtol, atol}));
}

ErrorStats compute_method_output_error_stats(Method& method, SerializedBundledProgram* bundled_program_ptr,
                                             size_t testset_idx) {
  auto found = case_of(method, bundled_program_ptr, testset_idx);
  if (!found.ok()) return {found.error(), 0, 0, 0, 0};
  auto& state = rushlight::compat::MethodAccess::state(method);
  auto stats = rushlight::compute_method_output_error_stats(state.method(), *found);
  if (!stats.ok()) return {official(stats.error()), 0, 0, 0, 0};
  return {Error::Ok, stats->mean_absolute, stats->max_absolute, stats->mean_relative, stats->max_relative};
}

Error get_program_data(void* file_data, size_t file_data_len, const void** out_program_data,
                       size_t* out_program_data_len) {
  if (is_bundled_program(file_data, file_data_len)) {
    auto bundle = BundledProgram::open({static_cast<const uint8_t*>(file_data), file_data_len});
    if (!bundle.ok()) return official(bundle.error());
    *out_program_data = bundle->program().data();
    *out_program_data_len = bundle->program().size();
    return Error::Ok;
  }
  ET_CHECK_OR_RETURN_ERROR(ET_RUNTIME_NAMESPACE::Program::check_header(file_data, file_data_len) ==
                               ET_RUNTIME_NAMESPACE::Program::CompatibleVersion,
                           InvalidArgument, "expected a program or a bundled program");
  *out_program_data = file_data;
  *out_program_data_len = file_data_len;
  return Error::Ok;
}

bool is_bundled_program(void* file_data, size_t file_data_len) {
  return file_data != nullptr &&
         BundledProgram::is_bundled_program({static_cast<const uint8_t*>(file_data), file_data_len});
}

}  // namespace executorch::BUNDLED_PROGRAM_NAMESPACE
