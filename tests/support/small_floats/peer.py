"""The conversions of the Python package ml_dtypes, for tests of the kit's.

    python3 peer.py FILE    reads values of 32-bit floats, and writes the bits of each as a byte for each
                            of the types below, behind the values of all bits of the types

Needs: pip install ml_dtypes numpy
"""

import sys

import ml_dtypes
import numpy

TYPES = ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float8_e4m3fnuz", "float8_e5m2fnuz") + (
    "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"
)

values = numpy.fromfile(sys.argv[1], "float32")
with open(sys.argv[1], "wb") as file, numpy.errstate(all="ignore"):
    for name in TYPES:
        codes = numpy.arange(2 ** int(name[5]), dtype="uint8")
        file.write(codes.view(getattr(ml_dtypes, name)).astype("float32").tobytes())
    for name in TYPES:
        file.write(values.astype(getattr(ml_dtypes, name)).view("uint8").tobytes())
