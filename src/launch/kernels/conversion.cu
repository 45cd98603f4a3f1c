// The kernels that convert element types, in CUDA C++; see ready.cu. They are an image of their own, so
// that a first comparison does not wait until the driver has compiled them.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// Element types are numbers: a kind in the upper bits, the logarithm of the bytes in the lower two.
enum {
  UINT8 = 0, UINT16 = 1, UINT32 = 2, UINT64 = 3, INT8 = 4, INT16 = 5, INT32 = 6, INT64 = 7,
  FLOAT16 = 9, FLOAT32 = 10, FLOAT64 = 11, BOOL = 12, BFLOAT16 = 13, COMPLEX64 = 19
};

// Floats of at most 8 bits have their layout in the number: flags, then the bits of the mantissa, of an
// element, of the largest number, and the bias of the exponent.
enum { SMALL = 32, INFINITIES = 64, ONE_ZERO = 128, SCALE = 256 };
#define MANTISSA(type) ((type) >> 9 & 7)
#define LARGEST(type) ((type) >> 16 & 255)
#define BIAS(type) ((type) >> 24)

__device__ u32 widthOf(u32 type) { return type & SMALL ? type >> 12 & 15 : 8 << (type & 3); }

__device__ u32 smallValue(u32 code, u32 type) {
  if (type & SCALE) return code > LARGEST(type) ? 0x7fc00000 : code == 0 ? 0x400000 : code << 23;
  u32 signBit = 1u << (widthOf(type) - 1);
  u32 magnitude = code & (signBit - 1), sign = code & signBit ? 0x80000000u : 0;
  if ((type & ONE_ZERO) && code == signBit) return 0x7fc00000;
  if (magnitude > LARGEST(type)) {
    return (type & INFINITIES) && magnitude == LARGEST(type) + 1 ? sign | 0x7f800000 : 0x7fc00000;
  }
  float moved = __uint_as_float(magnitude << (23 - MANTISSA(type)));
  return sign | __float_as_uint(moved * __uint_as_float((254 - BIAS(type)) << 23));
}

// Rounded to nearest even; scales up from the middle, and between the two least ones to the larger.
__device__ u32 smallBits(float value, u32 type) {
  u32 word = __float_as_uint(value), magnitude = word & 0x7fffffff;
  u32 largest = LARGEST(type), mantissa = MANTISSA(type), shift = 23 - mantissa;
  if (type & SCALE) {
    if (word == 0 || word > 0x7f800000) return largest + 1;
    u32 near = magnitude < 0x800000 ? magnitude > 0x400000 : (magnitude + 0x400000) >> 23;
    return min(near, largest + 1);
  }
  if (magnitude > 0x7f800000) {
    return type & INFINITIES ? (largest + 1) | 1 << (mantissa - 1) : largest + 1;
  }
  u32 code;
  if (magnitude >= (128 - BIAS(type)) << 23) {
    u32 rebased = magnitude - ((127 - BIAS(type)) << 23);
    code = (rebased + (1 << (shift - 1)) - 1 + (rebased >> shift & 1)) >> shift;
  } else { // adding moves the bits that are kept to the end
    u32 magic = (151 - BIAS(type) - mantissa) << 23;
    code = __float_as_uint(__fadd_rn(__uint_as_float(magnitude), __uint_as_float(magic))) - magic;
  }
  code = min(code, widthOf(type) < 8 ? largest : largest + 1);
  return code == 0 && (type & ONE_ZERO) ? 0 : code | word >> 31 << (widthOf(type) - 1);
}

// A float whose last bit says that something was lost: rounding it again is rounding once.
__device__ float odd(float towardZero, bool isExact) {
  return isExact ? towardZero : __uint_as_float(__float_as_uint(towardZero) | 1);
}

// Kernels for types that JavaScript has arrays for, and bfloat16, leave the others out.
template <bool ALL>
__device__ u64 halfBits(float value, u32 type) {
  u32 word = __float_as_uint(value);
  if (ALL && type & SMALL) return smallBits(value, type);
  if (type == BFLOAT16) return (word + 0x7fff + ((word >> 16) & 1)) >> 16;
  u16 half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return half;
}

template <bool ALL>
__device__ u64 fromWhole(u64 bits, u32 from, u32 to) {
  switch (from) {
    case INT8: bits = (long long)(signed char)bits; break;
    case INT16: bits = (long long)(short)bits; break;
    case INT32: bits = (long long)(int)bits; break;
    case BOOL: bits = bits != 0; break;
  }
  if (to < 8) return bits;
  if (to == BOOL) return bits != 0;
  long long number = (long long)bits;
  bool isSigned = from >= INT8 && from <= INT64;
  if (to == FLOAT64) {
    return __double_as_longlong(isSigned ? __ll2double_rn(number) : __ull2double_rn(bits));
  }
  if (to == FLOAT32) {
    return __float_as_uint(isSigned ? __ll2float_rn(number) : __ull2float_rn(bits));
  }
  float cut = isSigned ? __ll2float_rz(number) : __ull2float_rz(bits);
  bool isExact = isSigned ? (long long)cut == number : (u64)cut == bits;
  return halfBits<ALL>(odd(cut, isExact), to);
}

