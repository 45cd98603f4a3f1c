// The keeper under attack: killed at any moment, asked by other users, by other versions and by nonsense, at
// its limits, and beside programs that have nothing to do with it.

import { assert, assertEquals, assertLess, assertRejects, assertStringIncludes } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { CudaDevice } from "../../../src/device/device.ts";
import { KeeperConnection } from "../../../src/persist/keeper_connection.ts";
import { keeperFolder } from "../../../src/persist/keeper_folder.ts";
import { startKeeper } from "../../../src/persist/keeper_start.ts";
import { PersistError } from "../../../src/persist/persist_error.ts";
import { LocalSocket } from "../../../src/sharing/local_socket.ts";
import { runWith } from "../../support/child_deno.ts";
import { assertHoldsOnly } from "../../support/contents.ts";
import { ON_GPU, openTestDevice } from "../../support/driver.ts";
import { until } from "../../support/in_time.ts";
import {
  heldCount,
  isMemory,
  isThere,
  KeeperScene,
  openFilesOf,
  untilOver,
} from "../../support/persist/keeper_scene.ts";
import { type PersistAnswer, PersistPeer } from "../../support/persist/peer.ts";
import { PROJECT_ROOT } from "../../support/project_files.ts";
import { share } from "../../support/random.ts";
import { takingTurns, testOnLinux, testUnless } from "../../support/test_unless.ts";
import { checkSteady, freeBytes } from "../../support/with_device.ts";

const KIT = new URL("mod.ts", PROJECT_ROOT).href;
const MIB = 2 ** 20;

/** Rounds of each kill in the suite; the endurance program makes a hundred. */
const KILLS = 3;

/** Names that are persisted and forgotten. */
const ROUNDS = share(1000);

function randomMilliseconds(most: number): number {
  return Math.random() * most;
}

testOnLinux(
  "The keeper holds little, idles without a processor, and is of the user's alone",
  async () => {
    await using scene = new KeeperScene();
    using gpu = openTestDevice();
    using _x = await gpu.persist("x", () => gpu.zeros("uint8", 4));
    const pid = await scene.pid();
    const status = Deno.readTextFileSync(`/proc/${pid}/status`);
    const [, residentKib = "0"] = /^VmRSS:\s+(\d+) kB/m.exec(status) ?? [];
    const isOld = Deno.version.deno.startsWith("2.8."); // whose own memory is larger
    assertLess(Number(residentKib), (isOld ? 96 : 60) * 1024);
    const ticks = () => {
      const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1]?.split(" ") ?? [];
      return Number(fields[11]) + Number(fields[12]);
    };
    await until(async () => {
      const before = ticks();
      await delay(200);
      return ticks() === before;
    }, "its start is over");
    const before = ticks();
    await delay(1000);
    assertLess(ticks() - before, 2); // hundredths of a second
    const modes = [scene.folder, `${scene.folder}/keeper.sock`].map((path) => {
      return ((Deno.statSync(path).mode ?? 0) & 0o777).toString(8);
    });
    assertEquals(modes[0], "700");
    assertEquals(modes[1]?.at(-1), "0");
  },
);

testOnLinux("The keeper ends by itself when it has held nothing for long", async () => {
  await using scene = new KeeperScene();
  await startKeeper(keeperFolder(), { idleSeconds: 0.3 });
  await until(async () => {
    using found = await KeeperConnection.find();
    return found !== undefined;
  }, "it listens");
  const pid = await scene.pid();
  await untilOver(pid);
  assertEquals(await KeeperConnection.find(), undefined);
});

