# SPDX-License-Identifier: BSD-3-Clause
# Every option of the build, once. The EXECUTORCH_ ones mean what they mean in ExecuTorch, except that
# selections may be combined: what is built is their union.

# What is selected. Relative paths start at the source folder that cmake was called with.
set(EXECUTORCH_SELECT_OPS_LIST
    ""
    CACHE STRING
    "Operators to build, comma separated: aten::add.out,aten::mm.out"
)
set(EXECUTORCH_SELECT_OPS_YAML
    ""
    CACHE STRING
    "YAML files that list operators, separated by ; or ,; ON: those of RUSHLIGHT_KERNEL_LIBRARIES"
)
set(EXECUTORCH_SELECT_OPS_MODEL
    ""
    CACHE STRING
    "Program files (.pte, .bpte) whose operators to build, separated by ; or ,"
)
set(EXECUTORCH_SELECT_ALL_OPS
    ""
    CACHE STRING
    "Build every operator; left empty: ON if nothing else is selected. OFF alone: no operator"
)
option(
    EXECUTORCH_ENABLE_DTYPE_SELECTIVE_BUILD
    "Build operators that models ask for with the models' dtypes only"
    OFF
)
set(RUSHLIGHT_DTYPES
    ""
    CACHE STRING
    "Dtypes that operators are built with, separated by ; or , (float;int64;bool); those of models, where \
EXECUTORCH_ENABLE_DTYPE_SELECTIVE_BUILD takes them, come on top; left empty: all"
)
set(RUSHLIGHT_KERNEL_LIBRARIES
    ""
    CACHE STRING
    "Kernel libraries of your own, separated by ;: folders with a YAML file and sources"
)
set(RUSHLIGHT_LIBRARY_PRIORITY
    ""
    CACHE STRING
    "Kernel libraries, separated by ; or ,: of an operator, the first one's kernel is built. Left empty: your own, \
the last one first, then optimized, then the others"
)
set(RUSHLIGHT_PREFER "" CACHE STRING "Exceptions to that, separated by ; or ,: aten::add.out=portable")
set(RUSHLIGHT_BACKENDS
    ""
    CACHE STRING
    "Folders of backends to link, separated by ;: each calls rushlight_add_backend"
)

set(RUSHLIGHT_BAKED
    ""
    CACHE STRING
    "Folders that `rushlight bake` wrote, separated by ;: baked_runner is built for their programs"
)

# For which machine. toolchains/target.cmake has read both by now.
set(RUSHLIGHT_TARGET
    ""
    CACHE STRING
    "Row of toolchains/targets.json to build for, with CMAKE_TOOLCHAIN_FILE=toolchains/target.cmake"
)
set(RUSHLIGHT_COMPILER
    ""
    CACHE STRING
    "Compiler of the target: gcc, clang or zig; left empty: the first that its row has"
)
if((RUSHLIGHT_TARGET OR RUSHLIGHT_COMPILER) AND NOT RUSHLIGHT_CODE)
    message(
        FATAL_ERROR
        "RUSHLIGHT_TARGET, RUSHLIGHT_COMPILER: expected CMAKE_TOOLCHAIN_FILE=toolchains/target.cmake with them, \
got '${CMAKE_TOOLCHAIN_FILE}'"
    )
endif()

# What is built.
option(RUSHLIGHT_BUILD_RUNNER "Build executor_runner" ${PROJECT_IS_TOP_LEVEL})
option(RUSHLIGHT_BUILD_PYTHON "Build the Python module _runtime" OFF)
option(RUSHLIGHT_BUILD_TESTS "Build the C++ tests" OFF)
option(RUSHLIGHT_BUILD_BENCHMARKS "Build ukernel_bench, which times microkernels" OFF)
option(RUSHLIGHT_BUILD_FUZZERS "Build the fuzz targets, and everything else, with sanitizers" OFF)
# Another project that includes this one may be written against these names; so are tests.
set(rushlight_compat OFF)
if(RUSHLIGHT_BUILD_TESTS OR (NOT PROJECT_IS_TOP_LEVEL AND NOT RUSHLIGHT_BOARD))
    set(rushlight_compat ON)
endif()
option(RUSHLIGHT_BUILD_COMPAT "Build compat/, ExecuTorch's C++ API, for hosts" ${rushlight_compat})
# A wheel is installed in another way, and what backends link may not be made for it.
set(rushlight_install OFF)
if(PROJECT_IS_TOP_LEVEL AND NOT RUSHLIGHT_BUILD_PYTHON AND NOT RUSHLIGHT_BACKENDS)
    set(rushlight_install ON)
endif()
option(
    RUSHLIGHT_INSTALL
    "Let `cmake --install` put libraries, headers and CMake packages into place"
    ${rushlight_install}
)
# The Python package and the tests want it; what goes onto a device asks for it.
set(rushlight_event_tracer OFF)
if(RUSHLIGHT_BUILD_PYTHON OR RUSHLIGHT_BUILD_TESTS)
    set(rushlight_event_tracer ON)
