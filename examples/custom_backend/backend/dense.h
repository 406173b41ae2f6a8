// SPDX-License-Identifier: BSD-3-Clause
// A backend for chains of dense layers: y = W x + b, with or without a ReLU, row by row, float32.
//
// Payload, all numbers little-endian:
//   u32 magic "DNS1", u32 layers
//   for each layer: u32 inputs, u32 outputs, u32 relu, f32 bias[outputs], f32 weights[outputs][inputs]
// dense.py writes it. The weights stay in the payload: on a board they are read from flash.
#pragma once

#include "runtime/backend/backend.h"

namespace example {

using namespace ::rushlight;

class Dense final : public Backend {
 public:
  constexpr Dense() = default;

  // Checks the whole payload, so that execute() can trust it.
  // Errors: DelegateInvalidCompatibility, DelegateMemoryAllocationFailed.
  [[nodiscard]] Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer* processed,
                                             Span<const CompileSpec> specs) const override;

  // One input of any rank, one output; only the last dimension differs.
  // Errors: InvalidProgram, InvalidType, InvalidArgument, MemoryAllocationFailed.
  Error execute(BackendExecuteContext& context, DelegateHandle* handle,
                Span<EValue* const> arguments) const override;
};

inline constexpr Dense dense;

}  // namespace example
