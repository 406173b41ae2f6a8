// SPDX-License-Identifier: BSD-3-Clause
// Executes delegates that official exporters lowered to XNNPACK, with this build's kernels. Graphs are
// translated to plain operator calls when a delegate is loaded (lowering.h).
#pragma once

#include "runtime/backend/backend.h"

namespace rushlight {

// See Backend. Id in programs: "XnnpackBackend". Needs no device and ignores compile specs. A handle points
// to a LoadedDelegate (delegate.h), whose errors init() and execute() return. Two threads must not execute it
// at the same time.
class XnnpackBackend final : public Backend {
 public:
  [[nodiscard]] Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer* processed,
                                             Span<const CompileSpec> specs) const override;
  Error execute(BackendExecuteContext& context, DelegateHandle* handle,
                Span<EValue* const> arguments) const override;
  void destroy(DelegateHandle* handle) const override;
};

// The only instance needed: it has no state.
inline constexpr XnnpackBackend xnnpack_backend;

}  // namespace rushlight