endif()
option(
    EXECUTORCH_ENABLE_EVENT_TRACER
    "Tell an event tracer what runs; executor_runner can then write it to a file"
    ${rushlight_event_tracer}
)
option(
    RUSHLIGHT_CALL_GRAPH
    "Have the compiler write each function's stack and calls beside its object, for `rushlight size`"
    OFF
)
set(RUSHLIGHT_LOG_LEVEL
    ""
    CACHE STRING
    "Lowest level that is compiled in: debug, info, error or off; left empty: error"
)
option(
    RUSHLIGHT_FAILURE_TRACE
    "Without logs, leave numbers of failed checks that `rushlight decode` reads"
    ON
)
# What runs on boards is to be tested, and fuzzed, where that is quick.
set(rushlight_compact_methods OFF)
if(RUSHLIGHT_BUILD_TESTS OR RUSHLIGHT_BUILD_FUZZERS)
    set(rushlight_compact_methods ON)
endif()
# Boards have weights in flash, and no RAM for them a second time.
set(rushlight_prepare ON)
set(rushlight_small OFF)
# WebAssembly is small, too, unless the flags ask for its vectors.
if(RUSHLIGHT_BOARD OR (CMAKE_SYSTEM_PROCESSOR MATCHES "wasm" AND NOT CMAKE_CXX_FLAGS MATCHES "-msimd128"))
    set(rushlight_prepare OFF)
    set(rushlight_small ON)
endif()
# Tests compare both.
set(rushlight_list_portable OFF)
if(RUSHLIGHT_BUILD_TESTS AND RUSHLIGHT_BUILD_PYTHON)
    set(rushlight_list_portable ON)
endif()
option(
    RUSHLIGHT_LIST_PORTABLE
    "Also have the portable kernels behind optimized ones in the operator table, as portable/<operator>"
    ${rushlight_list_portable}
)
option(
    RUSHLIGHT_PREPARE_KERNELS
    "Have kernels pack constant weights when a method is loaded with memory for that"
    ${rushlight_prepare}
)
# A board runs one program, which its owner chose.
set(rushlight_limits ON)
if(RUSHLIGHT_BOARD)
    set(rushlight_limits OFF)
endif()
option(
    RUSHLIGHT_LIMITS
    "Have methods ask MethodOptions::interrupt whether to go on, and executor_runner take limits"
    ${rushlight_limits}
)
option(
    RUSHLIGHT_SMALL_KERNELS
    "Of optimized kernels take those for cores without wide vectors, where there are some"
    ${rushlight_small}
)
option(
    RUSHLIGHT_COMPACT_METHODS
    "Keep no constants in RAM on 64-bit machines either; 32-bit ones do not in any case"
    ${rushlight_compact_methods}
)
set(RUSHLIGHT_PLATFORM
    ""
    CACHE STRING
    "Folder of runtime/platform/ to build on; left empty: the target's own"
)
set(RUSHLIGHT_EMBED_MODEL "" CACHE FILEPATH "Program file (.pte or .bpte) to link into executor_runner")
set(RUSHLIGHT_EMBED_DATA
    ""
    CACHE STRING
    "Data files (.ptd) to link into executor_runner, separated by ; at most 8"
)
set(RUSHLIGHT_COMPILER_CACHE
    auto
    CACHE STRING
    "What compilers are started through: ccache, sccache, auto (the first of them that is found) or off"
)
# Boards have no code for what they are not given.
set(RUSHLIGHT_RUNNER_DATA_FILES
    ""
    CACHE STRING
    "Whether executor_runner takes data files; left empty: on Linux, and where some are linked in"
)
set(RUSHLIGHT_RUNNER_BUNDLED_PROGRAMS
    ""
    CACHE STRING
    "Whether executor_runner takes bundled programs; left empty: on Linux, and where one is linked in"
)
set(RUSHLIGHT_MEMORY_HEADER
    ""
    CACHE FILEPATH
    "What `rushlight size --header` wrote: executor_runner takes just that memory, and on a board that stack"
)
set_property(CACHE EXECUTORCH_SELECT_ALL_OPS PROPERTY STRINGS "" ON OFF)
set_property(
    CACHE RUSHLIGHT_COMPILER_CACHE
    PROPERTY STRINGS auto ccache sccache off
)
set_property(
    CACHE RUSHLIGHT_LOG_LEVEL
    PROPERTY STRINGS "" debug info error off
)