testOnLinux(
  "Descriptors of memory reach no other process, and the keeper inherits none",
  async () => {
    await using scene = new KeeperScene();
    using gpu = openTestDevice();
    const unrelated: Deno.ChildProcess[] = [];
    const start = () => {
      unrelated.push(
        new Deno.Command("sleep", { args: ["30"], stdout: "null", stderr: "null" }).spawn(),
      );
    };
    const make = async () => {
      start();
      const buffers = Array.from({ length: 3 }, () => gpu.zeros("uint8", 33 * MIB));
      await gpu.synchronize();
      return Object.fromEntries(buffers.map((buffer, i) => [`b${i}`, buffer]));
    };
    using first = await gpu.persist("x", make);
    start();
    first.dispose();
    await gpu.synchronize();
    using _second = await gpu.persist("x", make);
    start();
    const leaked = unrelated.flatMap(({ pid }) => openFilesOf(pid)).map(({ target }) => target);
    assertEquals(leaked.filter(isMemory), []);
    assertEquals(leaked.filter((target) => /socket|vramkit/.test(target)), []);
    const own = openFilesOf(Deno.pid).filter(({ target }) => isMemory(target));
    assertEquals(own.filter(({ endsWithExec }) => !endsWithExec), []);
    const pid = await scene.pid();
    assertEquals(heldCount(pid), 3);
    const kept = openFilesOf(pid);
    assertEquals(kept.filter(({ target }) => /nvidia/.test(target) && !isMemory(target)), []);
    const passedOn = kept.filter(({ target, endsWithExec }) => {
      return !endsWithExec && target !== "/dev/null" && !target.startsWith("pipe:");
    });
    assertEquals(passedOn, []);
    for (const child of unrelated) {
      child.kill("SIGKILL");
      await child.status;
    }
  },
);

testOnLinux("The keeper closes what the program that started it has left open", async () => {
  await using scene = new KeeperScene();
  // The shell opens descriptor 9 for whatever it runs, as a library may that does not know of exec.
  const script = `exec 9</etc/hostname; exec "$@"`;
  const args = ["-c", script, "sh", Deno.execPath(), ...PersistPeer.args];
  const env = { XDG_RUNTIME_DIR: scene.pathOf(".") };
  await using peer = new PersistPeer(env, { command: "bash", args });
  await peer.tell({ do: "persist", name: "w" });
  assert(openFilesOf(peer.pid).some(({ target }) => target === "/etc/hostname"));
  const kept = openFilesOf(await scene.pid()).map(({ target }) => target);
  assertEquals(kept.filter((target) => target === "/etc/hostname"), []);
});

/** Why no other user can be tried here; undefined where one can. */
const ALONE = Deno.build.os !== "linux" || Deno.uid() !== 0
  ? "needs root on Linux, to become another user"
  : undefined;

testUnless(
  "The keeper and programs refuse processes of another user",
  ALONE,
  async () => {
    await using scene = new KeeperScene();
    using gpu = openTestDevice();
    using _x = await gpu.persist("x", () => gpu.zeros("uint8", 4));
    const path = `${scene.folder}/keeper.sock`;
    // With the folder open to all, what is left is the keeper's own look at who connects.
    for (const folder of [scene.pathOf("."), scene.folder]) Deno.chmodSync(folder, 0o777);
    Deno.chmodSync(path, 0o777);
    const program = `
import socket, sys
peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
peer.connect(sys.argv[1])
try:
    peer.send(b'{"op":"hello","vramkit":1,"kit":"x"}')
    print(repr(peer.recv(1000)))
except OSError as error:
    print("refused", error.errno)
`;
    const told = await new Deno.Command("setpriv", {
      args: ["--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", program, path],
    }).output();
    const text = new TextDecoder().decode(told.stdout).trim();
    assert(
      text === "b''" || text.startsWith("refused"),
      text + new TextDecoder().decode(told.stderr),
    );
    Deno.chmodSync(scene.pathOf("."), 0o700);
    Deno.chmodSync(scene.pathOf("."), 0o700);
    const error = await assertRejects(() => gpu.persisted(), PersistError, "its mode is 777");
    assertEquals(error.reason, "no-keeper");
    Deno.chmodSync(scene.folder, 0o700);
    Deno.chownSync(scene.folder, 65534, 65534);
    await assertRejects(() => gpu.persisted(), PersistError, "it belongs to user 65534");
    Deno.chownSync(scene.folder, 0, 0);
    assertEquals((await gpu.persisted()).count, 1);
  },
);

testUnless(
  "Programs refuse a keeper of another user",
  ALONE,
  async () => {
    await using scene = new KeeperScene();
    const folder = keeperFolder();
    Deno.chmodSync(scene.pathOf("."), 0o777);
    Deno.chmodSync(folder, 0o777);
    const program = `
import socket, sys, time
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.bind(sys.argv[1])
import os
os.chmod(sys.argv[1], 0o777)
server.listen()
print("listens", flush=True)
peer, _ = server.accept()
time.sleep(30)
`;
    const child = new Deno.Command("setpriv", {
      args: [
        "--reuid=65534",
        "--clear-groups",
        "/usr/bin/python3",
        "-c",
        program,
        `${folder}/keeper.sock`,
      ],
      stdout: "piped",
    }).spawn();
    await child.stdout.getReader().read();
    Deno.chmodSync(folder, 0o700);
    Deno.chmodSync(scene.pathOf("."), 0o700);
    await assertRejects(() => KeeperConnection.find(), PersistError, "belongs to another user");
    child.kill("SIGKILL");
    await child.status;
    Deno.removeSync(`${folder}/keeper.sock`);
  },
);

