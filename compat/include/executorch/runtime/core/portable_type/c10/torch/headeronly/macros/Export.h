// SPDX-License-Identifier: BSD-3-Clause
// Symbol visibility. All libraries are static, so names use the compiler's default. The macros of GPU
// libraries have the same value, for code that names them in declarations.
#pragma once

#define C10_EXPORT __attribute__((__visibility__("default")))
#define C10_IMPORT C10_EXPORT
#define C10_HIDDEN __attribute__((__visibility__("hidden")))
#define C10_API C10_IMPORT
#define C10_API_ENUM
#define C10_CUDA_API C10_IMPORT
#define C10_HIP_API C10_IMPORT
#define C10_XPU_API C10_IMPORT
#ifndef TORCH_API
#define TORCH_API C10_IMPORT
#endif
#define TORCH_CUDA_CU_API C10_IMPORT
#define TORCH_CUDA_CPP_API C10_IMPORT
#define TORCH_HIP_CPP_API C10_IMPORT
#define TORCH_HIP_API C10_IMPORT
#define TORCH_XPU_API C10_IMPORT
#define CAFFE2_API C10_IMPORT
