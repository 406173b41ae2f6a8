// SPDX-License-Identifier: BSD-3-Clause
// The version of ExecuTorch whose API these headers provide. It is not rushlight's version.
#pragma once

#define ET_VERSION_MAJOR 1
#define ET_VERSION_MINOR 5
#define ET_VERSION_PATCH 1
#define ET_VERSION "1.5.1"

// Versions as integers that compare in the same order, for minor and patch below 256: #if ET_VERSION_CODE >=
// ET_VERSION_CHECK(1, 5, 0)
#define ET_VERSION_CHECK(major, minor, patch) (((major) << 16) | ((minor) << 8) | (patch))
#define ET_VERSION_CODE ET_VERSION_CHECK(ET_VERSION_MAJOR, ET_VERSION_MINOR, ET_VERSION_PATCH)
