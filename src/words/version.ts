// The kit's version, as results and the command line show it; a test holds it to deno.json's.

/** The kit's version. */
export const VERSION = "0.3.0";
