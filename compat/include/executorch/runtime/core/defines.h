// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// 1 if enumerators' names are compiled in.
#ifndef ET_ENABLE_ENUM_STRINGS
#define ET_ENABLE_ENUM_STRINGS 1
#endif
