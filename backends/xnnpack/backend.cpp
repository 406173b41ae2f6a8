// SPDX-License-Identifier: BSD-3-Clause
#include "backends/xnnpack/backend.h"

#include "backends/xnnpack/delegate.h"

namespace rushlight {

// The handle is the LoadedDelegate; destroy() deletes it.
Result<DelegateHandle*> XnnpackBackend::init(BackendInitContext& context, FreeableBuffer* processed,
                                             Span<const CompileSpec>) const {
  RL_TRY_ASSIGN(auto loaded, xnnpack::LoadedDelegate::load(context, processed));
  return static_cast<DelegateHandle*>(loaded.release());
}

Error XnnpackBackend::execute(BackendExecuteContext& context, DelegateHandle* handle,
                              Span<EValue* const> arguments) const {
  return static_cast<xnnpack::LoadedDelegate*>(handle)->execute(arguments, context.tracer());
}

void XnnpackBackend::destroy(DelegateHandle* handle) const {
  delete static_cast<xnnpack::LoadedDelegate*>(handle);
}

}  // namespace rushlight
