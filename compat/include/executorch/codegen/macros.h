// SPDX-License-Identifier: BSD-3-Clause
// Symbol visibility in code that the official generator writes.
#pragma once

// Marks functions in generated headers; c10/macros/Export.h defines the same.
#ifndef TORCH_API
#define TORCH_API __attribute__((__visibility__("default")))
#endif
