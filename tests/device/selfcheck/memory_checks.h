// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Returns a text that names the first error of memcpy, memmove or memset; null if there is none.
const char* find_memory_mistake();
