// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Whether enumerators have their names in the program.
#ifndef ET_ENABLE_ENUM_STRINGS
#define ET_ENABLE_ENUM_STRINGS 1
#endif
