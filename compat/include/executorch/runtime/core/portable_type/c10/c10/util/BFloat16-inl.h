// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <torch/headeronly/util/BFloat16.h>
