/**
 * Where workerd's time goes under load of one kind of request: a CPU profile by its inspector, with the wasm's
 * functions by name if the module has names. Arguments: the Worker's entry, the kind, the seconds.
 *   node proofs/bench/service/profile.mjs build/worker.js "GET small" 5
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { prepareTools } from "../../../scripts/lib/tools.mjs";
import { seedData } from "../../../scripts/lib/seed.mjs";
import { inspect } from "./inspector.mjs";
import { kindsFor, writeRequests } from "./requests.mjs";
import { Server, bundle } from "./workerd.mjs";
import { slice, wrk } from "./wrk.mjs";

const SAMPLE_US = 200;
const [main = "build/worker.js", wanted = "GET small", seconds = "5"] = process.argv.slice(2);

const tools = await prepareTools();
const folder = join(tools.root, "build", "bench", "profile");
mkdirSync(folder, { recursive: true });
const server = await Server.start(
  tools,
  await bundle(tools, { main: resolve(main), folder: join(folder, "worker"), minify: false }),
  { inspected: true },
);
try {
  await server.seed((await seedData(tools)).entries);
  const kind = (await kindsFor(server.origin)).find(({ name }) => name === wanted);
  if (!kind) throw new Error(`there is no kind \`${wanted}\` of requests`);
  /** @type {Omit<Parameters<typeof slice>[1], "seconds">} */
  const load = {
    origin: server.origin,
    pid: server.pid,
    file: writeRequests(folder, kind.name, kind.requests, server.origin),
    connections: kind.connections,
    errors: kind.status >= 400 ? "all" : "none",
  };
  const program = await wrk();
  await slice(program, { ...load, seconds: 2 });
  const inspector = await inspect(server.ports.inspector, "main");
  await inspector.ask("Profiler.enable");
  await inspector.ask("Profiler.setSamplingInterval", { interval: SAMPLE_US });
  await inspector.ask("Profiler.start");
  const { perSecond, cpu } = await slice(program, { ...load, seconds: Number(seconds) });
  const { profile } = await inspector.ask("Profiler.stop");
  inspector.close();
  writeFileSync(join(folder, "service.cpuprofile"), JSON.stringify(profile));
  console.log(
    `${Math.round(perSecond)} per second, ${Math.round(cpu ?? 0)} µs each; build/bench/profile/service.cpuprofile`,
  );
  console.log(summary(profile));
} finally {
  await server.end();
}

function nameOf({ functionName, url, lineNumber }) {
  const name = functionName.replace(/::h[0-9a-f]{16}$/, "") || "(anonymous)";
  return url.endsWith(".js") ? `${name} (line ${lineNumber + 1})` : name;
}

/** Each function's own share of the time in which anything ran. */
function summary({ nodes, samples, timeDeltas }) {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const shares = new Map();
  for (const [index, id] of samples.entries())
    shares.set(names.get(id), (shares.get(names.get(id)) ?? 0) + timeDeltas[index]);
  shares.delete("(idle)");
  const total = [...shares.values()].reduce((a, b) => a + b, 0);
  const rows = [...shares].sort(([, a], [, b]) => b - a).slice(0, 40);
  return rows
    .map(
      ([name, share]) =>
        `${((share / total) * 100).toFixed(1).padStart(5)} %  ${name.slice(0, 140)}`,
    )
    .join("\n");
}
