"""The Java rules that Bazel 4 has built in, under the names its own tools load them by."""

java_library = native.java_library
java_binary = native.java_binary
java_import = native.java_import
java_test = native.java_test
java_runtime = native.java_runtime
java_toolchain = native.java_toolchain
java_package_configuration = native.java_package_configuration
java_runtime_suite = native.java_runtime_suite if hasattr(native, "java_runtime_suite") else None
