// A process that answers like no kit: `deno run -A hostile_program.ts NAME HABIT`. Prints "ready" when
// it listens.

import { cString } from "../../../ffi/c_strings.ts";
import { openHost } from "../../../ffi/host.ts";
import { LocalSocket } from "../../../src/sharing/local_socket.ts";
import { encodeAnswer } from "../../../src/sharing/pool_words.ts";

/** Its ways to treat whoever connects. */
export type Habit =
  | "silence"
  | "hanging up"
  | "garbage"
  | "a long message"
  | "no pool"
  | "a file"
  | "three files"
  | "a lie about the memory";

const [name = "", habit = ""] = Deno.args;
const socket = LocalSocket.listen(name);
const open: LocalSocket[] = [];
console.log("ready");
setInterval(() => {
  for (let next = socket.accept(); next; next = socket.accept()) {
    open.push(next);
    answer(next);
  }
}, 2);

function answer(connection: LocalSocket): void {
  const there = encodeAnswer({ isThere: true, pool: 1 });
  const file = openHost().open(cString("/dev/null"), 0, 0);
  switch (habit as Habit) {
    case "silence":
      break;
    case "hanging up":
      connection.dispose();
      break;
    case "garbage":
      connection.send(crypto.getRandomValues(new Uint8Array(8)), [file]);
      break;
    case "a long message":
      connection.send(new Uint8Array(4000), [file]);
      break;
    case "no pool":
      connection.send(there);
      break;
    case "a file":
      connection.send(there, [file]);
      break;
    case "three files":
      for (let i = 0; i < 3; i++) connection.send(there, [file]);
      break;
    case "a lie about the memory":
      connection.send(encodeAnswer({ isThere: false, pool: 7 }), [file]);
      break;
  }
  openHost().close(file);
}
