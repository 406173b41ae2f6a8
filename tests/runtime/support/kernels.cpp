// SPDX-License-Identifier: BSD-3-Clause
// These kernels hardly check their arguments: a test that reaches them with wrong ones has found a missing
// check of the loader.
#include "tests/runtime/support/kernels.h"

#include <cstring>

#include "runtime/kernel/boxing.h"

namespace rushlight::testing {

namespace {

Error add(KernelContext&, const Tensor& a, const Tensor& b, Tensor& out) {
  RL_TRY(out.impl()->resize(a.sizes()));
  for (size_t i = 0; i < a.numel(); ++i) {
    out.mutable_data_ptr<float>()[i] =
        a.const_data_ptr<float>()[i] + b.const_data_ptr<float>()[b.numel() == 1 ? 0 : i];
  }
  return Error::Ok;
}

Error add_int(KernelContext&, const EValue& a, const EValue& b, EValue& out) {
  out = EValue(a.to_int() + b.to_int());
  return Error::Ok;
}

Error concat(KernelContext&, Span<const Tensor> parts, Tensor& out) {
  auto* target = out.mutable_data_ptr<uint8_t>();
  for (const Tensor& part : parts) {
    if (part.nbytes() > 0) std::memcpy(target, part.const_data_ptr(), part.nbytes());
    target += part.nbytes();
  }
  return Error::Ok;
}

Error fail(KernelContext&, Tensor&) { return Error::Internal; }

Error is_positive(KernelContext&, const Tensor& a, Tensor& out) {
  *out.mutable_data_ptr<bool>() = a.const_data_ptr<float>()[0] > 0;
  return Error::Ok;
}

Error resize(KernelContext&, Tensor& out, int64_t size) {
  const SizesType sizes[] = {static_cast<SizesType>(size)};
  RL_TRY(out.impl()->resize({sizes, 1}));
  for (size_t i = 0; i < out.numel(); ++i) out.mutable_data_ptr<float>()[i] = 7;
  return Error::Ok;
}

Error scratch(KernelContext& context, int64_t bytes) {
  return context.allocate_temp(static_cast<size_t>(bytes)) != nullptr ? Error::Ok
                                                                      : Error::MemoryAllocationFailed;
}

Error split(KernelContext&, const Tensor& a, Span<Tensor> parts) {
  const auto* source = a.const_data_ptr<uint8_t>();
  for (const Tensor& part : parts) {
    if (part.nbytes() > 0) std::memcpy(part.mutable_data_ptr(), source, part.nbytes());
    source += part.nbytes();
  }
  return Error::Ok;
}

Error typed(KernelContext&, const Tensor&, int64_t, double, bool, const Scalar&, std::string_view,
            Span<const int64_t>, Span<const double>, Span<const bool>, Span<const Tensor>,
            Span<const std::optional<Tensor>>) {
  return Error::Ok;
}

Error typed_optional(KernelContext&, const std::optional<Tensor>&, std::optional<int64_t>,
                     std::optional<double>, const std::optional<Scalar>&) {
  return Error::Ok;
}

Error view(KernelContext&, const Tensor& self, Span<const int64_t> size, EValue& out) {
  if (!out.is_tensor() || size.size() > kTensorDimensionLimit) return Error::InvalidArgument;
  SizesType sizes[kTensorDimensionLimit];
  for (size_t i = 0; i < size.size(); ++i) sizes[i] = static_cast<SizesType>(size[i]);
  return out.to_tensor().impl()->make_view(*self.impl(), {sizes, size.size()});
}

template <auto kFunction>
constexpr KernelEntry entry(const char* name) {
  return {name, &boxed<kFunction>, signature_of<kFunction>()};
}

constexpr KernelEntry kEntries[] = {
    entry<&add>("test::add"),
    entry<&add_int>("test::add_int"),
    entry<&concat>("test::concat"),
    entry<&fail>("test::fail"),
    entry<&is_positive>("test::is_positive"),
    entry<&resize>("test::resize"),
    entry<&scratch>("test::scratch"),
    entry<&split>("test::split"),
    entry<&typed>("test::typed"),
    entry<&typed_optional>("test::typed.optional"),
    entry<&view>("test::view"),
};

}  // namespace

const OperatorTable kernels = {kEntries, std::size(kEntries)};

}  // namespace rushlight::testing
