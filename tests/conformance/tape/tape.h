// SPDX-License-Identifier: BSD-3-Clause
// A backend that computes element by element: each element of the inputs passes a tape of steps, whose
// results are registers. The part that runs at export is in tests/support/example_backends.py.
//
// The delegate's bytes are u32: dtype (6 float32, 4 int64), inputs, constants, steps, outputs, bytes of the
// key; the steps (operator, register a, register b); the outputs' registers; the key, under which the
// constants lie as named data. Registers are the inputs, the constants, the steps' results, in this order.
#pragma once

#include "runtime/backend/backend.h"

namespace rushlight::testing {

// Without state: every delegate's state is behind its handle.
class TapeBackend final : public Backend {
 public:
  constexpr TapeBackend() = default;

  [[nodiscard]] Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer* processed,
                                             Span<const CompileSpec> specs) const override;
  Error execute(BackendExecuteContext& context, DelegateHandle* handle,
                Span<EValue* const> arguments) const override;
};

inline constexpr TapeBackend tape;

}  // namespace rushlight::testing