testOnLinux(
  "The keeper refuses more descriptors than it may have, before it takes one",
  async () => {
    await using scene = new KeeperScene();
    const script = `ulimit -n 100; exec "$@"`;
    const args = ["-c", script, "bash", Deno.execPath(), ...PersistPeer.args];
    await using starter = new PersistPeer({ XDG_RUNTIME_DIR: scene.pathOf(".") }, {
      command: "bash",
      args,
    });
    await starter.tell({ do: "persist", name: "w" });
    using gpu = openTestDevice();
    const before = freeBytes(gpu);
    const count = 60;
    const make = () => {
      const buffers = Array.from({ length: count }, () => gpu.zeros("uint8", 32 * MIB));
      return Object.fromEntries(buffers.map((buffer, i) => [`b${i}`, buffer]));
    };
    const error = await assertRejects(
      () => gpu.persist("x", make),
      PersistError,
      "may have 100 files open",
    );
    assertEquals(error.reason, "descriptors");
    assertEquals(gpu.live().count, 0);
    checkSteady(gpu, before);
    assertEquals(heldCount(await scene.pid()), 1);
    assertEquals((await gpu.persisted()).count, 1);
  },
);

testOnLinux("The keeper hears nonsense, and goes on", async () => {
  await using scene = new KeeperScene();
  using gpu = openTestDevice();
  using _x = await gpu.persist("x", () => gpu.zeros("uint8", 4));
  const path = `${scene.folder}/keeper.sock`;
  const hello = '{"op":"hello","vramkit":1,"kit":"x"}';
  const device = "GPU-0";
  const messages: string[][] = [
    ["x"],
    ["{}"],
    ["null"],
    ['{"op":"list"}'],
    [hello, "null"],
    [hello, "{"],
    [hello, '{"op":"constructor"}'],
    [hello, '{"op":"part"}'],
    [hello, '{"op":"more","from":-5}'],
    [hello, '{"op":"publish","descriptorCount":1}'],
    [hello, `{"op":"want","name":"x","device":"${device}","anew":false}`, '{"op":"publish"}'],
    [hello, `{"op":"want","name":"y","device":"${device}","anew":false}`, '{"op":"wake"}'],
    [hello, '{"op":"sleep","where":"host"}'],
    [hello, "x".repeat(50_000)],
  ];
  for (const texts of messages) {
    const socket = LocalSocket.connect(path);
    assert(socket instanceof LocalSocket);
    using file = Deno.openSync("/dev/null");
    for (const text of texts) socket.send(new TextEncoder().encode(text), [0, 1, 2]);
    await delay(2);
    socket.dispose();
    assertEquals(file.isTerminal(), false);
  }
  assertEquals((await gpu.persisted()).count, 1);
  const files = openFilesOf(await scene.pid()).length;
  assertLess(files, 40);
});

testOnLinux("A keeper of another version is named, and can be stopped", async () => {
  await using scene = new KeeperScene();
  using gpu = openTestDevice();
  await startKeeper(keeperFolder(), { protocol: 1 });
  await until(async () => {
    using found = await KeeperConnection.findAny();
    return found !== undefined;
  }, "it listens");
  const error = await assertRejects(
    () => gpu.persist("x", () => gpu.zeros("uint8", 4)),
    PersistError,
    "persisted stop",
  );
  assertEquals(error.reason, "version");
  assertEquals(gpu.live().count, 0);
  using found = await KeeperConnection.findAny();
  assertEquals(found?.protocol, 1);
  const pid = found?.pid ?? 0;
  await found?.ask({ op: "stop" });
  await untilOver(pid);
  using _x = await gpu.persist("x", () => gpu.zeros("uint8", 4));
  assert(await scene.pid() !== pid);
});