template <bool ALL>
__device__ u64 fromFloat(u64 bits, u32 from, u32 to) {
  double value;
  if (from == FLOAT64) {
    value = __longlong_as_double((long long)bits);
  } else {
    float single = __uint_as_float((u32)(from == BFLOAT16 ? bits << 16 : bits));
    if (from == FLOAT16) asm("cvt.f32.f16 %0, %1;" : "=f"(single) : "h"((u16)bits));
    value = single;
  }
  if (to == BOOL) return value != 0;
  if (to < 8) { // cut to a whole number, of which the lowest bits are kept
    u64 word = (u64)__double_as_longlong(value);
    int shift = (int)(word >> 52 & 0x7ff) - 1075;
    u64 digits = (word & 0xfffffffffffffull) | 0x10000000000000ull;
    u64 whole = shift > 63 || shift < -52 ? 0 : shift >= 0 ? digits << shift : digits >> -shift;
    return word >> 63 ? 0 - whole : whole;
  }
  bool isNaN = value != value;
  if (to == FLOAT64) return isNaN ? 0x7ff8000000000000ull : (u64)__double_as_longlong(value);
  if (to == FLOAT32) return isNaN ? 0x7fc00000 : __float_as_uint(__double2float_rn(value));
  if (ALL && isNaN && to & SMALL) return smallBits(__uint_as_float(0x7fc00000), to);
  if (isNaN) return to == FLOAT16 ? 0x7e00 : 0x7fc0;
  float cut = __double2float_rz(value);
  return halfBits<ALL>(odd(cut, (double)cut == value), to);
}

template <bool ALL>
__device__ u64 converted(u64 bits, u32 from, u32 to) {
  bool isFloat = from > 8 && from != BOOL;
  return isFloat ? fromFloat<ALL>(bits, from, to) : fromWhole<ALL>(bits, from, to);
}

__device__ u64 taken(const void *from, long long i, u32 type) {
  switch (type & 3) {
    case 0: return ((const u8 *)from)[i];
    case 1: return ((const u16 *)from)[i];
    case 2: return ((const u32 *)from)[i];
    default: return ((const u64 *)from)[i];
  }
}

__device__ void put(void *to, u64 i, u32 type, u64 bits) {
  switch (type & 3) {
    case 0: ((u8 *)to)[i] = (u8)bits; break;
    case 1: ((u16 *)to)[i] = (u16)bits; break;
    case 2: ((u32 *)to)[i] = (u32)bits; break;
    default: ((u64 *)to)[i] = bits;
  }
}

// Elements of one type as another: four are on their way before the first is written.
extern "C" __global__ void vramkit_convert(
    void *to, const void *from, u64 count, u32 toType, u32 fromType) {
  u64 step = (u64)gridDim.x * blockDim.x;
  u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
  for (; i < count; i += 4 * step) {
    u64 parts[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      if (i + k * step < count) parts[k] = taken(from, i + k * step, fromType);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
      if (i + k * step < count) {
        put(to, i + k * step, toType, converted<false>(parts[k], fromType, toType));
      }
    }
  }
}

// The same for elements at distances; axes that there are not have size 1.
struct Layout { u64 sizes[8]; long long strides[8]; long long start; };

__device__ long long placeOf(u64 i, u64 count, const Layout &layout) {
  u64 rest = i;
  long long place = layout.start;
#pragma unroll
  for (int axis = 7; axis >= 0; axis--) {
    u64 size = layout.sizes[axis];
    if (size == 1) continue;
    u64 next = count >> 32 ? rest / size : (u32)rest / (u32)size;
    place += (long long)(rest - next * size) * layout.strides[axis];
    rest = next;
  }
  return place;
}

extern "C" __global__ void vramkit_convert_strided(
    void *to, const void *from, u64 count, u32 toType, u32 fromType, Layout layout) {
  u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += step) {
    u64 bits = taken(from, placeOf(i, count, layout), fromType);
    put(to, i, toType, converted<false>(bits, fromType, toType));
  }
}

__device__ u64 takenOfAny(const void *from, long long i, u32 type) {
  u32 width = widthOf(type);
  if (width >= 8) return taken(from, i, type);
  const u8 *bytes = (const u8 *)from + (i * width >> 3);
  u32 shift = i * width & 7, word = bytes[0];
  if (shift + width > 8) word |= bytes[1] << 8;
  return word >> shift & ((1 << width) - 1);
}

__device__ u64 convertedOfAny(u64 bits, u32 from, u32 to) {
  if (from & SMALL) {
    bits = smallValue((u32)bits, from);
    from = FLOAT32;
  } else if (from == COMPLEX64) { // the real part, or whether one of the two is not zero
    if (to == BOOL) return (bits & 0x7fffffff7fffffffull) != 0;
    bits = (u32)bits;
    from = FLOAT32;
  }
  return converted<true>(bits, from, to == COMPLEX64 ? FLOAT32 : to);
}

// The same for every type. Threads make one element, or four that are packed, which fill whole bytes.
extern "C" __global__ void vramkit_convert_any(
    void *to, const void *from, u64 count, u32 toType, u32 fromType, Layout layout) {
  u32 width = widthOf(toType);
  u64 length = width < 8 ? 4 : 1, step = (u64)gridDim.x * blockDim.x;
  bool isRun = layout.sizes[7] == count && layout.strides[7] == 1;
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i * length < count; i += step) {
    u64 end = min(count, (i + 1) * length), word = 0;
#pragma unroll 1
    for (u64 k = i * length; k < end; k++) {
      long long place = isRun ? layout.start + k : placeOf(k, count, layout);
      u64 bits = convertedOfAny(takenOfAny(from, place, fromType), fromType, toType);
      word |= bits << (k - i * length) * width % 64;
    }
    if (width >= 8) {
      put(to, i, toType, word);
      continue;
    }
#pragma unroll 1
    for (u32 k = 0; 8 * k < (end - i * length) * width; k++) {
      ((u8 *)to)[i * width / 2 + k] = (u8)(word >> 8 * k);
    }
  }
}
