// SPDX-License-Identifier: BSD-3-Clause
// One delegate that was lowered to XNNPACK, as a program of plain calls that the module layer runs.
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

// A payload as a program in memory.
struct Lowered {
  std::unique_ptr<CallList> calls;  // has the constants
  Ends ends;
  std::vector<uint8_t> program;  // a .pte
};

// With `is_dynamic`, for tensors smaller than the payload's, too. The payload outlives it. Errors: as
// lower().
[[nodiscard]] Result<Lowered> lower_to_program(const Payload& payload, bool is_dynamic);

// What the delegates of a program share.
struct SharedWeights {
  std::shared_ptr<ConstantPool> constants = std::make_shared<ConstantPool>();
  WeightStore prepared;
};

class LoadedDelegate {
 public:
  // Takes the payload over where its memory goes with the method. Errors: InvalidProgram, NotSupported,
  // NotFound (an operator that this build does not have), or MemoryAllocationFailed.
  [[nodiscard]] static Result<std::unique_ptr<LoadedDelegate>> load(const BackendInitContext& context,
                                                                    FreeableBuffer* processed);

  // The delegate's arguments; outputs take the sizes of the results. `tracer` (may be null) is told of the
  // payload's nodes if there was one at loading.
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

  void unload_program();
  Error load_program(bool is_dynamic);
  Error set_inputs(Span<EValue* const> arguments);
  Error set_outputs(Span<EValue* const> arguments);
  Error resize_outputs(Span<EValue* const> arguments);
  [[nodiscard]] bool fits(Span<EValue* const> arguments) const;

  std::unique_ptr<SharedWeights> own_weights_;  // where nobody has some for the program
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
