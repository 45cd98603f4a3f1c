// Types for the part of @std/html that the site imports from npm, where it ships without any.

/** Escapes text so that HTML shows it as it is. */
export function escape(text: string): string;

/** Returns the text that escaped text stands for. */
export function unescape(text: string): string;
