// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What generated headers mark their functions with; c10/macros/Export.h has the same.
#ifndef TORCH_API
#define TORCH_API __attribute__((__visibility__("default")))
#endif
