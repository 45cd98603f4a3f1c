// @ts-self-types="./assert.d.ts"
// @std/assert by its place in npm, with types of its own.
export * from "npm:deno-std@1.4.0/assert/mod.js";
