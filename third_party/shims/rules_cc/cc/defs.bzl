"""The C++ rules that Bazel 4 has built in, under the names its own tools load them by."""

cc_library = native.cc_library
cc_binary = native.cc_binary
cc_test = native.cc_test
cc_import = native.cc_import
cc_proto_library = native.cc_proto_library
cc_libc_top_alias = native.cc_libc_top_alias
cc_toolchain = native.cc_toolchain
cc_toolchain_suite = native.cc_toolchain_suite
cc_toolchain_alias = native.cc_toolchain_alias
