"""cuda_library(): CUDA kernels in a shared library, which only wheels and --config=cuda need."""

# Code for each GPU that CUDA 13 and LibTorch 2.11 support; later GPUs compile the last one's PTX when they load it.
_ARCHITECTURES = ["75", "80", "86", "90", "100", "120"]

def cuda_library(name, srcs, hdrs, included, deps):
    """Headers of kernels, and with --config=cuda the shared library lib<name>.so with them among the data.

    A program looks for the library when it needs it, and takes CUDA's runtime from LibTorch, which has loaded it.
    Rounds each product and sum as the CPU does (-fmad=false).

    Args:
        name: of the library
        srcs: one .cu file
        hdrs: its public headers
        included: headers of other targets in the package that it includes, all without LibTorch
        deps: these targets
    """
    code = ["-gencode arch=compute_%s,code=sm_%s" % (a, a) for a in _ARCHITECTURES]
    code.append("-gencode arch=compute_%s,code=compute_%s" % (_ARCHITECTURES[-1], _ARCHITECTURES[-1]))
    native.genrule(
        name = name + "_compiled",
        srcs = srcs + hdrs + included,
        outs = ["lib%s.so" % name],
        # nvcc looks for its parts next to itself; the archive's files may have lost their modes.
        cmd = " ".join([
            "cp -rL external/nvcc/nvidia/cu13 $(RULEDIR)/nvcc && chmod -R u+rwx $(RULEDIR)/nvcc &&",
            "$(RULEDIR)/nvcc/bin/nvcc -std=c++17 -O3 -fmad=false -I.",
        ] + code + [
            "-Xcompiler -fPIC,-Wall,-Wextra -Werror all-warnings -shared -cudart none $(location %s) -o $@ &&" % srcs[0],
            "rm -r $(RULEDIR)/nvcc",
        ]),
        message = "Compiling CUDA kernels of",
        tags = ["manual"],
        tools = ["@nvcc//:files"],
    )
    native.cc_library(
        name = name,
        hdrs = hdrs,
        textual_hdrs = srcs,  # tests run them on the CPU
        data = select({
            "//third_party:cuda": [":%s_compiled" % name],
            "//conditions:default": [],
        }),
        deps = deps,
    )
