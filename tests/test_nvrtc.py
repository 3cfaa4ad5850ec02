"""NVRTC compiles every kernel for old and new architectures, with no card and no driver."""

import importlib.util

import pytest
from emulator_support import PLANTED
from needs import need

from rapids_tc.kernels import _nvrtc, _source
from rapids_tc.kernels.catalogue import METHODS

OLDEST, NEWER = 75, (80, 90, 100, 120)
VISITORS = {"total": ("Total",), "edges": ("EdgeCounts", "InEdgeCounts")}
QUICK = "--Ofast-compile=max"  # a third of the time: nobody runs what is compiled here
REDUCE = 80  # the first architecture with __reduce_*_sync, which language.cu shows

# The sources as they are compiled: of each method for its visitors, the others once.
OPTIONS = {
    f"{method.source}-{visitor}": (method.source, (f"-DRTC_VISIT={visitor}",))
    for method in METHODS
    for returned in method.returns
    for visitor in VISITORS[returned]
}
OPTIONS |= {
    f"{method.source}-{visitor}-blocks": (method.source, (f"-DRTC_VISIT={visitor}", "-DRTC_BLOCKS"))
    for method in METHODS
    if method.blocks
    for visitor in ("Total", "EdgeCounts")
}
OPTIONS |= {
    f"bitmap.cu-{visitor}-hubs": ("bitmap.cu", (f"-DRTC_VISIT={visitor}", "-DRTC_HUBS=2048"))
    for visitor in ("Total", "EdgeCounts")
}
SPANS = ("SpanWords<u32>", "SpanWords<u64>", "SpanIntervals")
KINDS = (*SPANS[1:], "Codes", "CodedIntervals")
ANY = ("AnyTriangle", *KINDS)
TRIANGLES = (
    *("PairSums", "ThirdSums", "SideSums", "SideProducts", "TypeCounts"),
    *(f"{name}<{kind}>" for name in ("JoinTriangles", "LevelCounts") for kind in ANY),
    *(f"WindowChanges<{spans}>" for spans in SPANS),
    *(f"{name}<{kind}>" for name in ("SpanEdgeCounts", "ArcCounts") for kind in KINDS),
)
OPTIONS |= {f"bitmap.cu-{name}": ("bitmap.cu", (f"-DRTC_VISIT={name}",)) for name in TRIANGLES}
OPTIONS |= {
    f"bitmap.cu-{name}-blocks": ("bitmap.cu", (f"-DRTC_VISIT={name}", "-DRTC_BLOCKS"))
    for name in TRIANGLES
    if "JoinTriangles" not in name and "Words" not in name
}
OTHERS = {path.name for path in _source.FOLDER.glob("*.cu")} - {m.source for m in METHODS}
COMPILED_FOR = {  # the macro that says what for, and its values
    "wedges.cu": ("RTC_SQUARES", ("OfGraph", "OfVertices", "OfEntries<u32>", "OfEntries<u64>")),
    "wedge_ends.cu": ("RTC_SEARCH", ("Similar<u32>", "Similar<u64>", "CommonPairs")),
    "kind_test.cu": ("RTC_KIND", KINDS),
}
OPTIONS |= {name: (name, ()) for name in sorted(OTHERS - COMPILED_FOR.keys())}
OPTIONS |= {f"truss.cu-{kind}": ("truss.cu", (f"-DRTC_KIND={kind}",)) for kind in KINDS}
OPTIONS |= {
    f"{file}-{name}": (file, (f"-D{macro}={name}",))
    for file, (macro, names) in COMPILED_FOR.items()
    for name in names
}


def architectures(number, name, file):
    """One in turn; if the file asks which it is, the oldest, and a newer one in turn.

    Visitors of triangles do not ask: they are compiled into a kernel that is among the others.
    """
    text = (_source.FOLDER / file).read_text()
    asks = "__CUDA_ARCH__" in text or "kResident" in text
    if asks and not name.startswith(tuple(f"bitmap.cu-{visitor}" for visitor in TRIANGLES)):
        return OLDEST, NEWER[number % 4]
    return ((OLDEST, *NEWER)[number % 5],)


COMPILED = {
    f"{name}-{architecture}": (file, options, architecture)
    for number, (name, (file, options)) in enumerate(OPTIONS.items())
    for architecture in architectures(number, name, file)
}


@pytest.fixture(scope="module")
def nvrtc():
    """The bindings, once their library is there."""
    found = importlib.util.find_spec("cuda") and importlib.util.find_spec("cuda.bindings")
    need(found is not None, "cuda-bindings, to compile kernels for cards")
    from cuda.bindings import nvrtc

    try:
        nvrtc.nvrtcVersion()
    except RuntimeError as error:
        need(False, f"nvidia-cuda-nvrtc, to compile kernels for cards: {error}")
    return nvrtc


def compile_for(nvrtc, architecture, source, options=(), names=()):
    """The binary of a source, and the names in it of kernels with template arguments."""

    def asked(function, *args):
        error, *answer = function(*args)
        if error != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            _, size = nvrtc.nvrtcGetProgramLogSize(program)
            log = bytearray(size)
            nvrtc.nvrtcGetProgramLog(program, log)
            pytest.fail(f"sm_{architecture}: {error}\n{log.decode()}")
        return answer[0] if answer else None

    _, program = nvrtc.nvrtcCreateProgram(source.encode(), b"source.cu", 0, [], [])
    for name in names:
        asked(nvrtc.nvrtcAddNameExpression, program, name.encode())
    given = [f"--gpu-architecture=sm_{architecture}", QUICK, *_nvrtc.OPTIONS, *options]
    asked(nvrtc.nvrtcCompileProgram, program, len(given), [option.encode() for option in given])
    binary = bytearray(asked(nvrtc.nvrtcGetCUBINSize, program))
    asked(nvrtc.nvrtcGetCUBIN, program, binary)
    log = bytearray(asked(nvrtc.nvrtcGetProgramLogSize, program))
    asked(nvrtc.nvrtcGetProgramLog, program, log)
    warnings = [line for line in log.decode().splitlines() if "warning" in line]
    # Turing's multiprocessors hold 1,024 threads: a launch bound that wants more is ignored.
    assert all("minnctapersm" in line and architecture == 75 for line in warnings), warnings
    lowered = [asked(nvrtc.nvrtcGetLoweredName, program, name.encode()) for name in names]
    nvrtc.nvrtcDestroyProgram(program)
    return bytes(binary), lowered


@pytest.mark.parametrize("file, options, architecture", COMPILED.values(), ids=COMPILED)
def test_kernels_compile(nvrtc, file, options, architecture):
    binary, _ = compile_for(nvrtc, architecture, _source.read(file), options)
    for method in METHODS:
        for launch in method.launches if method.source == file else ():
            assert launch.kernel.encode() in binary


@pytest.mark.parametrize("path", sorted(PLANTED.glob("*.cu")), ids=lambda path: path.stem)
def test_what_the_emulator_runs_is_cuda(nvrtc, path):
    source = _source.read(path)
    planted = "template <bool" in path.read_text()
    templates = [f"{path.stem}<true>", f"{path.stem}<false>"] if planted else []
    binary, lowered = compile_for(nvrtc, REDUCE, source, names=templates)
    assert all(name in binary for name in lowered)


def test_messages_name_the_file_and_line(nvrtc):
    with pytest.raises(pytest.fail.Exception, match=r"language\.cu\(\d+\): error.*\n.*wrong"):
        compile_for(nvrtc, 80, _source.read(PLANTED / "language.cu") + "wrong")
