// SPDX-License-Identifier: BSD-3-Clause
// File mapping for systems without mman.h; on others it includes mman.h.
#pragma once

#include <executorch/extension/data_loader/mman.h>
