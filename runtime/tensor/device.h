// SPDX-License-Identifier: BSD-3-Clause
// Copies between host memory and device memory. The runtime implements no device; an application that links
// devices defines copy_with_device().
#pragma once

#include "runtime/tensor/tensor.h"

namespace rushlight {

// Copies all bytes of `from` to `to`, of which at least one is on a device. The application defines it. A
// weak symbol, unlike a function pointer, needs no writable memory.
__attribute__((weak)) Error copy_with_device(const TensorImpl& from, const TensorImpl& to);

// Copies the bytes of one tensor to another with the same number of bytes, on any devices. Errors:
// InvalidArgument (different number of bytes, no memory), NotFound (copy_with_device() is not linked), or the
// errors of copy_with_device().
Error copy_bytes(const TensorImpl& from, const TensorImpl& to);

}  // namespace rushlight
