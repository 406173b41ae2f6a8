// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// 1 if enumerators' names are compiled in, by functions that return a constant text (core/tag.h). 0 saves
// flash; the form with a buffer remains.
#ifndef ET_ENABLE_ENUM_STRINGS
#define ET_ENABLE_ENUM_STRINGS 1
#endif
