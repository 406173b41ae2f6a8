// SPDX-License-Identifier: BSD-3-Clause
// Runs a program on the machine this was built for:
//
//   executor_runner [--model_path=FILE.pte] [--inputs=REQUEST --outputs=RESPONSE]
//
// Without --model_path it runs the program that was linked into it. Requests and responses are case
// streams (case_stream.h). Without them every method runs once on inputs of ones.
// The exit status is 0, or the number of the Error that stopped it.
#include <cstring>
#include <new>

#include "runtime/base/log.h"
#include "runtime/executor/method.h"
#include "runtime/platform/host_file.h"
#include "runtime/platform/platform.h"
#include "runtime/program/program.h"
#include "runtime/runner/case_stream.h"

extern "C" {
// Defined where a program is linked in.
extern const uint8_t rushlight_model_start[] __attribute__((weak));
extern const uint8_t rushlight_model_end[] __attribute__((weak));
}

namespace rushlight {

namespace {

// Scratch for kernels that ask for it; on hosts the kernel gives pages only when they are touched.
#ifndef RUSHLIGHT_RUNNER_TEMPORARY_BYTES
#define RUSHLIGHT_RUNNER_TEMPORARY_BYTES 16384
#endif
constexpr size_t kMaxPlannedBuffers = 16;

Result<Span<const uint8_t>> read_file(const char* path) {
  const int file = platform::file_open(path, platform::FileMode::Read);
  RL_CHECK(file >= 0, Error::AccessFailed, "%s: cannot be opened", path);
  const long size = platform::file_size(file);
  const Span<uint8_t> memory = size < 0 ? Span<uint8_t>() : platform::claim_memory(static_cast<size_t>(size));
  const size_t got = platform::file_read(file, memory.data(), memory.size());
  platform::file_close(file);
  RL_CHECK(size >= 0 && got == static_cast<size_t>(size), Error::AccessFailed, "%s: read %lu of %ld bytes",
           path, static_cast<unsigned long>(got), size);
  return Span<const uint8_t>(memory);
}

const char* argument(int argc, char** argv, const char* name) {
  const size_t length = std::strlen(name);
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], name, length) == 0 && argv[i][length] == '=') return argv[i] + length + 1;
  }
  return nullptr;
}

// A method, loaded into memory claimed for exactly its needs.
class LoadedMethod {
 public:
  [[nodiscard]] static Result<LoadedMethod*> load(const Program& program, const char* name, Report* report) {
    const uint64_t instructions = platform::instruction_count();
    const uint64_t start = platform::now_ns();
    RL_TRY_ASSIGN(const MethodMeta meta, program.method_meta(name));
    RL_TRY_ASSIGN(const size_t arena_bytes, meta.arena_bytes());
    const Span<uint8_t> own = platform::claim_memory(sizeof(LoadedMethod));
    const Span<uint8_t> arena = platform::claim_memory(arena_bytes);
    RL_CHECK(!own.empty() && arena.size() == arena_bytes, Error::MemoryAllocationFailed,
             "method %s: no memory for %lu bytes of values", name, static_cast<unsigned long>(arena_bytes));
    auto* loaded = new (own.data()) LoadedMethod(arena);
    RL_TRY(loaded->claim_planned(meta, report));
    MethodOptions options;
    options.backends = &selected_backends;
    RL_TRY_ASSIGN(Method method, Method::load(program, name, loaded->memory_, selected_operators, options));
    new (&loaded->method_storage_) Method(std::move(method));
    RL_TRY(loaded->claim_outputs());
    report->method_arena_bytes = loaded->arena_.used();
    report->load_instructions = platform::instruction_count() - instructions;
    report->load_ns = platform::now_ns() - start;
    return loaded;
  }

  Method& method() { return *std::launder(reinterpret_cast<Method*>(&method_storage_)); }
  [[nodiscard]] size_t temporary_peak() const { return temporary_.peak(); }

 private:
  explicit LoadedMethod(Span<uint8_t> arena)
      : arena_(arena), temporary_(platform::claim_memory(RUSHLIGHT_RUNNER_TEMPORARY_BYTES)) {
    memory_.method = &arena_;
    memory_.temporary = &temporary_;
  }

