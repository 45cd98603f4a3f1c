// The calls of a device about persisted and sleeping memory, in one file, because they are loaded when the
// first of them is made.

export { forgetPersisted, persistedTable, persistMemory } from "./persist.ts";
export { sleepMemory, wakeMemory } from "./sleep.ts";
