# SPDX-License-Identifier: BSD-3-Clause
# Adds backends to the build: each is a folder whose CMakeLists.txt calls rushlight_add_backend. Their rows
# form a constant table, rushlight::selected_backends, beside the operator table.

# rushlight_add_backend(<id> HEADER <header> OBJECT <object> SOURCES <files> [LIBRARIES <targets>]) adds a
# backend. `id` is its name in programs. `object` is a constexpr object of a class derived from
# rushlight::Backend, named relative to namespace rushlight and declared in `header`: a path relative to the
# caller's folder, or to an include folder of the build.
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

# Adds the folders of RUSHLIGHT_BACKENDS and, if EXECUTORCH_BUILD_XNNPACK is on, backends/xnnpack.
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