# Other spellings in use, of each generation of ExecuTorch's own; several are united.
foreach(
    rushlight_spelling
    IN
    ITEMS
        "SELECT_OPS_LIST=SELECT_OPS_LIST"
        "SELECT_OPS_YAML=SELECT_OPS_YAML"
        "EXECUTORCH_SELECT_OPS_FROM_MODEL=SELECT_OPS_MODEL"
        "SELECT_OPS_FROM_MODEL=SELECT_OPS_MODEL"
        "SELECT_OPS_MODEL=SELECT_OPS_MODEL"
)
    string(REGEX MATCH "^[^=]*" rushlight_other "${rushlight_spelling}")
    string(REGEX REPLACE "^[^=]*=" "EXECUTORCH_" rushlight_option "${rushlight_spelling}")
    if(DEFINED ${rushlight_other})
        list(APPEND ${rushlight_option} ${${rushlight_other}})
    endif()
endforeach()
# Projects declare them by option(): OFF, then, is nothing.
foreach(rushlight_option IN ITEMS LIST YAML MODEL)
    list(
        REMOVE_ITEM EXECUTORCH_SELECT_OPS_${rushlight_option}
        OFF
        Off
        off
        NO
        No
        no
        FALSE
        False
        false
        0
    )
endforeach()
if(EXECUTORCH_SELECT_OPS_YAML MATCHES "(^|;)(ON|On|on|TRUE|YES|1)(;|$)")
    list(
        REMOVE_ITEM EXECUTORCH_SELECT_OPS_YAML
        ON
        On
        on
        TRUE
        YES
        1
    )
    if(NOT RUSHLIGHT_KERNEL_LIBRARIES)
        message(
            FATAL_ERROR
            "EXECUTORCH_SELECT_OPS_YAML=ON: a path expected, or ON with RUSHLIGHT_KERNEL_LIBRARIES, whose operators \
it then selects"
        )
    endif()
    rushlight_library_files(rushlight_files)
    list(APPEND EXECUTORCH_SELECT_OPS_YAML ${rushlight_files})
endif()
if(EXECUTORCH_DTYPE_SELECTIVE_BUILD OR DTYPE_SELECTIVE_BUILD)
    set(EXECUTORCH_ENABLE_DTYPE_SELECTIVE_BUILD ON)
endif()
if(SELECT_ALL_OPS)
    set(EXECUTORCH_SELECT_ALL_OPS ON)
endif()
if(DEFINED PYTHON_EXECUTABLE AND NOT DEFINED Python_EXECUTABLE)
    set(Python_EXECUTABLE "${PYTHON_EXECUTABLE}")
endif()

if(EXECUTORCH_SELECT_ALL_OPS STREQUAL "")
    set(RUSHLIGHT_SELECT_ALL ON)
    foreach(selection IN ITEMS LIST YAML MODEL)
        if(NOT "${EXECUTORCH_SELECT_OPS_${selection}}" STREQUAL "")
            set(RUSHLIGHT_SELECT_ALL OFF)
        endif()
    endforeach()
else()
    set(RUSHLIGHT_SELECT_ALL "${EXECUTORCH_SELECT_ALL_OPS}")
endif()

# ExecuTorch's logging switch and level, where ours is not given.
set(rushlight_log_name "${RUSHLIGHT_LOG_LEVEL}")
if(rushlight_log_name STREQUAL "")
    if(DEFINED EXECUTORCH_ENABLE_LOGGING AND NOT EXECUTORCH_ENABLE_LOGGING)
        set(rushlight_log_name off)
    elseif(DEFINED EXECUTORCH_LOG_LEVEL)
        set(rushlight_log_name "${EXECUTORCH_LOG_LEVEL}")
    elseif(EXECUTORCH_ENABLE_LOGGING)
        set(rushlight_log_name info)
    else()
        set(rushlight_log_name error)
    endif()
endif()
string(TOLOWER "${rushlight_log_name}" rushlight_log_name)
if(rushlight_log_name STREQUAL "fatal") # an abort speaks for itself
    set(rushlight_log_name off)
endif()
set(rushlight_log_names debug info error off)
# For the compile definition RUSHLIGHT_LOG_LEVEL, see runtime/base/log.h.
list(FIND rushlight_log_names "${rushlight_log_name}" RUSHLIGHT_LOG_LEVEL_NUMBER)
if(RUSHLIGHT_LOG_LEVEL_NUMBER EQUAL -1)
    message(
        FATAL_ERROR
        "RUSHLIGHT_LOG_LEVEL: one of debug, info, error, off expected, found '${rushlight_log_name}'"
    )
endif()

if(RUSHLIGHT_RUNNER_DATA_FILES STREQUAL "" AND (RUSHLIGHT_EMBED_DATA OR NOT RUSHLIGHT_BOARD))
    set(RUSHLIGHT_RUNNER_DATA_FILES ON)
endif()
if(
    RUSHLIGHT_RUNNER_BUNDLED_PROGRAMS STREQUAL ""
    AND (RUSHLIGHT_EMBED_MODEL MATCHES "\\.bpte$" OR NOT RUSHLIGHT_BOARD)
)
    set(RUSHLIGHT_RUNNER_BUNDLED_PROGRAMS ON)
endif()
