// SPDX-License-Identifier: BSD-3-Clause
// One delegate lowered to XNNPACK, executed as a program of plain calls by the module layer.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/calls/call_list.h"
#include "backends/calls/call_tracer.h"
#include "backends/xnnpack/lowering.h"
#include "backends/xnnpack/payload.h"
#include "runtime/backend/backend.h"
#include "runtime/module/module_method.h"
#include "runtime/module/shared_data_loader.h"

namespace rushlight::xnnpack {

// A payload translated to a program in memory.
struct Lowered {
  std::unique_ptr<CallList> calls;  // owns the constants
  Ends ends;
  std::vector<uint8_t> program;  // a .pte file
};

// Translates a payload. If `is_dynamic`, the program accepts tensors smaller than the payload's. The payload
// must outlive the result. Errors: as lower() and CallList::program().
[[nodiscard]] Result<Lowered> lower_to_program(const Payload& payload, bool is_dynamic);

// Constants and packed weights that the delegates of a program share.
struct SharedWeights {
  std::shared_ptr<ConstantPool> constants = std::make_shared<ConstantPool>();
  WeightStore prepared;
};

// A loaded delegate. If an execution has other input sizes than the payload, it reloads the program as a
// dynamic one and keeps that. Not thread-safe, but the shared weights have locks.
class LoadedDelegate {
 public:
  // Loads a delegate. Takes over the payload if its memory would be freed with the method. Errors:
  // InvalidProgram, NotSupported, OperatorMissing (this build lacks an operator), MemoryAllocationFailed.
  [[nodiscard]] static Result<std::unique_ptr<LoadedDelegate>> load(const BackendInitContext& context,
                                                                    FreeableBuffer* processed);

  // Executes the delegate on its arguments; outputs get the sizes of the results. `tracer` (may be null)
  // receives events of the payload's nodes if a tracer was present at load. Errors: InvalidArgument,
  // InvalidProgram, or as the kernels.
  Error execute(Span<EValue* const> arguments, EventTracer* tracer);

 private:
  LoadedDelegate(const BackendInitContext& context, std::unique_ptr<SharedWeights> own,
                 SharedWeights* weights, Payload payload)
      : own_weights_(std::move(own)),
        weights_(weights),
        payload_(std::move(payload)),
        host_(context.host()),
        threads_(context.threads()),
        is_traced_(context.tracer() != nullptr) {}

  // Frees the inner method and returns its memory to the host.
  void unload_program();
  // Translates the payload and loads the result in place of the present program. After an error there is
  // none, and the next execution tries again. Errors: as load().
  Error load_program(bool is_dynamic);
  // Bind the outer inputs to the inner method under its dim order, which may name dimensions differently;
  // give it the memory of the outer outputs; resize those to the results. Errors: as execute().
  Error set_inputs(Span<EValue* const> arguments);
  Error set_outputs(Span<EValue* const> arguments);
  Error resize_outputs(Span<EValue* const> arguments);
  // Returns true if the inputs have the sizes of the present program.
  [[nodiscard]] bool fits(Span<EValue* const> arguments) const;

  // The objects from payload_ to method_ refer only to those before them, so that destruction in reverse
  // order is safe.
  std::unique_ptr<SharedWeights> own_weights_;  // without a host that shares them
  SharedWeights* weights_;
  Payload payload_;
  BackendHost* host_;
  ThreadPool* threads_;
  bool is_traced_;
  bool is_dynamic_ = false;
  Lowered lowered_;
  std::unique_ptr<SharedDataLoader> loader_;
  std::optional<Program> program_;
  std::optional<CallTracer> tracer_;
  std::unique_ptr<ModuleMethod> method_;
  DelegateMemory taken_;
};

}  // namespace rushlight::xnnpack
