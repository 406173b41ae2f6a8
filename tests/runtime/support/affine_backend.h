// SPDX-License-Identifier: BSD-3-Clause
// A small complete backend: y = scale * x + bias over float tensors; the delegate's payload holds the factors
// of the last dimension: u32 n, float scale[n], float bias[n].
#pragma once

#include <vector>

#include "runtime/backend/backend.h"
#include "tests/runtime/support/flat_builder.h"

namespace rushlight::testing {

// Calls of init() that succeeded, and of destroy().
struct AffineCounts {
  int inits = 0;
  int destroys = 0;
};

// Compile specs: "relu" (one byte, not 0: negative results become 0), "bias" (the key of named data that
// replaces the bias). Copies its factors to the method's arena and frees the payload. Errors:
// DelegateInvalidCompatibility (payload of another length), DelegateMemoryAllocationFailed, NotFound (no
// named data); in execute(), InvalidType (not float32), InvalidArgument (last dimension).
class AffineBackend final : public Backend {
 public:
  constexpr explicit AffineBackend(AffineCounts* counts = nullptr, bool available = true)
      : counts_(counts), available_(available) {}

  [[nodiscard]] bool is_available() const override { return available_; }
  [[nodiscard]] Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer* processed,
                                             Span<const CompileSpec> specs) const override;
  Error execute(BackendExecuteContext& context, DelegateHandle* handle,
                Span<EValue* const> arguments) const override;
  void destroy(DelegateHandle* handle) const override;

 private:
  AffineCounts* counts_;
  bool available_;
};

// A payload; both vectors have the length of the last dimension.
Bytes affine_data(const std::vector<float>& scale, const std::vector<float>& bias);

}  // namespace rushlight::testing
