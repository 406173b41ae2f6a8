// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/axes.h"
#include "kernels/shared/checks.h"
#include "kernels/shared/lane_walk.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// Whether an element is not zero, by its bits: those of a floating number without the sign.
bool is_set(const char* at, size_t element, bool floating) {
  uint64_t bits = 0;
  for (size_t i = 0; i < element; ++i) bits = bits << 8 | static_cast<uint8_t>(at[element - 1 - i]);
  return (floating ? bits << (65 - 8 * element) : bits) != 0;
}

// f(position in row major order) for every element that is not zero.
template <class F>
void for_each_set(const Tensor& self, F f) {
  if (self.numel() == 0) return;
  const View view = at_least_1d(self);
  const bool floating = is_floating(self.scalar_type());
  int64_t position = 0;
  const Error error = for_each_lane({&view, 1}, view.dim - 1, [&](const ViewLane* lanes) {
    for (ptrdiff_t i = 0; i < lanes[0].size; ++i, ++position) {
      if (is_set(lanes[0].data + i * lanes[0].stride, self.element_size(), floating)) f(position);
    }
    return Error::Ok;
  });
  static_cast<void>(error);  // the lanes have none
}

}  // namespace

Error nonzero_out(KernelContext&, const Tensor& self, Tensor& out) {
  RL_CHECK(out.scalar_type() == ScalarType::Long, Error::InvalidType, "out: expected dtype int64, got %s",
           to_string(out.scalar_type()));
  RL_CHECK(!is_complex(self.scalar_type()), Error::InvalidType, "self: expected a real dtype, got %s",
           to_string(self.scalar_type()));
  SizesType count = 0;
  for_each_set(self, [&](int64_t) { ++count; });
  const SizesType shape[] = {count, static_cast<SizesType>(self.dim())};
  RL_TRY(resize_out(out, shape));
  char* row = out.mutable_data_ptr<char>();
  for_each_set(self, [&](int64_t position) {
    if (count-- <= 0) return;  // memory that is shared may change
    for (size_t d = static_cast<size_t>(self.dim()); d-- > 0;) {
      *reinterpret_cast<int64_t*>(row + static_cast<ptrdiff_t>(d) * byte_stride(out, 1)) =
          position % self.sizes()[d];
      position /= self.sizes()[d];
    }
    row += byte_stride(out, 0);
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels
