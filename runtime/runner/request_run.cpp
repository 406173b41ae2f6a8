// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/runner/request_run.h"

#include <cstring>

#include "runtime/base/log.h"
#include "runtime/platform/host_file.h"
#include "runtime/platform/platform.h"
#include "runtime/runner/answer_calls.h"
#include "runtime/runner/case_stream.h"
#include "runtime/runner/claim.h"
#include "runtime/runner/loaded_method.h"

namespace rushlight {

namespace {

// Keeps a list of loaded methods, newest first. Methods are few, so a search by name suffices.
class RequestRunner {
 public:
  RequestRunner(const Program& program, const RunOptions& options, const char* outputs)
      : program_(program), options_(options), outputs_(outputs) {}

  // Executes the request's calls in order; calls of one method share its state.
  Error run(Span<const uint8_t> request, size_t program_bytes) {
    report_.program_bytes = program_bytes;
    return answer_calls(request, outputs_, &fresh_methods_,
                        [this](auto... arguments) { return call(arguments...); });
  }

 private:
  Error call(CaseReader* reader, CaseWriter* writer, uint32_t begin_with_calls) {
    const char* name = nullptr;
    uint32_t values = 0;
    RL_CHECK(reader->call(&name, &values), Error::InvalidArgument, "request: ends early");
    RL_TRY(select(name));
    Method& method = loaded_->method();
    RL_TRY(set_inputs(reader, method, values));
    const uint64_t instructions = platform::instruction_count();
    const uint64_t start = platform::now_ns();
    RL_TRY(method.execute());
    const CallReport report{platform::instruction_count() - instructions, platform::now_ns() - start};
    // The peak so far includes this call.
    report_.temporary_peak_bytes = loaded_->temporary_peak();
    // The report precedes the calls in the file and is complete after the first call.
    if (begin_with_calls != 0) writer->begin(begin_with_calls, report_);
    const size_t outputs = method.meta().num_outputs();
    writer->call(static_cast<uint32_t>(outputs), report, platform::stack_peak());
    for (size_t i = 0; i < outputs; ++i) writer->value(method.output(i));
    return Error::Ok;
  }

  // Selects the instance that earlier calls used, because its state persists.
  Error select(const char* name) {
    if (!fresh_methods_) {
      for (LoadedMethod* loaded = all_; loaded != nullptr; loaded = loaded->next) {
        if (std::strcmp(loaded->method().meta().name(), name) != 0) continue;
        loaded_ = loaded;
        return Error::Ok;
      }
    }
    RL_TRY_ASSIGN(loaded_, LoadedMethod::load(program_, name, options_, &report_));
    loaded_->next = all_;
    all_ = loaded_;
    return Error::Ok;
  }

  static Error set_inputs(CaseReader* reader, Method& method, uint32_t values) {
    const size_t expected = method.meta().num_inputs();
    RL_CHECK(values == expected, Error::InvalidArgument, "method %s: expected %lu inputs, got %lu",
             method.meta().name(), log_number(expected), log_number(values));
    for (uint32_t i = 0; i < values; ++i) {
      Span<const DimOrderType> dim_order;
      // A number has no tensor info; dim_order then stays empty.
      auto info = method.meta().input_tensor(i);
      if (info.ok()) dim_order = info->dim_order;
      CaseReader::TensorStorage storage;
      EValue value;
      RL_CHECK(reader->value(dim_order, &storage, &value), Error::InvalidArgument,
               "request: input %lu is damaged", log_number(i));
      RL_TRY(method.set_input(i, value));
    }
    return Error::Ok;
  }

  const Program& program_;
  const RunOptions& options_;
  const char* outputs_;
  LoadedMethod* all_ = nullptr;
  LoadedMethod* loaded_ = nullptr;  // used by the current call
  bool fresh_methods_ = false;
  Report report_{};
};

void fill_with_ones(const Tensor& tensor) {
  uint8_t* data = tensor.mutable_data_ptr<uint8_t>();
  const size_t width = tensor.element_size();
  const ScalarType type = tensor.scalar_type();
  // The bytes of 1 in the dtype, lowest first. A complex 1 is a real 1 with an imaginary part of 0 behind it.
  uint8_t one[16] = {1};
  const float as_float = 1;
  const double as_double = 1;
  if (type == ScalarType::Float || type == ScalarType::ComplexFloat)
    std::memcpy(one, &as_float, sizeof as_float);
  if (type == ScalarType::Double || type == ScalarType::ComplexDouble)
    std::memcpy(one, &as_double, sizeof as_double);
  if (type == ScalarType::Half || type == ScalarType::ComplexHalf) one[0] = 0, one[1] = 0x3c;
  if (type == ScalarType::BFloat16) one[0] = 0x80, one[1] = 0x3f;
  for (size_t i = 0; i < tensor.numel(); ++i) std::memcpy(data + i * width, one, width);
}

}  // namespace

Error run_request(const Program& program, const RunOptions& options, Span<const uint8_t> request,
                  const char* outputs, size_t program_bytes) {
  return RequestRunner(program, options, outputs).run(request, program_bytes);
}

Error run_on_ones(const Program& program, const RunOptions& options) {
  for (size_t m = 0; m < program.num_methods(); ++m) {
    Report report{};
    RL_TRY_ASSIGN(LoadedMethod * loaded,
                  LoadedMethod::load(program, program.method_name(m), options, &report));
    Method& method = loaded->method();
    for (size_t i = 0; i < method.meta().num_inputs(); ++i) {
      auto info = method.meta().input_tensor(i);
      if (!info.ok()) continue;  // numbers keep the value of the export
      CaseReader::TensorStorage storage;
      for (size_t d = 0; d < info->sizes.size(); ++d) {
        storage.sizes[d] = info->sizes[d];
        storage.dim_order[d] = info->dim_order[d];
      }
      // The largest shape of a dynamic input.
      TensorImpl tensor(info->scalar_type, static_cast<ptrdiff_t>(info->sizes.size()), storage.sizes, nullptr,
                        storage.dim_order, storage.strides);
      RL_TRY_ASSIGN(const Span<uint8_t> memory, claim(tensor.nbytes(), "input"));
      tensor.set_data(memory.data());
      fill_with_ones(Tensor(&tensor));
      RL_TRY(method.set_input(i, EValue(Tensor(&tensor))));
    }
    RL_TRY(method.execute());
    platform::print_line(program.method_name(m));
  }
  return Error::Ok;
}

}  // namespace rushlight
