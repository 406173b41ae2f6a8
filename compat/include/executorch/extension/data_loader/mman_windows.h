// SPDX-License-Identifier: BSD-3-Clause
// Officially, file mapping for systems without mman.h; here it includes mman.h, which supports POSIX only.
#pragma once

#include <executorch/extension/data_loader/mman.h>
