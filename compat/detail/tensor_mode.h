// SPDX-License-Identifier: BSD-3-Clause
// The two modes of the API: the names of executorch::aten stand for rushlight's tensors, or, with
// USE_ATEN_LIB, for PyTorch's (ATen mode). Classes and functions on tensors exist once for each mode, in
// different namespaces, so that a process can link both:
//
//   namespace executorch::ET_RUNTIME_NAMESPACE {               // runtime, runtime::aten: as in ExecuTorch
//   namespace executorch::extension RUSHLIGHT_TENSOR_MODE {    // extension in both: the rest
//
// Both modes share the classes without tensors, such as Error, Span and the loaders.
#pragma once

// Code may not define ET_RUNTIME_NAMESPACE differently: the libraries are compiled with these.
#ifdef USE_ATEN_LIB
#ifndef ET_RUNTIME_NAMESPACE
#define ET_RUNTIME_NAMESPACE runtime::aten
#endif
#define RUSHLIGHT_TENSOR_MODE ::inline aten_mode
namespace executorch::runtime::aten {
// Qualified names find the shared classes, too.
using namespace ::executorch::runtime;
}  // namespace executorch::runtime::aten
#else
#ifndef ET_RUNTIME_NAMESPACE
#define ET_RUNTIME_NAMESPACE runtime
#endif
#define RUSHLIGHT_TENSOR_MODE
#endif
