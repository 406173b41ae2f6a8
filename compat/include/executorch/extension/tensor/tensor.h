// SPDX-License-Identifier: BSD-3-Clause
// All of extension/tensor: tensors that own their shape and memory, their makers, and indexed access.
#pragma once

#include <executorch/extension/tensor/tensor_accessor.h>
#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/extension/tensor/tensor_ptr_maker.h>