  Error claim_planned(const MethodMeta& meta, Report* report) {
    const size_t count = meta.num_planned_buffers();
    RL_CHECK(count <= kMaxPlannedBuffers, Error::NotSupported, "method %s: %lu planned buffers, at most %lu",
             meta.name(), static_cast<unsigned long>(count), static_cast<unsigned long>(kMaxPlannedBuffers));
    report->planned_bytes = 0;
    for (size_t i = 0; i < count; ++i) {
      RL_TRY_ASSIGN(const size_t size, meta.planned_buffer_size(i));
      planned_[i] = platform::claim_memory(size);
      RL_CHECK(planned_[i].size() == size, Error::MemoryAllocationFailed,
               "planned buffer %lu: no memory for %lu bytes", static_cast<unsigned long>(i),
               static_cast<unsigned long>(size));
      report->planned_bytes += size;
    }
    memory_.planned = {planned_, count};
    return Error::Ok;
  }

  // Outputs that the program left to its caller.
  Error claim_outputs() {
    const size_t count = method().meta().num_outputs();
    for (size_t i = 0; i < count; ++i) {
      const EValue& value = method().output(i);
      if (!value.is_tensor() || value.to_tensor().const_data_ptr() != nullptr) continue;
      const TensorImpl* tensor = value.payload.as_tensor;
      const size_t size = tensor->numel_bound() * element_size(tensor->scalar_type());
      RL_TRY(method().set_output_buffer(i, platform::claim_memory(size)));
    }
    return Error::Ok;
  }

  Arena arena_;
  Arena temporary_;
  Span<uint8_t> planned_[kMaxPlannedBuffers];
  MemoryManager memory_;
  alignas(Method) uint8_t method_storage_[sizeof(Method)];
};

class Runner {
 public:
  Runner(const Program& program, const char* outputs) : program_(program), outputs_(outputs) {}

  // Runs the request's calls in order; calls of one method share its state.
  Error run(Span<const uint8_t> request, size_t program_bytes) {
    CaseReader reader(request);
    uint32_t calls = 0;
    RL_CHECK(reader.begin(&calls), Error::InvalidArgument, "request: is no case stream");
    const int file = platform::file_open(outputs_, platform::FileMode::Write);
    RL_CHECK(file >= 0, Error::AccessFailed, "%s: cannot be written", outputs_);
    report_.program_bytes = program_bytes;
    CaseWriter writer(file);
    Error error = Error::Ok;
    for (uint32_t i = 0; i < calls && error == Error::Ok; ++i) {
      error = call(&reader, &writer, i == 0 ? calls : 0);
    }
    platform::file_close(file);
    if (error != Error::Ok) return error;
    RL_CHECK(writer.ok(), Error::AccessFailed, "%s: cannot be written", outputs_);
    return Error::Ok;
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
    report_.temporary_peak_bytes = loaded_->temporary_peak();
    // The report stands first in the file and is complete once the first call has run.
    if (begin_with_calls != 0) writer->begin(begin_with_calls, report_);
    const size_t outputs = method.meta().num_outputs();
    writer->call(static_cast<uint32_t>(outputs), report);
    for (size_t i = 0; i < outputs; ++i) writer->value(method.output(i));
    return Error::Ok;
  }

  Error select(const char* name) {
    if (loaded_ != nullptr && std::strcmp(loaded_->method().meta().name(), name) == 0) return Error::Ok;
    RL_TRY_ASSIGN(loaded_, LoadedMethod::load(program_, name, &report_));
    return Error::Ok;
  }

  static Error set_inputs(CaseReader* reader, Method& method, uint32_t values) {
    const size_t expected = method.meta().num_inputs();
    RL_CHECK(values == expected, Error::InvalidArgument, "method %s: expected %lu inputs, got %lu",
             method.meta().name(), static_cast<unsigned long>(expected), static_cast<unsigned long>(values));
    for (uint32_t i = 0; i < values; ++i) {
      Span<const DimOrderType> dim_order;
      auto info = method.meta().input_tensor(i);
      if (info.ok()) dim_order = info->dim_order;
      CaseReader::TensorStorage storage;
      EValue value;
      RL_CHECK(reader->value(dim_order, &storage, &value), Error::InvalidArgument,
               "request: input %lu is damaged", static_cast<unsigned long>(i));
      RL_TRY(method.set_input(i, value));
    }
    return Error::Ok;
  }

