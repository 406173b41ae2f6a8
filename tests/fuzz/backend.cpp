// SPDX-License-Identifier: BSD-3-Clause
// init() succeeds or fails depending on a sum of its bytes, so mutants also reach the paths after a failure
// and after a released payload. A failure is a sanitizer's report: a read or write outside of the arguments,
// or a leaked handle.
#include "tests/fuzz/backend.h"

#include <cstring>

#include "tests/fuzz/require.h"

namespace rushlight::fuzz {

namespace {

uint64_t sum_of(Span<const uint8_t> bytes) {
  uint64_t sum = 0;
  for (const uint8_t byte : bytes) sum += byte;
  return sum;
}

class Toucher final : public Backend {
 public:
  [[nodiscard]] Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer* processed,
                                             Span<const CompileSpec> specs) const override {
    uint64_t sum = sum_of(processed->bytes()) + std::strlen(context.method_name());
    for (const CompileSpec& spec : specs) sum += std::strlen(spec.key) + sum_of(spec.value);
    keep(sum);
    if (sum % 5 == 1) return Error::DelegateInvalidCompatibility;
    if (sum % 3 == 0) processed->free();
    // An object to be destroyed: sanitizers report a leak.
    return static_cast<DelegateHandle*>(new char);
  }

  Error execute(BackendExecuteContext& context, DelegateHandle* handle,
                Span<EValue* const> arguments) const override {
    *static_cast<char*>(handle) = 1;
    if (context.allocate_temp(32) == nullptr) return Error::MemoryAllocationFailed;
    for (size_t i = 0; i <= arguments.size(); ++i) {
      const auto input = input_tensor(arguments, i);
      if (input.ok()) read_value(EValue(*input));
      const auto output = output_tensor(arguments, i);
      if (!output.ok()) continue;
      const TensorImpl* tensor = output->impl();
      std::memset(tensor->mutable_data(), 1, tensor->numel_bound() * element_size(tensor->scalar_type()));
    }
    return Error::Ok;
  }

  void destroy(DelegateHandle* handle) const override { delete static_cast<char*>(handle); }
};

constexpr Toucher toucher;
constexpr BackendEntry entries[] = {{"XnnpackBackend", &toucher}};

}  // namespace

const BackendTable backends = {entries, 1};

}  // namespace rushlight::fuzz
