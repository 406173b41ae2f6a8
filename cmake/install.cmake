# SPDX-License-Identifier: BSD-3-Clause
# `cmake --install`: static libraries, headers and CMake packages, in a relocatable tree.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# rushlight_install(<libraries>) installs the libraries with their headers and packages.
function(rushlight_install)
    set(include "${CMAKE_INSTALL_INCLUDEDIR}/rushlight")
    set(packages "${CMAKE_INSTALL_LIBDIR}/cmake")
    install(
        TARGETS rushlight_headers ${ARGN}
        EXPORT rushlight
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        INCLUDES DESTINATION "${include}"
    )
    install(
        EXPORT rushlight
        NAMESPACE rushlight::
        FILE rushlight-targets.cmake
        DESTINATION "${packages}/rushlight"
    )
    # The runner is a program, so its headers are not installed.
    install(
        DIRECTORY "${PROJECT_SOURCE_DIR}/runtime"
        DESTINATION "${include}"
        FILES_MATCHING
        PATTERN "*.h"
        PATTERN "runner" EXCLUDE
    )
    install(
        FILES
            "${PROJECT_BINARY_DIR}/generated/runtime/program/arena_parts.h"
            "${PROJECT_BINARY_DIR}/generated/runtime/program/schema_tables.h"
        DESTINATION "${include}/runtime/program"
    )
    install(
        FILES "${PROJECT_SOURCE_DIR}/backends/rewrite/rewriter.h"
        DESTINATION "${include}/backends/rewrite"
    )
    rushlight_install_sources("${CMAKE_INSTALL_DATADIR}/rushlight")
    install(
        FILES "${PROJECT_SOURCE_DIR}/cmake/embed_model.cmake" "${PROJECT_SOURCE_DIR}/cmake/watch.cmake"
        DESTINATION "${packages}/rushlight"
    )
    rushlight_install_package(rushlight "${PROJECT_VERSION}" SameMinorVersion)
    if(TARGET executorch_compat)
        install(
            DIRECTORY "${PROJECT_SOURCE_DIR}/compat"
            DESTINATION "${include}"
            FILES_MATCHING
            PATTERN "*.h"
            PATTERN "src" EXCLUDE
        )
        install(
            DIRECTORY "${PROJECT_BINARY_DIR}/generated/dtypes/" "${PROJECT_BINARY_DIR}/generated/official/"
            DESTINATION "${include}/compat/generated"
            FILES_MATCHING
            PATTERN "*.h"
        )
        install(FILES cmake/official_targets.cmake DESTINATION "${packages}/executorch")
        rushlight_install_package(executorch "1.5.1" SameMajorVersion)
    endif()
endfunction()

# Installs kernels and the code generator, for libraries with a project's own selection of operators
# (gen_operators_lib).
function(rushlight_install_sources folder)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/kernels" DESTINATION "${folder}" PATTERN "__pycache__" EXCLUDE)
    install(
        FILES
            cmake/custom_ops_aot.cmake
            cmake/official_helpers.cmake
            cmake/operator_libraries.cmake
            cmake/option_table.cmake
            cmake/options.json
            cmake/probe.cmake
            cmake/selection.cmake
            cmake/ukernel.cmake
            cmake/watch.cmake
        DESTINATION "${folder}/cmake"
    )
    install(FILES compat/torch/aot_kernels.cpp DESTINATION "${folder}/compat/torch")
    install(FILES aten/convert.cpp aten/convert.h DESTINATION "${folder}/aten")
    rushlight_python_folder("${PROJECT_SOURCE_DIR}" python)
    foreach(
        file
        IN
        ITEMS __init__ documents errors files printable sources
    )
        install(FILES "${python}/rushlight/${file}.py" DESTINATION "${folder}/python/rushlight")
    endforeach()
    install(
        DIRECTORY "${python}/rushlight/codegen" "${python}/rushlight/program"
        DESTINATION "${folder}/python/rushlight"
        FILES_MATCHING
        PATTERN "*.py"
        PATTERN "__pycache__" EXCLUDE
    )
endfunction()

# Installs a package's config file and version file.
function(rushlight_install_package name version compatibility)
    set(folder "${PROJECT_BINARY_DIR}/packages")
    set(destination "${CMAKE_INSTALL_LIBDIR}/cmake/${name}")
    configure_package_config_file(
        "${PROJECT_SOURCE_DIR}/cmake/${name}-config.cmake.in"
        "${folder}/${name}-config.cmake"
        INSTALL_DESTINATION "${destination}"
        NO_SET_AND_CHECK_MACRO
    )
    write_basic_package_version_file(
        "${folder}/${name}-config-version.cmake"
        VERSION "${version}"
        COMPATIBILITY ${compatibility}
    )
    install(
        FILES "${folder}/${name}-config.cmake" "${folder}/${name}-config-version.cmake"
        DESTINATION "${destination}"
    )
endfunction()
