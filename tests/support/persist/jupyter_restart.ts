// Persists memory in a kernel of Jupyter's own server, restarts the kernel by the server's REST call, and
// opens the memory again, as a program without a browser: `deno run -A jupyter_restart.ts [GiB]`.

import { PROJECT_ROOT } from "../project_files.ts";
import { JupyterServer } from "../notebook/jupyter_server.ts";

const [gib = "0.1"] = Deno.args;

const CELL = `
const { CudaDevice } = await import("${new URL("mod.ts", PROJECT_ROOT).href}");
const gpu = CudaDevice.open(0, { driver: "auto" });
const start = performance.now();
const model = await gpu.persist("restart of a kernel", () => ({
  weights: gpu.zeros("uint8", ${Math.floor(Number(gib) * 2 ** 30)}).fill(42),
}));
const ms = performance.now() - start;
const value = await model.weights.at(-1);
console.log(JSON.stringify({ pid: Deno.pid, value, ms, ...model.persistence.toJSON() }));
`;
const END = `
model.dispose();
console.log(JSON.stringify(await gpu.forget("restart of a kernel")));
`;

/** Runs code in a kernel, and returns what it prints. */
async function run(origin: string, kernel: string, code: string): Promise<unknown> {
  const address = `${origin.replace("http", "ws")}/api/kernels/${kernel}/channels`;
  const socket = new WebSocket(address);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = "";
  const id = crypto.randomUUID();
  socket.onopen = () => {
    const header = {
      msg_id: id,
      msg_type: "execute_request",
      username: "",
      session: crypto.randomUUID(),
      date: new Date().toISOString(),
      version: "5.3",
    };
    const content = { code, silent: false, store_history: true, allow_stdin: false };
    const rest = { parent_header: {}, metadata: {}, content, buffers: [], channel: "shell" };
    socket.send(JSON.stringify({ header, ...rest }));
  };
  socket.onmessage = ({ data }) => {
    const { header, parent_header, content } = JSON.parse(data);
    if (parent_header?.msg_id !== id) return;
    if (header.msg_type === "stream") text += content.text;
    if (header.msg_type === "error") reject(new Error(content.evalue));
    // The kernel may say that it is idle before it has sent all that was printed.
    if (header.msg_type === "execute_reply") setTimeout(() => resolve(text), 300);
  };
  socket.onerror = () => reject(new Error("the kernel cannot be reached"));
  try {
    return JSON.parse(await promise);
  } finally {
    socket.close();
  }
}

async function post(url: string, body: object = {}): Promise<{ readonly id: string }> {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}: ${await answer.text()}`);
  return await answer.json();
}

await using server = await JupyterServer.start("jupyter_server");
const kernels = `${server.origin}/api/kernels`;
const { id } = await post(kernels, { name: "deno" });
type Told = { readonly pid: number; readonly wasThere: boolean; readonly value: number };
const before = await run(server.origin, id, CELL) as Told;
console.log("before the restart:", before);
await post(`${kernels}/${id}/restart`);
const after = await run(server.origin, id, CELL) as Told;
console.log("after the restart:", after);
console.log("forgotten:", await run(server.origin, id, END));
const isRight = !before.wasThere && after.wasThere && before.pid !== after.pid &&
  after.value === 42;
if (!isRight) throw new Error("the memory did not outlive its kernel");
