// SPDX-License-Identifier: BSD-3-Clause
// Executes delegates that official exporters lowered to XNNPACK, with this build's kernels. Graphs are
// translated to plain operator calls when a delegate is loaded (lowering.h).
#pragma once

#include "runtime/backend/backend.h"

namespace rushlight {

// See Backend. Id in programs: "XnnpackBackend".
class XnnpackBackend final : public Backend {
 public:
  [[nodiscard]] Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer* processed,
                                             Span<const CompileSpec> specs) const override;
  Error execute(BackendExecuteContext& context, DelegateHandle* handle,
                Span<EValue* const> arguments) const override;
  void destroy(DelegateHandle* handle) const override;
};

inline constexpr XnnpackBackend xnnpack_backend;

}  // namespace rushlight
