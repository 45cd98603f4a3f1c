// @ts-self-types="./html.d.ts"
// @std/html by its place in npm, with types of its own.
export * from "npm:deno-std@1.4.0/html/mod.js";
