// Handles a program's last turn: an uncaught error frees its arrays before its message is printed,
// and a thread that still used one would end the process without a message.

/** The events that come before a program ends, and also when it goes on after all. */
const LAST_EVENTS = ["error", "unhandledrejection", "unload"] as const;

/** Calls `rest` before the program ends, until the returned object is disposed. */
export function beforeLastTurn(rest: () => void): Disposable {
  for (const event of LAST_EVENTS) globalThis.addEventListener(event, rest);
  return {
    [Symbol.dispose]: () => {
      for (const event of LAST_EVENTS) globalThis.removeEventListener(event, rest);
    },
  };
}
