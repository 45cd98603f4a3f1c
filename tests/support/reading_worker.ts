// A worker that opens the file that it is told, and reads it until it is terminated.

import { parentPort, workerData } from "node:worker_threads";
import { FileReading } from "../../src/disk/file_reading.ts";

const reading = new FileReading(workerData.path);
parentPort?.postMessage(reading.open().byteLength);
setInterval(() => reading.open().file.readSync(new Uint8Array(1), 0), 1);
