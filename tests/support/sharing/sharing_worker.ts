// A worker that shares memory of a pool, posts its ticket, and goes on until it is terminated.

import { parentPort } from "node:worker_threads";
import { openTestDevice } from "../driver.ts";
import { allocateBy } from "./peer_words.ts";

const gpu = openTestDevice();
const x = allocateBy(gpu, { way: "pool", byteLength: 64, value: 5 });
parentPort?.postMessage(await x.share());
setInterval(() => x.disposed, 1000); // the collector takes memory that nothing refers to
