// Timers that never fire, as tests of programs put them in the place of the runtime's.

const REAL = { setTimeout, setInterval };

/** While it is in use, no timer that is started fires. */
export class StandingClock implements Disposable {
  /** Takes the place of the runtime's timers. */
  constructor() {
    Object.assign(globalThis, { setTimeout: () => 0, setInterval: () => 0 });
  }

  [Symbol.dispose](): void {
    Object.assign(globalThis, REAL);
  }
}
