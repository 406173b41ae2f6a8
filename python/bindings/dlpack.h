// SPDX-License-Identifier: BSD-3-Clause
// Lends the memory of tensors to Python as DLPack capsules, which torch.from_dlpack() takes: every dtype,
// any strides, no copy.
#pragma once

#include <pybind11/pybind11.h>

#include "runtime/tensor/tensor.h"

namespace rushlight {

// A capsule over the elements in the tensor's shape and dim order. A quantized dtype becomes the integers
// that it stores. The capsule does not own the memory, which must outlive every use of the result.
pybind11::object lend_tensor(const TensorImpl& tensor);

// The same over a copy of the elements, which the capsule owns.
pybind11::object lend_copy(const TensorImpl& tensor);

// A capsule over the tensor's whole memory, as one dimension of numel_bound() elements.
pybind11::object lend_memory(const TensorImpl& tensor);

}  // namespace rushlight
