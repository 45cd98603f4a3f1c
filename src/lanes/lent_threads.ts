// The number of the runtime's threads that the kit uses at a time: the runtime has 32 for all calls
// that run off the JavaScript thread, including the program's files and timers.

/** Some stay for the program. */
const MOST_THREADS = 26;

let takenCount = 0;

/** Takes a thread; false when enough are taken. */
export function takeThread(): boolean {
  if (takenCount >= MOST_THREADS) return false;
  takenCount++;
  return true;
}

/** Gives a thread back. */
export function giveThreadBack(): void {
  takenCount--;
}
