# SPDX-License-Identifier: BSD-3-Clause
# ExecuTorch's CMake target names, for builds that include this tree and for the installed package.

set(rushlight_official_libraries
    executorch
    executorch_core
    executorch_no_prim_ops
    extension_data_loader
    extension_evalue_util
    extension_flat_tensor
    extension_memory_allocator
    extension_module
    extension_module_static
    extension_named_data_map
    extension_runner_util
    extension_tensor
    extension_threadpool
    etdump
    portable_kernels
)
set(rushlight_official_kernel_libraries
    executorch_kernels
    optimized_native_cpu_ops_lib
    optimized_ops_lib
    portable_ops_lib
    quantized_ops_lib
)

# rushlight_official_targets(<compat> <kernels>) defines the names as separate libraries rather than aliases:
# one library here corresponds to many there, and projects add properties to them. Names of kernel libraries
# also link the selected operators.
function(rushlight_official_targets compat kernels)
    foreach(name IN LISTS rushlight_official_libraries)
        rushlight_official_target(${name} ${compat})
    endforeach()
    foreach(name IN LISTS rushlight_official_kernel_libraries)
        rushlight_official_target(${name} ${compat} ${kernels})
    endforeach()
    foreach(
        name
        IN
        ITEMS runtime=executorch etdump extensions=executorch kernels=portable_ops_lib threadpool=executorch
    )
        string(REGEX MATCH "[a-z_]+$" target "${name}")
        string(REGEX MATCH "^[a-z_]+" alias "${name}")
        if(NOT TARGET executorch::${alias})
            add_library(executorch::${alias} ALIAS ${target})
        endif()
    endforeach()
endfunction()

# The same names with the suffix _aten, which ExecuTorch's builds give the libraries of ATen mode.
function(rushlight_official_aten_targets compat)
    foreach(name IN LISTS rushlight_official_libraries rushlight_official_kernel_libraries)
        rushlight_official_target(${name}_aten ${compat})
    endforeach()
endfunction()

function(rushlight_official_target name)
    if(NOT TARGET ${name})
        add_library(${name} INTERFACE IMPORTED GLOBAL)
        target_link_libraries(${name} INTERFACE ${ARGN})
    endif()
endfunction()
