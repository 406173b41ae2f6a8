// SPDX-License-Identifier: BSD-3-Clause
// Executes a program on the target that this was built for:
//
//   executor_runner [--model_path=FILE] [--data_path=FILE.ptd ...] [--inputs=REQUEST --outputs=RESPONSE]
//                   [--rtol=NUMBER] [--atol=NUMBER], and the options in memory_options.h
//                   [--etdump=FILE [--etdump_size=BYTES] [--debug_output=FILE [--debug_size=BYTES]]]
//                   [--outcome=FILE]
//
// Without --model_path it executes the linked program; data files may be linked as well. Requests and
// responses are case streams (case_stream.h). Without a request, the cases of a bundled program (.bpte) are
// verified, and of any other program every method is executed once on inputs of ones. --etdump writes the
// executed events and their times, --debug_output the outputs of operators; both are collected in memory
// first and need a build with EXECUTORCH_ENABLE_EVENT_TRACER. The exit status is 0 or the value of the Error
// that stopped it; --outcome writes details (outcome.h).
#include "runtime/base/log.h"
#include "runtime/executor/method.h"
#include "runtime/platform/host_file.h"
#include "runtime/platform/platform.h"
#include "runtime/program/program.h"
#include "runtime/runner/bundled_run.h"
#include "runtime/runner/model_files.h"
#include "runtime/runner/outcome.h"
#include "runtime/runner/request_run.h"
#include "runtime/runner/trace_files.h"

// File formats that the runner supports, set by the build: a board that needs neither links no code for them.
#ifndef RUSHLIGHT_RUNNER_DATA_FILES
#define RUSHLIGHT_RUNNER_DATA_FILES 1
#endif
#ifndef RUSHLIGHT_RUNNER_BUNDLED_PROGRAMS
#define RUSHLIGHT_RUNNER_BUNDLED_PROGRAMS 1
#endif

namespace rushlight {

namespace {

constexpr bool kTakesDataFiles = RUSHLIGHT_RUNNER_DATA_FILES;
constexpr bool kTakesBundledPrograms = RUSHLIGHT_RUNNER_BUNDLED_PROGRAMS;

Error run_program(int argc, char** argv, Span<const uint8_t> model, const BundledProgram* bundle,
                  const RunOptions& options) {
  BufferDataLoader loader(model.data(), model.size());
  RL_TRY_ASSIGN(const Program program, Program::load(loader));
  const char* inputs = argument(argc, argv, "--inputs");
  const char* outputs = argument(argc, argv, "--outputs");
  if (inputs != nullptr && outputs != nullptr) {
    RL_TRY_ASSIGN(const Span<const uint8_t> request, read_file(inputs));
    return run_request(program, options, request, outputs, model.size());
  }
  if constexpr (kTakesBundledPrograms) {
    if (bundle != nullptr) {
      RL_TRY_ASSIGN(const BundledTolerance tolerance, tolerance_of(argc, argv));
      return run_bundle(*bundle, program, options, tolerance);
    }
  }
  return run_on_ones(program, options);
}

Error run_model(int argc, char** argv, Span<const uint8_t> model, const RunOptions& options) {
  if constexpr (kTakesBundledPrograms) {
    if (BundledProgram::is_bundled_program(model)) {
      RL_TRY_ASSIGN(const BundledProgram bundle, BundledProgram::open(model));
      RL_TRY_ASSIGN(const Span<const uint8_t> program, aligned(bundle.program()));
      return run_program(argc, argv, program, &bundle, options);
    }
  }
  return run_program(argc, argv, model, nullptr, options);
}

Error run(int argc, char** argv, EventTracer* tracer) {
  RL_TRY_ASSIGN(const Span<const uint8_t> model, read_model(argc, argv));
  RL_CHECK(model.data() != nullptr, Error::InvalidArgument,
           "usage: executor_runner --model_path=FILE [--data_path=FILE.ptd ...]"
           " [--inputs=REQUEST --outputs=RESPONSE] [--rtol=NUMBER] [--atol=NUMBER]");
  RunOptions options;
  options.backends = &selected_backends;
  options.tracer = tracer;
  RL_TRY(read_memory_options(argc, argv, &options.memory));
  options.instruction_budget = options.memory.max_instructions;
  options.memory.file_bytes = model.size();
  if constexpr (kTakesDataFiles) {
    DataFiles data;
    RL_TRY(data.open(argc, argv));
    options.external_data = data.map();
    options.memory.file_bytes += data.bytes();
    return run_model(argc, argv, model, options);
  } else {
    return run_model(argc, argv, model, options);
  }
}

Error run_traced(int argc, char** argv, TraceFiles* trace) {
  RL_TRY(trace->begin(argc, argv));
  const Error error = run(argc, argv, trace->tracer());
  // Events before a failure are written too.
  const Error written = trace->write();
  return error != Error::Ok ? error : written;
}

}  // namespace

}  // namespace rushlight

int main(int argc, char** argv) {
  rushlight::platform::init();
  rushlight::TraceFiles trace;
  const rushlight::Error error = rushlight::run_traced(argc, argv, &trace);
  rushlight::tell_outcome(argc, argv, error, trace.lost());
  return static_cast<int>(error);
}
