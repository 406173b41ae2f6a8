// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element.h"
#include "kernels/index/flat_index.h"
#include "kernels/math/arithmetic.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

using AddElement = void (*)(char* target, const char* source);

// One dtype's sum; the walk, which is larger, is compiled once.
template <class T>
void add_element(char* target, const char* source) {
  T* const sum = reinterpret_cast<T*>(target);
  const T summand = load(reinterpret_cast<const T*>(source));
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    *sum = static_cast<T>(static_cast<float>(*sum) + static_cast<float>(summand));
  } else {
    *sum = wrapping_add(load(sum), summand);
  }
}

}  // namespace

// out = self, with the elements at row-major positions `index` replaced by the elements of `source`, or, with
// `accumulate`, increased by them. Negative indices count from the end. 16-bit floats are rounded after each
// addition.
Error put_out(KernelContext&, const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate,
              Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::put.out");
  RL_TRY(check_same_dtype(self, source, "self and source"));
  RL_CHECK(source.numel() == index.numel(), Error::InvalidArgument,
           "source: expected %lu elements, as index has, got %lu", log_number(index.numel()),
           log_number(source.numel()));
  AddElement add = nullptr;
  RL_TRY(dispatch<kTypes>(self.scalar_type(), [&](auto type) {
    add = add_element<typename decltype(type)::Element>;
    return Error::Ok;
  }));
  RL_TRY(copy_to_out(View::of(self), out));
  const size_t element_bytes = self.element_size();
  return for_each_flat(index, out, source, [&](char* element, char* other) {
    if (accumulate) {
      add(element, other);
    } else {
      copy_element(element, other, element_bytes);
    }
  });
}

}  // namespace rushlight::kernels
