// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/kernels/portable/Functions.h>
