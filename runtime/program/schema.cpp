// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/program/schema.h"

#include "runtime/program/pte_tables.inc"
