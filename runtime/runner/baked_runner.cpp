// SPDX-License-Identifier: BSD-3-Clause
// Runs baked programs that were linked in, on the calls of a request (case_stream.h):
//
//   baked_runner --inputs=REQUEST --outputs=RESPONSE [--program=NAME] [--outcome=FILE]
//
// Without --program the first one. The exit status is 0, or the number of the Error that stopped it;
// --outcome says more (outcome.h).
#include <cstring>

#include "runtime/baked/method.h"
#include "runtime/base/log.h"
#include "runtime/base/result.h"
#include "runtime/platform/host_file.h"
#include "runtime/platform/platform.h"
#include "runtime/runner/answer_calls.h"
#include "runtime/runner/case_stream.h"
#include "runtime/runner/model_files.h"
#include "runtime/runner/outcome.h"

namespace rushlight {

// Written by the build, see cmake/baked.cmake.
extern const baked::Program* const baked_programs[];
extern const size_t baked_program_count;

namespace {

constexpr size_t kMaxMethods = 64;

class BakedRun {
 public:
  BakedRun(const baked::Program& program, const char* outputs) : program_(program), outputs_(outputs) {}

  Error run(Span<const uint8_t> request) {
    RL_CHECK(program_.methods.size() <= kMaxMethods, Error::NotSupported, "program: too many methods");
    report_.program_bytes = program_.weights_bytes;
    return answer_calls(request, outputs_, &fresh_methods_,
                        [this](auto... arguments) { return call(arguments...); });
  }

 private:
  Error call(CaseReader* reader, CaseWriter* writer, uint32_t begin_with_calls) {
    const char* name = nullptr;
    uint32_t values = 0;
    RL_CHECK(reader->call(&name, &values), Error::InvalidArgument, "request: ends early");
    RL_TRY_ASSIGN(const baked::Method* method, ready(name));
    RL_TRY(set_inputs(reader, *method, values));
    const uint64_t instructions = platform::instruction_count();
    const uint64_t start = platform::now_ns();
    RL_TRY(method->run());
    const CallReport report{platform::instruction_count() - instructions, platform::now_ns() - start};
    if (begin_with_calls != 0) writer->begin(begin_with_calls, report_);
    writer->call(static_cast<uint32_t>(method->num_outputs), report, platform::stack_peak());
    for (size_t i = 0; i < method->num_outputs; ++i) writer->value(method->output(i));
    return Error::Ok;
  }

  // The method of that name, in the state that it begins with where this is its first call.
  Result<const baked::Method*> ready(const char* name) {
    for (size_t i = 0; i < program_.methods.size(); ++i) {
      const baked::Method& method = program_.methods[i];
      if (std::strcmp(method.name, name) != 0) continue;
      if (fresh_methods_ || !begun_[i]) RL_TRY(begin(method));
      begun_[i] = true;
      return &method;
    }
    RL_LOG(Error, "method %s: the program has none of that name", name);
    return Error::NotFound;
  }

  Error begin(const baked::Method& method) {
    const uint64_t instructions = platform::instruction_count();
    const uint64_t start = platform::now_ns();
    method.reset();
    report_.method_arena_bytes = method.state_bytes;
    report_.planned_bytes = method.planned_bytes;
    report_.temporary_peak_bytes = method.temporary_bytes;
    report_.load_instructions = platform::instruction_count() - instructions;
    report_.load_ns = platform::now_ns() - start;
    return claim_outputs(method);
  }

  // Outputs that the program left to its caller.
  static Error claim_outputs(const baked::Method& method) {
    for (size_t i = 0; i < method.num_outputs; ++i) {
      const EValue value = method.output(i);
      if (!value.is_tensor() || value.to_tensor().const_data_ptr() != nullptr) continue;
      const TensorImpl* tensor = value.payload.as_tensor.impl();
      const size_t size = tensor->numel_bound() * element_size(tensor->scalar_type());
      RL_TRY(method.set_output_buffer(i, platform::claim_memory(size)));
    }
    return Error::Ok;
  }

  static Error set_inputs(CaseReader* reader, const baked::Method& method, uint32_t values) {
    RL_CHECK(values == method.num_inputs, Error::InvalidArgument, "method %s: expected %lu inputs, got %lu",
             method.name, log_number(method.num_inputs), log_number(values));
    for (uint32_t i = 0; i < values; ++i) {
      const EValue target = method.input(i);
      Span<const DimOrderType> dim_order;
      if (target.is_tensor()) dim_order = target.to_tensor().dim_order();
      CaseReader::TensorStorage storage;
      EValue value;
      RL_CHECK(reader->value(dim_order, &storage, &value), Error::InvalidArgument,
               "request: input %lu is damaged", log_number(i));
      RL_TRY(method.set_input(i, value));
    }
    return Error::Ok;
  }

  const baked::Program& program_;
  const char* outputs_;
  bool begun_[kMaxMethods] = {};
  bool fresh_methods_ = false;
  Report report_{};
};

const baked::Program* chosen(const char* name) {
  if (name == nullptr) return baked_programs[0];
  for (size_t i = 0; i < baked_program_count; ++i) {
    if (std::strcmp(baked_programs[i]->name, name) == 0) return baked_programs[i];
  }
  return nullptr;
}

Error run(int argc, char** argv) {
  const char* inputs = argument(argc, argv, "--inputs");
  const char* outputs = argument(argc, argv, "--outputs");
  const baked::Program* program = chosen(argument(argc, argv, "--program"));
  RL_CHECK(inputs != nullptr && outputs != nullptr && program != nullptr, Error::InvalidArgument,
           "usage: baked_runner --inputs=REQUEST --outputs=RESPONSE [--program=NAME]");
  RL_TRY_ASSIGN(const Span<const uint8_t> request, read_file(inputs));
  return BakedRun(*program, outputs).run(request);
}

}  // namespace

}  // namespace rushlight

int main(int argc, char** argv) {
  rushlight::platform::init();
  const rushlight::Error error = rushlight::run(argc, argv);
  rushlight::tell_outcome(argc, argv, error, {});
  return static_cast<int>(error);
}
