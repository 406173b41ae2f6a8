// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <torch/library.h>

namespace {

at::Tensor mul3(const at::Tensor& input) { return input * 3; }

}  // namespace

TORCH_LIBRARY_FRAGMENT(my_ops, library) { library.def("mul3(Tensor input) -> Tensor"); }
TORCH_LIBRARY_IMPL(my_ops, CompositeExplicitAutograd, library) { library.impl("mul3", TORCH_FN(mul3)); }
