// SPDX-License-Identifier: BSD-3-Clause
// Begins and ends the events of instructions and kernels. The inline parts in scope.h return at once without
// a tracer; these members are called with one only.
#include "runtime/trace/scope.h"

#include <cstring>

namespace rushlight {

namespace {

// Signature characters (kernel/boxing.h) of tensors that a kernel writes.
constexpr char kWritten[] = "wk";

bool traces_instructions(const EventTracer& tracer) {
  return tracer.profiling_level() >= ProfilingLevel::AllEvents;
}

}  // namespace

void InstructionScope::begin(size_t chain, size_t index, const char* name) {
  // Set at every profiling level: logged values carry the instruction's number as well.
  tracer_->set_chain_debug_handle(static_cast<ChainId>(chain), static_cast<DebugHandle>(index));
  if (traces_instructions(*tracer_)) entry_.value = tracer_->start_profiling(name);
}

void InstructionScope::end() {
  if (traces_instructions(*tracer_)) tracer_->end_profiling(entry_.value);
  tracer_->set_chain_debug_handle(kUnsetChainId, kUnsetDebugHandle);
}

void OperatorScope::begin(const char* name) {
  // No kernel event for prim operators, and for operators that write no tensor.
  constexpr char kPrim[] = "executorch_prim::";
  if (std::strncmp(name, kPrim, sizeof kPrim - 1) == 0 || std::strpbrk(signature_, kWritten) == nullptr) {
    tracer_ = nullptr;
    return;
  }
  if (!traces_instructions(*tracer_)) return;
  // The name that ExecuTorch's generated wrappers give to the event of aten::add.out: native_call_add.out.
  constexpr char kPrefix[] = "native_call_";
  constexpr size_t kPrefixLength = sizeof kPrefix - 1;
  const char* separator = std::strstr(name, "::");
  const char* base = separator == nullptr ? name : separator + 2;
  char event[256];
  // Longer names are truncated.
  const size_t most = sizeof event - sizeof kPrefix;
  const size_t length = std::strlen(base) < most ? std::strlen(base) : most;
  std::memcpy(event, kPrefix, kPrefixLength);
  std::memcpy(event + kPrefixLength, base, length);
  event[kPrefixLength + length] = 0;
  entry_.value = tracer_->start_profiling(event);
}

void OperatorScope::end() {
  if (traces_instructions(*tracer_)) tracer_->end_profiling(entry_.value);
}

void OperatorScope::log(EValue* const* arguments) const {
  for (size_t i = 0; signature_[i] != 0; ++i) {
    if (std::strchr(kWritten, signature_[i]) != nullptr) {
      trace_value(tracer_, *arguments[i], LoggedValue::IntermediateOutput);
    }
  }
}

void trace_value(EventTracer* tracer, const EValue& value, LoggedValue kind) {
  if (tracer == nullptr) return;
  const DebugLevel needed =
      kind == LoggedValue::ProgramOutput ? DebugLevel::ProgramOutputs : DebugLevel::IntermediateOutputs;
  // The tracer counts values that it cannot log; a failure to log does not fail the execution.
  if (tracer->debug_level() >= needed) static_cast<void>(tracer->log_value(value, kind));
}

}  // namespace rushlight
