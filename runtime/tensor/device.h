// SPDX-License-Identifier: BSD-3-Clause
// Copies between the host's memory and that of devices. The runtime knows no device: an application that has
// some defines how to copy.
#pragma once

#include "runtime/tensor/tensor.h"

namespace rushlight {

// Copies all bytes of `from` to `to`; at least one of them lies on a device. Whoever links devices defines
// it; a weak symbol takes no memory that is written, as a pointer would.
__attribute__((weak)) Error copy_with_device(const TensorImpl& from, const TensorImpl& to);

// Copies the bytes of one tensor to another of as many, wherever they lie.
// Errors: InvalidArgument (another number of bytes, no memory), NotFound (nobody copies), those of the copy.
Error copy_bytes(const TensorImpl& from, const TensorImpl& to);

}  // namespace rushlight
