# SPDX-License-Identifier: BSD-3-Clause
# gen_custom_ops_aot_lib(LIB_NAME lib KERNEL_SOURCES files) builds a shared library for
# torch.ops.load_library. It registers the selected operators of the library's YAML files (gen_selected_ops,
# generate_bindings_for_kernels) with their kernels, and everything that the sources register themselves
# through PyTorch's headers.

function(gen_custom_ops_aot_lib)
    cmake_parse_arguments(PARSE_ARGV 0 given "" "" "LIB_NAME;KERNEL_SOURCES")
    if(NOT given_LIB_NAME)
        set(given_LIB_NAME "${ARGV0}")
        set(given_KERNEL_SOURCES "${ARGV1}")
    endif()
    # A quoted list arrives as one argument.
    string(REPLACE "\\;" ";" given_KERNEL_SOURCES "${given_KERNEL_SOURCES}")
    set(library "${given_LIB_NAME}")
    set(out "${CMAKE_CURRENT_BINARY_DIR}/${library}")
    rushlight_bound_kernels("${library}" bound)
    rushlight_selected_for("${library}" "" "" selected)
    rushlight_generate("${out}" --name "${library}" ${selected} ${bound})

    # Sources that include PyTorch's headers are compiled with those, kernels with ExecuTorch's.
    set(torch_sources "")
    set(kernel_sources "")
    foreach(source IN LISTS given_KERNEL_SOURCES)
        get_filename_component(source "${source}" ABSOLUTE)
        file(STRINGS "${source}" includes REGEX "^#include <(torch|ATen)/")
        if(includes)
            list(APPEND torch_sources "${source}")
        else()
            list(APPEND kernel_sources "${source}")
        endif()
    endforeach()
    set(RUSHLIGHT_OFFICIAL_KERNEL_SOURCES ${kernel_sources})
    rushlight_add_kernels(${library}_kernels "${out}" NAMESPACE kernels_of_${library})
    target_link_libraries(${library}_kernels PUBLIC rushlight::module PRIVATE rushlight::platform)

    get_filename_component(root "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.." ABSOLUTE)
    add_library(
        ${library}
        SHARED
        "${root}/compat/torch/aot_kernels.cpp"
        "${root}/aten/convert.cpp"
        ${torch_sources}
    )
    find_package_torch()
    target_compile_features(${library} PRIVATE cxx_std_20)
    target_compile_options(${library} PRIVATE -frtti -fexceptions)
    target_compile_definitions(${library} PRIVATE "RUSHLIGHT_AOT_ENTRIES=entries_of_${library}")
    target_include_directories(${library} PRIVATE "${out}")
    target_include_directories(${library} SYSTEM PRIVATE ${TORCH_INCLUDE_DIRS})
    target_link_libraries(${library} PRIVATE ${library}_kernels ${TORCH_LIBRARIES})
endfunction()

# Sets TORCH_INCLUDE_DIRS and TORCH_LIBRARIES for the PyTorch that Python would import. Its own CMake package
# also looks for libraries that its wheel does not use here, such as MKL and protobuf.
function(find_package_torch)
    rushlight_run_generator(
        folder
        -c
        "import importlib.util\;spec = importlib.util.find_spec('torch')\;print(spec.submodule_search_locations[0] if spec else '')"
    )
    if(NOT EXISTS "${folder}/lib/libtorch_cpu.so")
        message(
            FATAL_ERROR
            "torch: expected a wheel with C++ libraries for ${Python_EXECUTABLE}, got '${folder}'; run pip install \
torch, or set Python_EXECUTABLE to a Python that has it"
        )
    endif()
    set(TORCH_INCLUDE_DIRS "${folder}/include" "${folder}/include/torch/csrc/api/include" PARENT_SCOPE)
    set(found "")
    foreach(name IN ITEMS torch torch_cpu c10)
        list(APPEND found "${folder}/lib/lib${name}.so")
    endforeach()
    set(TORCH_LIBRARIES "${found}" PARENT_SCOPE)
endfunction()
