"""openset_family(): the members of a family, which a oneof in a schema lists, and their factory."""

load(":cc.bzl", "openset_cc_library", "openset_cc_test")

def openset_family(name, schema, message, interface, returns, not_set, parameters = "", without = [], helpers = [], deps = [], test_deps = [], test_data = [], test_size = "small", torch = False):
    """Every NAME.cc of the package that is no helper is a member: it defines Make() for its message, and needs no header.

    NAME.h, written from the oneof of `message`, declares all Make(), and Make() of the message itself. The target NAME
    has all members, compiled at once; a member that is missing is an error of the linker, which names its message. Each
    member is a target too (for fingerprints.bzl), and NAME_test.cc its test, which links the family.

    Args:
      name: of the target and the header.
      schema: the target of the schema without its ending.
      message: with the oneof.
      interface: the target of what Make() returns, whose header has its name.
      returns: the type that Make() returns.
      not_set: what Make() does if no member is set.
      parameters: of Make(), after the message.
      without: members of the oneof that are made elsewhere; Make() does for them as if none were set.
      helpers: names of sources that are no members.
      deps: of all members.
      test_deps: of all tests.
      test_data: of all tests.
      test_size: of all tests.
      torch: whether they use LibTorch.
    """
    sources = native.glob(["*.cc"], exclude = ["*_test.cc", "*_benchmark.cc"] + [each + ".cc" for each in helpers])
    members = [source[:-len(".cc")] for source in sources]
    headers = native.glob([each + ".h" for each in members])
    package = native.package_name()
    schema, interface = [label if label.startswith("//") else "//%s:%s" % (package, label) for label in [schema, interface]]
    schema_path, interface_path = [label[2:].replace(":", "/") for label in [schema, interface]]
    native.genrule(
        name = name + "_source",
        srcs = [schema + ".proto"] + sources,
        outs = [name + ".h", name + ".cc"],
        cmd = "python3 $(location //tools/build_defs:family.py) $(OUTS) %s/%s.h %s.proto %s '%s' '%s' '%s' %s.h '%s' %s" % (
            package,
            name,
            schema_path,
            message,
            returns,
            parameters,
            not_set,
            interface_path,
            ",".join(without),
            " ".join(["%s/%s" % (package, source) for source in sources]),
        ),
        tools = ["//tools/build_defs:family.py"],
    )
    native.cc_library(
        name = name + "_h",
        hdrs = [name + ".h"],
        deps = [interface, schema + "_cc_proto"],
    )
    for each in members:
        openset_cc_library(
            name = each,
            srcs = [each + ".cc"],
            hdrs = native.glob([each + ".h"]),
            tags = ["manual"],
            torch = torch,
            deps = deps + [":%s_h" % name],
        )
        for test in native.glob([each + "_test.cc"]):
            openset_cc_test(
                name = each + "_test",
                size = test_size,
                srcs = [test],
                data = test_data,
                torch = torch,
                deps = [":" + name, ":%s_h" % name] + test_deps,
            )
    native.cc_library(name = name + "_apart", tags = ["manual"], deps = members)
    openset_cc_library(
        name = name,
        srcs = [name + ".cc"],
        hdrs = headers,
        textual_hdrs = sources,
        torch = torch,
        deps = deps + [":%s_h" % name],
    )
