// The kit's own kernels in CUDA C++: they number, compare, sum up, repeat and copy. They are shipped as
// the PTX compiled from this source, so that no compiler is needed; a test compiles it again. The
// simulated driver has them in JavaScript.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// Threads take elements in turn, so that a grid of any size does all of them.
#define EACH(i, count) \
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < (count); \
       i += (u64)gridDim.x * blockDim.x)

#define WHOLE_NUMBERS(name, T) \
  extern "C" __global__ void name(T *to, u64 count, u64 start, u64 step) { \
    EACH(i, count) to[i] = (T)(start + i * step); \
  }

WHOLE_NUMBERS(vramkit_iota_u8, u8)
WHOLE_NUMBERS(vramkit_iota_u16, u16)
WHOLE_NUMBERS(vramkit_iota_u32, u32)
WHOLE_NUMBERS(vramkit_iota_u64, u64)

// In 64 bits, rounded once for each operation as everywhere else.
#define FLOATS(name, T) \
  extern "C" __global__ void name(T *to, u64 count, double start, double step) { \
    EACH(i, count) to[i] = (T)__dadd_rn(start, __dmul_rn((double)i, step)); \
  }

FLOATS(vramkit_iota_f32, float)
FLOATS(vramkit_iota_f64, double)

// The lowest index of a byte that differs, where result was all ones before.
extern "C" __global__ void vramkit_first_difference(
    const u8 *a, const u8 *b, u64 byteLength, u64 *result) {
  u64 done = 0;
  if ((((u64)a | (u64)b) & 7) == 0) {
    const u64 *x = (const u64 *)a, *y = (const u64 *)b;
    EACH(i, byteLength / 8) {
      u64 different = x[i] ^ y[i];
      if (different == 0) continue;
      atomicMin(result, i * 8 + (__ffsll((long long)different) - 1) / 8);
      break;
    }
    done = byteLength / 8 * 8;
  }
  EACH(i, byteLength - done) {
    if (a[done + i] == b[done + i]) continue;
    atomicMin(result, done + i);
    break;
  }
}

__device__ u32 mixed(u32 hash) {
  hash = (hash ^ (hash >> 16)) * 0x85ebca6bu;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35u;
  return hash ^ (hash >> 16);
}

// Two sums of hashes of all words with their places; the bytes behind the last are zeros.
extern "C" __global__ void vramkit_checksum(const u8 *bytes, u64 byteLength, u32 *result) {
  __shared__ u32 sums[2];
  if (threadIdx.x < 2) sums[threadIdx.x] = 0;
  __syncthreads();
  u32 low = 0, high = 0;
  EACH(i, (byteLength + 3) / 4) {
    u32 word = 0;
    if (((u64)bytes & 3) == 0 && i * 4 + 4 <= byteLength) {
      word = ((const u32 *)bytes)[i];
    } else {
      for (u64 at = 0; at < 4 && i * 4 + at < byteLength; at++) {
        word |= (u32)bytes[i * 4 + at] << (8 * at);
      }
    }
    low += mixed(word ^ (u32)i * 0x9e3779b1u);
    high += mixed(word * 0x85ebca77u ^ ((u32)i + 0x7f4a7c15u));
  }
  atomicAdd(&sums[0], low);
  atomicAdd(&sums[1], high);
  __syncthreads();
  if (threadIdx.x < 2) atomicAdd(&result[threadIdx.x], sums[threadIdx.x]);
}

// The same bytes again and again. They come by value, so that they need no memory; 16 more behind them
// let every thread read 16 in a row.
struct Pattern { u64 words[128]; };

extern "C" __global__ void vramkit_repeat(
    u8 *to, u64 byteLength, u64 patternBytes, Pattern pattern) {
  __shared__ u64 words[130];
  u8 *bytes = (u8 *)words;
  if (threadIdx.x == 0) {
#pragma unroll
    for (int i = 0; i < 128; i++) words[i] = pattern.words[i];
  }
  __syncthreads();
  if (threadIdx.x < 16) bytes[patternBytes + threadIdx.x] = bytes[threadIdx.x % patternBytes];
  __syncthreads();
  u64 head = (16 - ((u64)to & 15)) & 15;
  if (head > byteLength) head = byteLength;
  u64 count = (byteLength - head) / 16;
  uint4 *target = (uint4 *)(to + head);
  EACH(i, count) {
    const u8 *from = bytes + (head + i * 16) % patternBytes;
    u32 lanes[4] = {0, 0, 0, 0};
#pragma unroll
    for (int at = 0; at < 16; at++) lanes[at / 4] |= (u32)from[at] << (8 * (at % 4));
    target[i] = make_uint4(lanes[0], lanes[1], lanes[2], lanes[3]);
  }
  EACH(i, byteLength - count * 16) {
    u64 at = i < head ? i : i + count * 16;
    to[at] = bytes[at % patternBytes];
  }
}

// A copy by the multiprocessors: eight reads are on their way before the first is written.
extern "C" __global__ void vramkit_copy(u8 *to, const u8 *from, u64 byteLength) {
  u64 done = 0;
  if ((((u64)to | (u64)from) & 15) == 0) {
    uint4 *target = (uint4 *)to;
    const uint4 *source = (const uint4 *)from;
    u64 count = byteLength / 16, step = (u64)gridDim.x * blockDim.x;
    u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    for (; i + 7 * step < count; i += 8 * step) {
      uint4 parts[8];
#pragma unroll
      for (int k = 0; k < 8; k++) parts[k] = source[i + k * step];
#pragma unroll
      for (int k = 0; k < 8; k++) target[i + k * step] = parts[k];
    }
    for (; i < count; i += step) target[i] = source[i];
    done = count * 16;
  }
  EACH(i, byteLength - done) to[done + i] = from[done + i];
}

// Goes from address to address: each access waits for the one before.
extern "C" __global__ void vramkit_chase(const u64 *start, u64 count, u64 *end) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  const volatile u64 *at = start;
  for (u64 i = 0; i < count; i++) at = (const volatile u64 *)*at;
  *end = (u64)at;
}