takingTurns(testOnLinux)("persist() says what to do where no keeper can be started", async () => {
  await using scene = new KeeperScene();
  const program = `
    import { CudaDevice } from "${KIT}";
    using gpu = CudaDevice.open(0, { driver: "${ON_GPU ? "cuda" : "simulated"}" });
    try {
      using x = await gpu.persist("x", () => gpu.zeros("uint8", 4));
      console.log("made", x.persistence.wasThere);
    } catch (error) {
      console.log(error.reason, error.message, gpu.live().count);
    }
  `;
  const env = { XDG_RUNTIME_DIR: scene.pathOf(".") };
  const flags = ["--allow-ffi", "--allow-import", "--allow-env", "--allow-read"];
  const refused = await runWith(flags, program, env);
  assertStringIncludes(
    refused.stdout,
    "no-keeper Cannot start the keeper of persisted memory: that needs",
  );
  assertStringIncludes(refused.stdout, "persisted start");
  await startKeeper(keeperFolder()); // by hand, with its permission
  await until(() =>
    KeeperConnection.find().then((found) => {
      found?.[Symbol.dispose]();
      return found !== undefined;
    }), "it listens");
  assertStringIncludes((await runWith(flags, program, env)).stdout, "made false");
  assertStringIncludes(
    (await runWith(["--allow-ffi", "--allow-import", "--allow-env=XDG_RUNTIME_DIR"], program, env))
      .stdout,
    "made true",
  );
});

takingTurns(testOnLinux)("persist() and forget() leave all as it was, many times", async () => {
  await using scene = new KeeperScene();
  using gpu = openTestDevice();
  let [filesBefore, ownBefore, freeBefore] = [0, 0, 0];
  const filesOfKeeper = async () => {
    const pid = await scene.pid();
    await delay(20); // until it has heard that the question is over
    return openFilesOf(pid).length;
  };
  for (let round = 0; round < ROUNDS; round++) {
    const x = await gpu.persist("x", () => gpu.zeros("uint8", 100).fill(round % 251));
    assertEquals(await x.at(99), round % 251);
    x.dispose();
    assertEquals(await gpu.forget("x"), true);
    if (round === 20) {
      await gpu.synchronize();
      [filesBefore, ownBefore] = [await filesOfKeeper(), openFilesOf(Deno.pid).length];
      freeBefore = freeBytes(gpu);
    }
  }
  await gpu.synchronize();
  // The runtimes open a few files of their own; a leak would be of one for each round.
  await until(async () => await filesOfKeeper() <= filesBefore + 4, "the keeper is as before");
  assertLess(openFilesOf(Deno.pid).length, ownBefore + 5);
  checkSteady(gpu, freeBefore);
  assertEquals(gpu.live().count, 0);
});

takingTurns(testOnLinux)(
  `persist() gives right bytes or tells, with its maker killed ${KILLS} times`,
  async () => {
    await using scene = new KeeperScene();
    using gpu = openTestDevice();
    for (let round = 0; round < KILLS; round++) {
      const peer = scene.peer();
      await peer.tell({ do: "free bytes" });
      const value = round + 1;
      const how = ["hangs", "writes on", undefined][round % 3] as "hangs" | "writes on" | undefined;
      const told = peer.tell<PersistAnswer>({
        do: "persist",
        name: "w",
        value,
        byteLength: 5 * MIB,
        how,
      });
      told.catch(() => {});
      await delay(randomMilliseconds(60));
      await peer.kill();
      let wasMade = false;
      const here = await gpu.persist("w", () => {
        wasMade = true;
        return { x: gpu.zeros("uint8", 5 * MIB).fill(99) };
      });
      const expected = wasMade ? 99 : value;
      if (here.persistence.state === "clean") {
        assertHoldsOnly(await here.x.download(), expected);
      }
      here.dispose();
      await gpu.forget("w");
    }
    await until(async () => heldCount(await scene.pid()) === 0, "nothing is held");
    assert(isThere(await scene.pid()));
  },
);

takingTurns(testOnLinux)("Two programs that start at once have one keeper", async () => {
  await using scene = new KeeperScene();
  const peers = Array.from({ length: 3 }, () => scene.peer());
  await Promise.all(peers.map((peer) => peer.tell({ do: "free bytes" })));
  await Promise.all(peers.map((peer, i) => peer.tell({ do: "persist", name: `w${i}`, value: i })));
  using gpu = CudaDevice.open(0, { driver: ON_GPU ? "cuda" : "simulated" });
  assertEquals((await gpu.persisted()).count, 3);
  for (const peer of peers) await peer[Symbol.asyncDispose]();
});
