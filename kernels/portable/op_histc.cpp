// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/shared/axes.h"
#include "kernels/shared/checks.h"
#include "kernels/shared/element_access.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/scalar.h"

namespace rushlight::kernels {

namespace {

// f(number) for every element, in memory order.
template <class F>
void for_each_number(const Tensor& self, F f) {
  const char* at = self.const_data_ptr<char>();
  for (size_t i = 0; i < self.numel(); ++i, at += self.element_size()) f(load_number(at, self.scalar_type()));
}

// Where the bounds are equal those of the data are taken, and where these are, one more to each side.
Error read_range(const Tensor& self, double* low, double* high) {
  if (*low == *high && self.numel() > 0) {
    bool first = true;
    for_each_number(self, [&](double number) {
      *low = first || number < *low || number != number ? number : *low;
      *high = first || number > *high || number != number ? number : *high;
      first = false;
    });
  }
  if (*low == *high) {
    *low -= 1;
    *high += 1;
  }
  RL_CHECK(std::isfinite(*low) && std::isfinite(*high), Error::InvalidArgument,
           "min and max: expected a finite range");
  RL_CHECK(*low < *high, Error::InvalidArgument, "max: expected more than min");
  return Error::Ok;
}

}  // namespace

Error histc_out(KernelContext&, const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max,
                Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::histc.out");
  const ScalarType type = self.scalar_type();
  if (!contains(kTypes, type)) return unsupported_type(type);
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_CHECK(bins > 0 && bins <= INT32_MAX, Error::InvalidArgument, "bins: expected 1 at least, got %ld",
           static_cast<long>(bins));
  double low = min.to<double>();
  double high = max.to<double>();
  RL_TRY(read_range(self, &low, &high));
  const SizesType size = static_cast<SizesType>(bins);
  RL_TRY(resize_out(out, {&size, 1}));
  char* const counts = out.mutable_data_ptr<char>();
  for (SizesType i = 0; i < size; ++i) store_integer(counts + i * byte_stride(out, 0), type, 0);
  for_each_number(self, [&](double number) {
    if (!(number >= low && number <= high)) return;
    auto bin = static_cast<ptrdiff_t>((number - low) * static_cast<double>(bins) / (high - low));
    if (bin >= size) bin = size - 1;
    char* const count = counts + bin * byte_stride(out, 0);
    store_number(count, type, load_number(count, type) + 1);
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels
