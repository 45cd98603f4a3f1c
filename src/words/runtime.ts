// Imported first by every entry: where NVIDIA's driver cannot be called, and where Deno is too old, the
// program ends with a clear message instead of an undefined name.

const { Deno: runtime } = globalThis as { readonly Deno?: { readonly dlopen?: unknown } };

if (runtime?.dlopen === undefined) {
  throw new Error(
    `Cannot load vramkit in ${navigator.userAgent}: it calls NVIDIA's driver by Deno.dlopen, which ` +
      `Node, Bun and Deno Deploy lack; run the program with "deno run"`,
  );
}

// The youngest part of JavaScript that the kit uses, which Deno has had since 2.7.
if (!("getOrInsertComputed" in Map.prototype)) {
  throw new Error(
    `Cannot load vramkit in ${navigator.userAgent}: it needs Deno 2.8 or newer; run "deno upgrade"`,
  );
}
