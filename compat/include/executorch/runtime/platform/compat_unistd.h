// SPDX-License-Identifier: BSD-3-Clause
// Includes the POSIX header, on the systems that this build supports. The official header also serves
// Windows, where it declares the functions that <unistd.h> would.
#pragma once

#include <unistd.h>
