# SPDX-License-Identifier: BSD-3-Clause
# Backends of the build: each is a folder whose CMakeLists.txt calls rushlight_add_backend. They get into a
# constant table, rushlight::selected_backends, beside the operators.

# rushlight_add_backend(<id> HEADER <header> OBJECT <object> SOURCES <files> [LIBRARIES <targets>])
# `id` is what programs call it, `object` a constexpr object of a class derived from rushlight::Backend,
# named from namespace rushlight and declared in `header`: a path from the caller's folder, or one that an include
# folder of the build has.
function(rushlight_add_backend id)
    cmake_parse_arguments(PARSE_ARGV 1 backend "" "HEADER;OBJECT" "SOURCES;LIBRARIES")
    foreach(word HEADER OBJECT SOURCES)
        if(NOT backend_${word} OR backend_UNPARSED_ARGUMENTS)
            message(
                FATAL_ERROR
                "rushlight_add_backend(${id}): expected HEADER, OBJECT and SOURCES, got '${ARGN}'"
            )
        endif()
    endforeach()
    get_filename_component(header "${backend_HEADER}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    if(NOT EXISTS "${header}")
        set(header "${backend_HEADER}")
    endif()
    set(library "rushlight_backend_${id}")
    rushlight_add_library(${library} SOURCES ${backend_SOURCES} PUBLIC rushlight_headers ${backend_LIBRARIES})
    set_target_properties(${library} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    set_property(
        GLOBAL
        APPEND
        PROPERTY RUSHLIGHT_BACKEND_ARGUMENTS --backend "${id}" "${header}" "${backend_OBJECT}"
    )
    set_property(GLOBAL APPEND PROPERTY RUSHLIGHT_BACKEND_LIBRARIES ${library})
endfunction()

# Adds the folders of RUSHLIGHT_BACKENDS, and the backend of this tree if EXECUTORCH_BUILD_XNNPACK is on.
function(rushlight_add_backends)
    if(EXECUTORCH_BUILD_XNNPACK)
        add_subdirectory("${PROJECT_SOURCE_DIR}/backends/xnnpack" "${PROJECT_BINARY_DIR}/backends/xnnpack")
    endif()
    rushlight_selection_files("${RUSHLIGHT_BACKENDS}" folders)
    foreach(source IN LISTS folders)
        get_filename_component(name "${source}" NAME)
        add_subdirectory("${source}" "${PROJECT_BINARY_DIR}/backends/${name}")
    endforeach()
endfunction()
