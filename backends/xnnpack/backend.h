// SPDX-License-Identifier: BSD-3-Clause
// Runs what official exporters lowered to XNNPACK, with this build's kernels.
#pragma once

#include "runtime/backend/backend.h"

namespace rushlight {

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
