// SPDX-License-Identifier: BSD-3-Clause
// POSIX's own, on the systems that this is built for.
#pragma once

#include <unistd.h>
