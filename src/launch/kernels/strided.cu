// The kernels that copy between strided layouts, in CUDA C++; see ready.cu. They are an image of their
// own: the driver compiles them in a few milliseconds.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

// The same shape on both sides, in words of 1 to 8 bytes; axes that there are not come first, with size 1.
template <int axisCount>
struct Axes {
  u64 sizes[axisCount]; i64 toStrides[axisCount]; i64 fromStrides[axisCount]; i64 toStart; i64 fromStart;
};
typedef Axes<8> Layout;

__device__ u64 taken(const void *from, i64 i, u32 wordBytes) {
  switch (wordBytes) {
    case 1: return ((const u8 *)from)[i];
    case 2: return ((const u16 *)from)[i];
    case 4: return ((const u32 *)from)[i];
    default: return ((const u64 *)from)[i];
  }
}

__device__ void put(void *to, i64 i, u32 wordBytes, u64 word) {
  switch (wordBytes) {
    case 1: ((u8 *)to)[i] = (u8)word; break;
    case 2: ((u16 *)to)[i] = (u16)word; break;
    case 4: ((u32 *)to)[i] = (u32)word; break;
    default: ((u64 *)to)[i] = word;
  }
}

// A word on both sides, and how many follow along the last axis, with it.
struct Place { i64 to; i64 from; u64 left; };

// Finds the place of a step of the first axes, the last of them fastest.
template <int axisCount>
__device__ Place placeOf(u64 step, const Layout &layout) {
  Place place = {layout.toStart, layout.fromStart, 1};
#pragma unroll
  for (int axis = axisCount - 1; axis >= 0; axis--) {
    u64 size = layout.sizes[axis];
    if (size == 1) continue;
    u64 next = step / size; // by 32 bits where both have no more
    i64 at = (i64)(step - next * size);
    if (axis == axisCount - 1) place.left = size - at;
    place.to += at * layout.toStrides[axis];
    place.from += at * layout.fromStrides[axis];
    step = next;
  }
  return place;
}

// Rows of up to four words, which lie apart in what is read: a thread takes a row, and finds its place once.
__device__ void copyShortRows(
    void *to, const void *from, u64 rowCount, u32 wordBytes, const Layout &layout) {
  u64 thread = blockIdx.x * (u64)blockDim.x + threadIdx.x, threads = (u64)gridDim.x * blockDim.x;
  u32 rowWords = (u32)layout.sizes[7];
  for (u64 row = thread; row < rowCount; row += threads) {
    Place place = placeOf<7>(row, layout);
    u64 words[4];
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
      if (k < rowWords) words[k] = taken(from, place.from + k * layout.fromStrides[7], wordBytes);
    }
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
      if (k < rowWords) put(to, place.to + k * layout.toStrides[7], wordBytes, words[k]);
    }
  }
}

// In the order in which words are written. A thread takes four, each 32 further: as far as they lie in one
// row, their place is found once, and all are on their way before the first is written.
extern "C" __global__ void vramkit_strided_copy(
    void *to, const void *from, u64 count, u32 wordBytes, Layout layout) {
  if (layout.sizes[7] <= 4 && layout.fromStrides[7] != 1) {
    return copyShortRows(to, from, count / layout.sizes[7], wordBytes, layout);
  }
  u64 thread = blockIdx.x * (u64)blockDim.x + threadIdx.x, threads = (u64)gridDim.x * blockDim.x;
  for (u64 first = thread / 32 * 128 + thread % 32; first < count; first += 4 * threads) {
    for (u64 i = first; i < first + 128 && i < count; i += 32) {
      Place place = placeOf<8>(i, layout);
      if (i > first || place.left <= 96 || first + 96 >= count) {
        put(to, place.to, wordBytes, taken(from, place.from, wordBytes));
        continue;
      }
      u64 words[4];
#pragma unroll
      for (int k = 0; k < 4; k++) {
        words[k] = taken(from, place.from + 32 * k * layout.fromStrides[7], wordBytes);
      }
#pragma unroll
      for (int k = 0; k < 4; k++) {
        put(to, place.to + 32 * k * layout.toStrides[7], wordBytes, words[k]);
      }
      break;
    }
  }
}

// Of more axes than the others take. A thread takes one word after another.
extern "C" __global__ void vramkit_strided_axes(
    void *to, const void *from, u64 count, u32 wordBytes, Axes<64> layout) {
  u64 thread = blockIdx.x * (u64)blockDim.x + threadIdx.x, threads = (u64)gridDim.x * blockDim.x;
  for (u64 i = thread; i < count; i += threads) {
    i64 toWord = layout.toStart, fromWord = layout.fromStart;
    u64 step = i;
#pragma unroll 1
    for (int axis = 63; axis >= 0 && layout.sizes[axis] != 1; axis--) {
      u64 next = step / layout.sizes[axis];
      i64 at = (i64)(step - next * layout.sizes[axis]);
      toWord += at * layout.toStrides[axis];
      fromWord += at * layout.fromStrides[axis];
      step = next;
    }
    put(to, toWord, wordBytes, taken(from, fromWord, wordBytes));
  }
}

// Where the last axis is contiguous in what is written, and the one before in what is read: squares are
// turned in shared memory, so that both sides are used by whole rows. Blocks have 256 threads.
extern "C" __global__ void vramkit_strided_transpose(
    void *to, const void *from, u64 squareCount, u32 wordBytes, Layout layout) {
  __shared__ u64 square[32][33];
  u32 x = threadIdx.x % 32, y = threadIdx.x / 32;
  u64 columns = layout.sizes[7], rows = layout.sizes[6];
  u64 across = (columns + 31) / 32, down = (rows + 31) / 32;
  for (u64 i = blockIdx.x; i < squareCount; i += gridDim.x) {
    u64 left = i % across * 32, rest = i / across;
    u64 top = rest % down * 32;
    Place place = placeOf<6>(rest / down, layout);
    for (u32 k = y; k < 32; k += 8) {
      u64 row = top + x, column = left + k;
      if (row >= rows || column >= columns) continue;
      square[k][x] = taken(from, place.from + row + column * layout.fromStrides[7], wordBytes);
    }
    __syncthreads();
    for (u32 k = y; k < 32; k += 8) {
      u64 row = top + k, column = left + x;
      if (row >= rows || column >= columns) continue;
      put(to, place.to + column + row * layout.toStrides[6], wordBytes, square[x][k]);
    }
    __syncthreads();
  }
}