  const Program& program_;
  const char* outputs_;
  LoadedMethod* loaded_ = nullptr;
  Report report_{};
};

void fill_with_ones(const Tensor& tensor) {
  uint8_t* data = tensor.mutable_data_ptr<uint8_t>();
  const size_t width = tensor.element_size();
  // The bytes of 1 in the element type, lowest first.
  uint8_t one[16] = {1};
  const float as_float = 1;
  const double as_double = 1;
  if (tensor.scalar_type() == ScalarType::Float) std::memcpy(one, &as_float, sizeof as_float);
  if (tensor.scalar_type() == ScalarType::Double) std::memcpy(one, &as_double, sizeof as_double);
  if (tensor.scalar_type() == ScalarType::Half) one[0] = 0, one[1] = 0x3c;
  if (tensor.scalar_type() == ScalarType::BFloat16) one[0] = 0x80, one[1] = 0x3f;
  for (size_t i = 0; i < tensor.numel(); ++i) std::memcpy(data + i * width, one, width);
}

// Every method once, on ones: shows that a program loads and runs at all.
Error run_on_ones(const Program& program) {
  for (size_t m = 0; m < program.num_methods(); ++m) {
    Report report{};
    RL_TRY_ASSIGN(LoadedMethod * loaded, LoadedMethod::load(program, program.method_name(m), &report));
    Method& method = loaded->method();
    for (size_t i = 0; i < method.meta().num_inputs(); ++i) {
      auto info = method.meta().input_tensor(i);
      if (!info.ok()) continue;  // numbers keep the value they were exported with
      CaseReader::TensorStorage storage;
      for (size_t d = 0; d < info->sizes.size(); ++d) {
        storage.sizes[d] = info->sizes[d];
        storage.dim_order[d] = info->dim_order[d];
      }
      TensorImpl tensor(info->scalar_type, static_cast<ptrdiff_t>(info->sizes.size()), storage.sizes, nullptr,
                        storage.dim_order, storage.strides);
      const Span<uint8_t> memory = platform::claim_memory(tensor.nbytes());
      RL_CHECK(memory.size() == tensor.nbytes(), Error::MemoryAllocationFailed, "input %lu: no memory",
               static_cast<unsigned long>(i));
      tensor.set_data(memory.data());
      fill_with_ones(Tensor(&tensor));
      RL_TRY(method.set_input(i, EValue(Tensor(&tensor))));
    }
    RL_TRY(method.execute());
    platform::print_line(program.method_name(m));
  }
  return Error::Ok;
}

Error run(int argc, char** argv) {
  Span<const uint8_t> model;
  const char* path = argument(argc, argv, "--model_path");
  if (path != nullptr) {
    RL_TRY_ASSIGN(model, read_file(path));
  } else if (rushlight_model_start != nullptr) {
    model = {rushlight_model_start, static_cast<size_t>(rushlight_model_end - rushlight_model_start)};
  } else {
    platform::print_line("usage: executor_runner --model_path=FILE [--inputs=REQUEST --outputs=RESPONSE]");
    return Error::InvalidArgument;
  }
  BufferDataLoader loader(model.data(), model.size());
  RL_TRY_ASSIGN(const Program program, Program::load(loader));
  const char* inputs = argument(argc, argv, "--inputs");
  const char* outputs = argument(argc, argv, "--outputs");
  if (inputs == nullptr || outputs == nullptr) return run_on_ones(program);
  RL_TRY_ASSIGN(const Span<const uint8_t> request, read_file(inputs));
  return Runner(program, outputs).run(request, model.size());
}

}  // namespace

}  // namespace rushlight

int main(int argc, char** argv) {
  rushlight::platform::init();
  const rushlight::Error error = rushlight::run(argc, argv);
  if (error != rushlight::Error::Ok) rushlight::platform::print_line(rushlight::to_string(error));
  return static_cast<int>(error);
}
