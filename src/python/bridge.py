"""The Python side of vramkit/python: runs source text, converts values, hands arrays over.

JavaScript calls exchange() with a request and gets a reply, both JSON. Whatever other threads let go
of waits in a queue that JavaScript empties, so that no thread of Python's waits for JavaScript.
"""

import collections
import ctypes
import io
import itertools
import json
import linecache
import math
import sys
import traceback

import __main__

__name__ = "vramkit"

MOST_SAFE = 2**53 - 1
LEGACY_STREAM = 1
CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
READ_ONLY, IS_COPIED = 1, 2

# What the names of element types are to the buffer protocol, numpy and DLPack.
CODES = {
    "bool": ("?", "|b1", 6, 8),
    "int8": ("b", "|i1", 0, 8),
    "int16": ("h", "<i2", 0, 16),
    "int32": ("i", "<i4", 0, 32),
    "int64": ("q", "<i8", 0, 64),
    "uint8": ("B", "|u1", 1, 8),
    "uint16": ("H", "<u2", 1, 16),
    "uint32": ("I", "<u4", 1, 32),
    "uint64": ("Q", "<u8", 1, 64),
    "float16": ("e", "<f2", 2, 16),
    "float32": ("f", "<f4", 2, 32),
    "float64": ("d", "<f8", 2, 64),
    "complex64": (None, "<c8", 5, 64),
    "bfloat16": (None, None, 4, 16),
    "float8_e4m3fn": (None, None, 10, 8),
    "float8_e4m3fnuz": (None, None, 11, 8),
    "float8_e5m2": (None, None, 12, 8),
    "float8_e5m2fnuz": (None, None, 13, 8),
    "float8_e8m0fnu": (None, None, 14, 8),
    "float6_e2m3fn": (None, None, 15, 6),
    "float6_e3m2fn": (None, None, 16, 6),
    "float4_e2m1fn": (None, None, 17, 4),
}
BY_FORMAT = {code[0]: name for name, code in CODES.items() if code[0]}
BY_FORMAT.update({"l": "int64", "L": "uint64", "c": "uint8"})
BY_TYPESTR = {code[1]: name for name, code in CODES.items() if code[1]}


class Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class ManagedVersioned(ctypes.Structure):
    _fields_ = [
        ("version", Version),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


# Structs that a library holds or could still take, by address.
in_use = {}
# Their memory, some time longer: a thread may still be in the deleter.
retired = collections.deque(maxlen=64)
# Numbers of arrays that a request made, so that JavaScript lets go of the others when it failed.
made = []
# Numbers of arrays that Python let go of, and how many there were, where JavaScript sees it.
released = collections.deque()
release_count = None
# A function of the C library that clears the start of a struct: it needs no lock and runs no Python,
# so it may be called on any thread, and while an error is on its way.
deleter = 0

capsule_api = ctypes.pythonapi
capsule_api.PyCapsule_New.restype = ctypes.py_object
capsule_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
capsule_api.PyCapsule_IsValid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
capsule_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
capsule_api.PyCapsule_GetPointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
capsule_api.PyCapsule_SetName.argtypes = [ctypes.c_void_p, ctypes.c_char_p]

# Capsules keep a pointer to their name, so the names live as long as the process.
NAMES = {True: b"dltensor_versioned", False: b"dltensor"}
USED_NAMES = {True: b"used_dltensor_versioned", False: b"used_dltensor"}


class Offer:
    """A struct of DLPack's, what it needs, and the capsule as long as nobody has taken it."""

    def __init__(self, owner, data, device, dtype, shape, strides, flags, versioned):
        _, _, code, bits = CODES[dtype]
        # Two elements of 4 bits are one of PyTorch's float4_e2m1fn_x2.
        lanes = 2 if bits == 4 and shape and shape[-1] % 2 == 0 else 1
        if lanes == 2:
            shape = (*shape[:-1], shape[-1] // 2)
            strides = (*(stride // 2 for stride in strides[:-1]), 1)
        self.owner = owner
        self.versioned = versioned
        self.tables = (ctypes.c_int64 * max(2 * len(shape), 1))(*shape, *strides)
        table = ctypes.addressof(self.tables)
        kind = ManagedVersioned if versioned else Managed
        # The deleter clears 128 bytes at most.
        self.memory = ctypes.create_string_buffer(ctypes.sizeof(kind) + 128)
        self.address = ctypes.addressof(self.memory)
        struct = kind.from_buffer(self.memory)
        # The struct must not begin with zero, and without a version it begins with this address.
        start = data if versioned or data else self.address
        struct.tensor = Tensor(
            start, *device, len(shape), code, bits, lanes, table, table + 8 * len(shape), 0
        )
        struct.deleter = deleter
        if versioned:
            struct.version = Version(1, 2)
            struct.flags = flags
        self.first_word = ctypes.c_uint64.from_buffer(self.memory)
        self.capsule = capsule_api.PyCapsule_New(self.address, NAMES[versioned], None)
        in_use[self.address] = self

    def is_over(self):
        """Whether the deleter was called, or nobody can take the struct any more."""
        if self.first_word.value == 0:
            return True
        if self.capsule is None:
            return False
        if capsule_api.PyCapsule_IsValid(id(self.capsule), USED_NAMES[self.versioned]):
            self.capsule = None
            return False
        return sys.getrefcount(self.capsule) <= 2


def sweep():
    """Lets go of what the structs kept that are over."""
    for address, offer in list(in_use.items()):
        if offer.is_over():
            retired.append((offer.memory, offer.tables))
            in_use.pop(address, None)


def order_streams(device, earlier, later):
    """Makes one stream wait for all that another has queued; both by their handles."""
    if earlier == later:
        return
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name, *args):
        status = getattr(cuda, name)(*args)
        if status != 0:
            raise BufferError(f"cannot order two streams: {name} failed with status {status}")

    context, event = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    try:
        call("cuCtxPushCurrent_v2", context)
        try:
            call("cuEventCreate", ctypes.byref(event), 2)  # CU_EVENT_DISABLE_TIMING
            try:
                call("cuEventRecord", event, ctypes.c_void_p(earlier))
                call("cuStreamWaitEvent", ctypes.c_void_p(later), event, 0)
            finally:
                call("cuEventDestroy_v2", event)
        finally:
            call("cuCtxPopCurrent_v2", ctypes.byref(context))
    finally:
        call("cuDevicePrimaryCtxRelease_v2", device)


def copy_of(data, dtype, shape, strides):
    """Copies the bytes of an array in the host's memory, and returns them with the first element's address."""
    if 0 in shape:
        return None, 0
    bits = CODES[dtype][3]
    steps = [(count - 1) * stride for count, stride in zip(shape, strides)]
    lowest, highest = (sum(pick(0, step) for step in steps) for pick in (min, max))
    memory = ctypes.create_string_buffer((highest - lowest + 1) * bits // 8)
    ctypes.memmove(memory, data + lowest * bits // 8, len(memory))
    return memory, ctypes.addressof(memory) - lowest * bits // 8


class Array:
    """An array of JavaScript's, used where it lies: numpy, CuPy and PyTorch take it without a copy."""

    def __init__(self, facts):
        self._number = facts["number"]
        self._facts = facts
        self.shape = tuple(facts["shape"])
        self.dtype = facts["dtype"]
        made.append(self._number)

    def __del__(self):
        released.append(self._number)
        release_count.value += 1

    def __repr__(self):
        return f"<vramkit array {self.dtype}{list(self.shape)} on {self._facts['place']}>"

    def _interface(self, data):
        facts = self._facts
        typestr = CODES[self.dtype][1]
        if typestr is None:
            raise AttributeError(f"it has no {self.dtype}; use DLPack")
        size = int(typestr[2:])
        return {
            "shape": self.shape,
            "typestr": typestr,
            "data": (data, facts["read_only"]),
            "strides": tuple(size * stride for stride in facts["strides"]),
            "version": 3,
        }

    @property
    def __array_interface__(self):
        if not self._facts["host"]:
            raise AttributeError("the CPU cannot use memory of the GPU; use CuPy or PyTorch")
        return self._interface(self._facts["data"])

    def __array__(self, dtype=None, copy=None):
        """numpy asks for this only where it lacks the interface, and else takes the array for one object."""
        try:
            self.__array_interface__
        except AttributeError as error:
            raise TypeError(f"numpy cannot use {self!r}: {error}") from None
        import numpy

        return numpy.array(self, dtype)

    @property
    def __cuda_array_interface__(self):
        if not self._facts["gpu"]:
            raise AttributeError("the GPU cannot use this memory")
        return {**self._interface(self._facts["address"]), "stream": LEGACY_STREAM}

    def __dlpack_device__(self):
        return tuple(self._facts["device"])

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        facts = self._facts
        device = self.__dlpack_device__()
        if copy and not facts["host"]:
            raise BufferError("vramkit copies no memory of the GPU for a library; copy the array there")
        if dl_device is not None and tuple(dl_device) != device:
            if tuple(dl_device) != (CPU, 0) or not facts["host"]:
                raise BufferError(f"the memory is on device {device}, not on {tuple(dl_device)}")
            device = (CPU, 0)
        versioned = max_version is not None and max_version[0] >= 1
        if facts["read_only"] and not versioned:
            raise BufferError("memory that may only be read needs DLPack 1.0")
        if device[0] != CPU and stream not in (None, -1, 0):
            order_streams(facts["ordinal"], LEGACY_STREAM, int(stream))
        flags = READ_ONLY if facts["read_only"] else 0
        layout = (device, self.dtype, self.shape, facts["strides"])
        sweep()
        if copy:
            owner, data = copy_of(facts["data"], self.dtype, self.shape, facts["strides"])
            layout = ((CPU, 0), *layout[1:])
            return Offer(owner, data or None, *layout, IS_COPIED, versioned).capsule
        return Offer(self, facts["data"] or None, *layout, flags, versioned).capsule


class Printed(io.TextIOBase):
    """Keeps what is printed until JavaScript shows it: file descriptor 1 is not what notebooks show."""

    encoding = "utf-8"

    def __init__(self):
        self.texts = collections.deque()

    def writable(self):
        return True

    def write(self, text):
        self.texts.append(text)
        return len(text)

    def take(self):
        texts = []
        while self.texts:
            texts.append(self.texts.popleft())
        return "".join(texts)


printed, complained = Printed(), Printed()

# Arrays whose bytes JavaScript copies, and capsules of which it uses the struct.
lent = {}
arrays = {}
# Streams that JavaScript uses, by number.
streams = {}
stream_numbers = itertools.count(1)


def from_wire(value):
    """Makes a Python value of what JavaScript sent."""
    if not isinstance(value, list):
        return value
    kind, *rest = value
    if kind == "list":
        return [from_wire(item) for item in rest[0]]
    if kind == "dict":
        return {key: from_wire(item) for key, item in rest[0]}
    if kind == "int":
        return int(rest[0])
    if kind == "float":
        return float(rest[0])
    if kind == "bytes":
        return ctypes.string_at(*rest)
    if kind == "typed":
        return typed_array(*rest)
    return Array(rest[0])


def typed_array(dtype, address, count):
    """Copies a typed array into an array of numpy's."""
    import numpy

    result = numpy.empty(count, dtype)
    ctypes.memmove(result.ctypes.data, address, result.nbytes)
    return result


def to_wire(value):
    """Makes what JavaScript gets of a Python value."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value) if -MOST_SAFE <= value <= MOST_SAFE else ["int", str(int(value))]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else ["float", str(float(value))]
    if isinstance(value, (list, tuple)):
        return ["list", [to_wire(item) for item in value]]
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"a dict with the key {key!r} has no form in JavaScript: use texts")
        return ["dict", [[key, to_wire(item)] for key, item in value.items()]]
    if isinstance(value, Array):
        return ["array", value._number]
    if isinstance(value, (bytes, bytearray)):
        return ["bytes", *lend(bytes(value))]
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        return to_wire(value.item())
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if hasattr(value, "mask") and hasattr(value, "filled"):
        raise TypeError(f"{kind} has masked elements, which would be lost: use its filled()")
    try:
        view = memoryview(value)
    except (TypeError, ValueError):  # it has no buffer, or elements such as dates
        pass
    else:
        dtype = BY_FORMAT.get(view.format.lstrip("<=@"))
        if dtype is not None:
            return ["typed", dtype, *lend(view.tobytes()), list(view.shape)]
    if hasattr(value, "__array_interface__"):
        raise TypeError(f"{kind} of {value.dtype} has no form in JavaScript: use its astype()")
    if hasattr(value, "__dlpack__") or hasattr(value, "__cuda_array_interface__"):
        raise TypeError(f"{kind} is an array of a library: python.buffer() uses it where it lies")
    raise TypeError(f"{kind} has no form in JavaScript: make it a number, a text, a list or an array")


def lend(data):
    """Keeps bytes until JavaScript has copied them."""
    address = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value
    lent[address] = data
    return address, len(data)


def struct_of(value, stream):
    """Gets a DLPack struct of an array: its address and whether it has a version."""
    if hasattr(value, "__dlpack__"):
        capsule = capsule_of(value, stream)
        for versioned, name in NAMES.items():
            if capsule_api.PyCapsule_IsValid(id(capsule), name):
                address = capsule_api.PyCapsule_GetPointer(id(capsule), name)
                arrays[address] = (capsule, versioned)
                return address, versioned
        raise TypeError("__dlpack__() gave no DLPack struct that nobody has taken")
    facts = getattr(value, "__cuda_array_interface__", None)
    if facts is None:
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        raise TypeError(f"{kind} is no array: it has neither DLPack nor __cuda_array_interface__")
    dtype = BY_TYPESTR.get(facts["typestr"])
    if dtype is None:
        raise TypeError(f"elements of the type {facts['typestr']} have no form in JavaScript")
    if facts.get("mask") is not None:
        raise TypeError("an array with a mask has no form in JavaScript")
    shape = tuple(facts["shape"])
    data, read_only = facts["data"]
    ordinal = device_of(data) if data else 0
    theirs = facts.get("stream")
    if theirs is not None:
        order_streams(ordinal, int(theirs), stream)
    flags = READ_ONLY if read_only else 0
    layout = ((CUDA, ordinal), dtype, shape, strides_of(facts, shape))
    offer = Offer(value, data or None, *layout, flags, True)
    arrays[offer.address] = (offer.capsule, True)
    return offer.address, True


def capsule_of(value, stream):
    """Calls __dlpack__(), which knows no versions in older libraries, and no streams on the CPU."""
    device = value.__dlpack_device__()[0]
    ordered = [{"stream": stream, "max_version": (1, 2)}, {"stream": stream}]
    unordered = [{"max_version": (1, 2)}, {}]
    attempts = {CUDA: ordered, CUDA_MANAGED: ordered + unordered}.get(device, unordered)
    # numpy names the device of managed memory, and refuses streams; by which error depends on its version.
    refusals = (TypeError, ValueError, RuntimeError) if device == CUDA_MANAGED else TypeError
    for options in attempts[:-1]:
        try:
            return value.__dlpack__(**options)
        except refusals:
            pass
    return value.__dlpack__(**attempts[-1])


def strides_of(facts, shape):
    """Counts the strides in elements."""
    size = int(facts["typestr"][2:])
    given = facts.get("strides")
    if given is not None:
        if any(stride % size for stride in given):
            raise TypeError(f"strides of {given} bytes are not whole elements of {size} bytes")
        return [stride // size for stride in given]
    strides = []
    stride = 1
    for length in reversed(shape):
        strides.insert(0, stride)
        stride *= length
    return strides


def device_of(address):
    """Asks the driver which device an address belongs to."""
    ordinal = ctypes.c_int(0)
    cuda = ctypes.CDLL("libcuda.so.1")
    cuda.cuPointerGetAttribute(ctypes.byref(ordinal), 9, ctypes.c_uint64(address))
    return ordinal.value


def compiled(source, name, mode):
    """Compiles source text so that tracebacks show its lines."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    return compile(source, name, mode)


def evaluate(request):
    return eval(compiled(request["source"], request["name"], "eval"), __main__.__dict__)


def run(request):
    exec(compiled(request["source"], request["name"], "exec"), __main__.__dict__)


def assign(request):
    __main__.__dict__[request["variable"]] = from_wire(request["value"])


def take(request):
    address, versioned = struct_of(evaluate(request), request["stream"])
    return {"address": str(address), "versioned": versioned}


def taken(request):
    """Leaves a struct to JavaScript, which calls its deleter, or ends it with its capsule."""
    capsule, versioned = arrays.pop(int(request["address"]))
    if request["isUsed"]:
        capsule_api.PyCapsule_SetName(id(capsule), USED_NAMES[versioned])


def keep(request):
    """Keeps a stream for JavaScript; its handle is told as a text, as it may be beyond 2**53."""
    stream = evaluate(request)
    handle = handle_of(stream)
    number = next(stream_numbers)
    streams[number] = stream
    return [number, str(handle)]


def handle_of(stream):
    """Returns the driver's handle of a stream, which older libraries have under names of their own."""
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    for name in ("cuda_stream", "ptr"):  # PyTorch, CuPy
        handle = getattr(stream, name, None)
        if isinstance(handle, int):
            return handle
    kind = f"{type(stream).__module__}.{type(stream).__qualname__}"
    raise TypeError(f"{kind} is no stream: it has no __cuda_stream__()")


def drop(request):
    streams.pop(request["number"], None)


def start(request):
    global release_count, deleter
    deleter = int(request["deleter"])
    release_count = ctypes.c_uint64.from_address(int(request["cell"]))
    sys.stdout, sys.stderr = printed, complained
    if not hasattr(sys, "argv"):
        sys.argv = [""]
    return [sys.version.split()[0], sys.executable or ""]


def copied(request):
    for address in request["addresses"]:
        lent.pop(int(address), None)


WORK = {
    "start": start,
    "run": run,
    "evaluate": lambda request: to_wire(evaluate(request)),
    "assign": assign,
    "take": take,
    "taken": taken,
    "keep": keep,
    "drop": drop,
    "copied": copied,
    "nothing": lambda request: None,
}


def failure(error):
    """Describes an error without the lines of this file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals is globals():
        trace = trace.tb_next
    lines = traceback.format_exception(type(error), error, trace)
    return {
        "type": type(error).__name__,
        "message": text_of(error),
        "traceback": "".join(lines).rstrip("\n"),
    }


def text_of(error):
    """Returns an error's text, which the program's own class may fail to make."""
    try:
        return str(error)
    except BaseException as other:
        return f"its text could not be made: {type(other).__name__}"


def exchange(request):
    """Does what a request of JavaScript's says; every error becomes a part of the reply."""
    reply = {}
    made.clear()
    try:
        request = json.loads(request)
        reply["value"] = WORK[request["work"]](request)
    except BaseException as error:  # SystemExit must not end JavaScript
        reply["error"] = {**failure(error), "made": list(made)}
    reply["printed"] = printed.take()
    reply["complained"] = complained.take()
    sweep()
    reply["released"] = []
    while released:
        reply["released"].append(released.popleft())
    return json.dumps(reply).encode()
