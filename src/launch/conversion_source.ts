// The kernels that convert element types, in CUDA C++; see ready_source.ts. They are an image of their
// own, so that a first comparison does not wait until the driver has compiled them.

/** The text. */
export const CONVERSION_SOURCE = `
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// Element types are numbers: a kind in the upper bits, the logarithm of the bytes in the lower two.
enum {
  UINT8 = 0, UINT16 = 1, UINT32 = 2, UINT64 = 3, INT8 = 4, INT16 = 5, INT32 = 6, INT64 = 7,
  FLOAT16 = 9, FLOAT32 = 10, FLOAT64 = 11, BOOL = 12, BFLOAT16 = 13
};

// A float whose last bit says that something was lost: rounding it again is rounding once.
__device__ float odd(float towardZero, bool isExact) {
  return isExact ? towardZero : __uint_as_float(__float_as_uint(towardZero) | 1);
}

__device__ u64 halfBits(float value, u32 type) {
  u32 word = __float_as_uint(value);
  if (type == BFLOAT16) return (word + 0x7fff + ((word >> 16) & 1)) >> 16;
  u16 half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return half;
}

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
  return halfBits(odd(cut, isExact), to);
}

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
  if (isNaN) return to == FLOAT16 ? 0x7e00 : 0x7fc0;
  float cut = __double2float_rz(value);
  return halfBits(odd(cut, (double)cut == value), to);
}

__device__ u64 converted(u64 bits, u32 from, u32 to) {
  bool isFloat = from > 8 && from != BOOL;
  return isFloat ? fromFloat(bits, from, to) : fromWhole(bits, from, to);
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
        put(to, i + k * step, toType, converted(parts[k], fromType, toType));
      }
    }
  }
}

// The same for elements at distances; axes that there are not have size 1.
struct Layout { u64 sizes[8]; long long strides[8]; long long start; };

extern "C" __global__ void vramkit_convert_strided(
    void *to, const void *from, u64 count, u32 toType, u32 fromType, Layout layout) {
  u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += step) {
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
    put(to, i, toType, converted(taken(from, place, fromType), fromType, toType));
  }
}
`;
