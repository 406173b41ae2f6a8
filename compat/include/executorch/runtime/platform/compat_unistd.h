// SPDX-License-Identifier: BSD-3-Clause
// Includes the POSIX header, on the systems that this build supports.
#pragma once

#include <unistd.h>
