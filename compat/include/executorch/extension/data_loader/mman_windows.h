// SPDX-License-Identifier: BSD-3-Clause
// Mapping files where there is no mman.h. Where there is one, it is used.
#pragma once

#include <executorch/extension/data_loader/mman.h>
