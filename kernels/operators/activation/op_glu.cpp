// SPDX-License-Identifier: BSD-3-Clause
// Gated linear unit: a * sigmoid(b), where a and b are the halves of `self` along `dim`. One pass steps
// through both halves and `out` together, so that no half is copied.
#include <cmath>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/matmul/accumulator.h"
#include "kernels/walk/joint_axes.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

enum Operand { kOut, kFirst, kSecond, kOperands };
using Walk = JointAxes<kOperands>;

ptrdiff_t step(const Tensor& tensor, size_t d) {
  return static_cast<ptrdiff_t>(tensor.strides()[d]) * static_cast<ptrdiff_t>(tensor.element_size());
}

// Computes one span in T and converts to the dtype of `out`, which may be another floating dtype.
template <class T>
void gate_span(char* const* pointers, const Walk::Axis& run, ScalarType out) {
  using A = Accumulator<T>;
  for (size_t i = 0; i < run.size; ++i) {
    const auto at = [&](size_t k) { return pointers[k] + static_cast<ptrdiff_t>(i) * run.strides[k]; };
    // 16-bit floats compute in float and are rounded to T once, then converted to the dtype of `out`.
    const A value = widen(*reinterpret_cast<const T*>(at(kFirst)));
    const A gate = widen(*reinterpret_cast<const T*>(at(kSecond)));
    const T gated = narrow<T>(value / (A(1) + std::exp(-gate)));
    if (out == scalar_type_of<T>) {
      *reinterpret_cast<T*>(at(kOut)) = gated;
    } else {
      convert_span(at(kOut), 0, out, &gated, 0, scalar_type_of<T>, 1);
    }
  }
}

}  // namespace

Error glu_out(KernelContext&, const Tensor& self, int64_t dim, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::glu.out");
  RL_TRY(check_can_cast(self.scalar_type(), out));
  RL_TRY(check_convertible(out.scalar_type()));
  RL_CHECK(self.dim() > 0, Error::InvalidArgument, "self: expected rank 1 at least, got 0");
  size_t halved = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &halved));
  const SizesType size = self.sizes()[halved];
  RL_CHECK(size % 2 == 0, Error::InvalidArgument, "self: expected an even size of dimension %lu, got %ld",
           static_cast<unsigned long>(halved), static_cast<long>(size));
  Shape shape;
  for (const SizesType each : self.sizes()) shape.push(each);
  shape.sizes[halved] = size / 2;
  RL_TRY(resize_out(out, shape.span()));
  // The axes follow the memory order of `out`. `self` appears twice, with equal strides and two start
  // addresses.
  Walk walk;
  for (size_t i = shape.dim; i-- > 0;) {
    const size_t d = out.dim_order()[i];
    walk.add({static_cast<size_t>(shape.sizes[d]), {step(out, d), step(self, d), step(self, d)}});
  }
  char* const first = self.mutable_data_ptr<char>();
  // An empty tensor may have no memory: no offset is added to its address.
  char* const second = self.numel() == 0 ? first : first + step(self, halved) * (size / 2);
  char* const start[] = {out.mutable_data_ptr<char>(), first, second};
  return dispatch<kTypes>(self.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    walk.walk(start, 1,
              [&](char* const* pointers) { gate_span<T>(pointers, walk.inner(), out.scalar_type()); });
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
