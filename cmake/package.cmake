# What other projects get, by find_package(partwise COMPONENTS ...) from an install prefix or by add_subdirectory:
#   layer    partwise::layer    partwise/interpretable.h
#   metrics  partwise::measure  partwise/measure.h
#   program  partwise::program  the executable
#   partwise::partwise is both libraries. They show the headers in include/ alone; rooms are linked, not seen.
function(partwise_public_library name room)
  add_library(partwise_public_${name} INTERFACE)
  add_library(partwise::${name} ALIAS partwise_public_${name})
  set_target_properties(partwise_public_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(partwise_public_${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(partwise_public_${name} INTERFACE cxx_std_17)
  target_link_libraries(partwise_public_${name} INTERFACE $<LINK_ONLY:partwise::${room}> partwise_torch)
endfunction()
partwise_public_library(layer parts)
partwise_public_library(measure tensor_metrics)
add_library(partwise_partwise INTERFACE)
add_library(partwise::partwise ALIAS partwise_partwise)
target_link_libraries(partwise_partwise INTERFACE partwise::layer partwise::measure)

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/partwise)
install(DIRECTORY include/partwise DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS partwise_torch partwise_base partwise_kernels partwise_tensors partwise_parts partwise_public_layer EXPORT partwise-layer)
install(EXPORT partwise-layer NAMESPACE partwise:: DESTINATION ${package})
install(TARGETS partwise_formats partwise_metrics partwise_tensor_metrics partwise_public_measure EXPORT partwise-metrics)
install(EXPORT partwise-metrics NAMESPACE partwise:: DESTINATION ${package})
if(PARTWISE_PROGRAM)
  install(TARGETS partwise EXPORT partwise-program)
  install(TARGETS partwise_program RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/partwise)
  # Completion and manual, made from the options by the program itself.
  install(CODE "
    function(page words file)
      separate_arguments(words)
      get_filename_component(place \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/\${file}\" ABSOLUTE)
      get_filename_component(folder \"\${place}\" DIRECTORY)
      file(MAKE_DIRECTORY \"\${folder}\")
      execute_process(COMMAND \"$<TARGET_FILE:partwise_program>\" \${words} OUTPUT_FILE \"\${place}\" COMMAND_ERROR_IS_FATAL ANY)
      message(STATUS \"Installing: \${place}\")
    endfunction()
    page(manual ${CMAKE_INSTALL_MANDIR}/man1/partwise.1)
    page(\"completion bash\" ${CMAKE_INSTALL_DATADIR}/bash-completion/completions/partwise)
    page(\"completion zsh\" ${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_partwise)")
  install(EXPORT partwise-program NAMESPACE partwise:: DESTINATION ${package})
  install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/partwise)
endif()
configure_package_config_file(cmake/partwiseConfig.cmake.in partwiseConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(partwiseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/partwiseConfig.cmake ${PROJECT_BINARY_DIR}/partwiseConfigVersion.cmake
  DESTINATION ${package})
