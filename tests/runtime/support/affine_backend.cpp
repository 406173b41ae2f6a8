// SPDX-License-Identifier: BSD-3-Clause
// Small enough to predict each result by hand, yet with every duty of a backend: it checks its payload, takes
// memory from the method, reads named data and compile specs, resizes its output. Counts of init() and
// destroy() show leaks and double releases.
#include "tests/runtime/support/affine_backend.h"

#include <cstring>
#include <new>

#include "runtime/program/named_data.h"

namespace rushlight::testing {

namespace {

struct Affine {
  uint32_t n;
  bool relu;
  float* scale;
  float* bias;
};

}  // namespace

Result<DelegateHandle*> AffineBackend::init(BackendInitContext& context, FreeableBuffer* processed,
                                            Span<const CompileSpec> specs) const {
  uint32_t n = 0;
  RL_CHECK(processed->size() >= sizeof n, Error::DelegateInvalidCompatibility, "affine: %lu bytes of data",
           log_number(processed->size()));
  std::memcpy(&n, processed->data(), sizeof n);
  const uint64_t bytes = uint64_t{n} * sizeof(float);
  RL_CHECK(n > 0 && processed->size() == sizeof n + 2 * bytes, Error::DelegateInvalidCompatibility,
           "affine: %lu bytes of data for %lu factors", log_number(processed->size()), log_number(n));
  auto* affine = static_cast<Affine*>(context.allocate(sizeof(Affine)));
  auto* factors = static_cast<float*>(context.allocate(static_cast<size_t>(2 * bytes)));
  if (affine == nullptr || factors == nullptr) return Error::DelegateMemoryAllocationFailed;
  new (affine) Affine{n, false, factors, factors + n};
  std::memcpy(factors, processed->bytes().data() + sizeof n, static_cast<size_t>(2 * bytes));
  for (const CompileSpec& spec : specs) {
    if (std::strcmp(spec.key, "relu") == 0) affine->relu = !spec.value.empty() && spec.value[0] != 0;
    if (std::strcmp(spec.key, "bias") != 0) continue;
    if (context.named_data() == nullptr) return Error::NotFound;
    const std::string_view key(reinterpret_cast<const char*>(spec.value.data()), spec.value.size());
    RL_TRY(context.named_data()->load_into(key, affine->bias, static_cast<size_t>(bytes)));
  }
  processed->free();
  if (counts_ != nullptr) ++counts_->inits;
  return static_cast<DelegateHandle*>(affine);
}

Error AffineBackend::execute(BackendExecuteContext&, DelegateHandle* handle,
                             Span<EValue* const> arguments) const {
  const auto& affine = *static_cast<const Affine*>(handle);
  RL_TRY_ASSIGN(const Tensor x, input_tensor(arguments, 0));
  RL_TRY_ASSIGN(const Tensor y, output_tensor(arguments, 1));
  RL_CHECK(x.scalar_type() == ScalarType::Float && y.scalar_type() == ScalarType::Float, Error::InvalidType,
           "affine: expected float32, got %s and %s", to_string(x.scalar_type()), to_string(y.scalar_type()));
  RL_CHECK(x.dim() > 0 && x.size(x.dim() - 1) == static_cast<ptrdiff_t>(affine.n), Error::InvalidArgument,
           "affine: the last dimension is not %lu", log_number(affine.n));
  RL_TRY(y.impl()->resize(x.sizes()));
  const auto* from = x.const_data_ptr<float>();
  auto* to = y.mutable_data_ptr<float>();
  for (size_t i = 0; i < x.numel(); ++i) {
    const float value = affine.scale[i % affine.n] * from[i] + affine.bias[i % affine.n];
    to[i] = affine.relu && value < 0 ? 0 : value;
  }
  return Error::Ok;
}

void AffineBackend::destroy(DelegateHandle*) const {
  if (counts_ != nullptr) ++counts_->destroys;
}

Bytes affine_data(const std::vector<float>& scale, const std::vector<float>& bias) {
  const auto n = static_cast<uint32_t>(scale.size());
  Bytes bytes(sizeof n + 2 * n * sizeof(float));
  std::memcpy(bytes.data(), &n, sizeof n);
  std::memcpy(bytes.data() + sizeof n, scale.data(), n * sizeof(float));
  std::memcpy(bytes.data() + sizeof n + n * sizeof(float), bias.data(), n * sizeof(float));
  return bytes;
}

}  // namespace rushlight::testing
