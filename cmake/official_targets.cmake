# SPDX-License-Identifier: BSD-3-Clause
# ExecuTorch's CMake target names, for a build that includes this one and for an installed package.

# rushlight_official_targets(<target>): every name is another one for the target, as one library here is
# many there.
function(rushlight_official_targets library)
    foreach(
        name
        IN
        ITEMS
            executorch
            executorch_core
            executorch_no_prim_ops
            portable_kernels
            portable_ops_lib
            extension_data_loader
            extension_flat_tensor
            extension_memory_allocator
            extension_module
            extension_module_static
            extension_named_data_map
            extension_tensor
            extension_threadpool
            etdump
            executorch::runtime
            executorch::etdump
            executorch::extensions
            executorch::kernels
            executorch::threadpool
    )
        if(NOT TARGET ${name})
            add_library(${name} ALIAS ${library})
        endif()
    endforeach()
endfunction()
