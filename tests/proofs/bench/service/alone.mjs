/**
 * Measures the compiled service alone in Node, without workerd, in microseconds of processor time per
 * request. This shows the effect of a change of the service quickly. The platform and KV are stand-ins in
 * memory (`alone/stand-ins.mjs`). Each figure comes from separate processes, which take turns.
 *
 *     node scripts/run.mjs ../tests/proofs/bench/service/alone                                 # build/, 4 min
 *     node scripts/run.mjs ../tests/proofs/bench/service/alone --arms main=/clone/build new=build   # 6 min
 *     … --only "GET small,401"      some kinds of request; also --quick (a third of the time), --rounds 9
 *     … --profile /tmp/profiles     one short round, which leaves V8's profiles there for developer tools
 *
 * `--arms` names the builds to compare. Each is a folder with a built Worker and its `operator` folder, as
 * `npm run build` creates it. The first build runs twice, and the difference between its two runs is the
 * noise. "level" means a difference within the noise. Otherwise `×` is the build's time divided by the first
 * build's time. The last column is a Worker that only makes one KV call. It shows how much of every figure
 * the stand-ins take.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { InvalidArgumentError, command, whole } from "../../../../scripts/lib/command.mjs";
import { UserError, log, table } from "../../../../scripts/lib/output.mjs";
import { root } from "../../../../scripts/lib/bootstrap.mjs";
import { compared, figure, median, noise, rotated } from "../numbers.mjs";
import { KINDS, kindsOf } from "./requests.mjs";

const CHILD = join(import.meta.dirname, "alone", "process.mjs");
/**
 * The names of the measured kinds of request. The refused body of 2 MiB is left out, because it uses the platform's
 * streams, which have no stand-in.
 */
const NAMES = KINDS.map(({ name }) => name).filter((name) => name !== "413");
const TWIN = "again";
const NOTHING = "stand-ins";

/** @typedef {{name: string, build: string | null, seeds: {key: string, value: string}[]}} Arm */

const program = command(
  "node scripts/run.mjs ../tests/proofs/bench/service/alone",
  "The compiled service alone in Node, in microseconds of processor time per request; the first arm against itself is the noise.",
)
  .option("--arms <name=folder...>", "folders of built Workers", readArm)
  .option("--only <kinds>", `some kinds of request, with commas: ${NAMES.join("; ")}`, readKinds)
  .option("--rounds <n>", "processes of each arm and kind", whole(1, 99), 5)
  .option("--quick", "shorter processes, for a first look", false)
  .option("--profile <folder>", "one round, with V8's profile of each process in this folder");

program.action(async ({ arms = [{ name: "build", build: join(root, "build") }], ...wish }) => {
  const { only = NAMES, quick, profile } = wish;
  const rounds = profile ? 1 : wish.rounds;
  const loaded = await Promise.all(arms.map(withSeeds));
  const services = [...loaded, { ...loaded[0], name: TWIN }];
  const all = [...services, { name: NOTHING, build: null, seeds: [] }];
  const milliseconds = quick ? 400 : 1_200;
  const execArgv = profile ? ["--cpu-prof", "--cpu-prof-dir", resolve(profile)] : [];
  const results = Object.fromEntries(only.map((kind) => [kind, each(all, () => [])]));
  for (let round = 0; round < rounds; round += 1) {
    log(`round ${round + 1} of ${rounds}`);
    for (const kind of only)
      for (const { name, build, seeds } of rotated(round === 0 ? all : services, round))
        results[kind][name].push(await measured({ build, seeds, kind, milliseconds }, execArgv));
  }
  console.log(tableOf(results));
});

const each = (arms, make) => Object.fromEntries(arms.map(({ name }) => [name, make()]));

function readArm(text, before = []) {
  const [, name, folder] = text.match(/^([^=]+)=(.+)$/) ?? [];
  if (!name || [TWIN, NOTHING, ...before.map(({ name }) => name)].includes(name))
    throw new InvalidArgumentError("Write name=folder, each name once.");
  return [...before, { name, build: resolve(folder) }];
}

function readKinds(text) {
  const names = kindsOf(text)?.map(({ name }) => name);
  if (!names?.every((name) => NAMES.includes(name)))
    throw new InvalidArgumentError(`Kinds: ${NAMES.join("; ")}.`);
  return names;
}

/** Adds the development data to a build. The build's own code generates this data. @returns {Promise<Arm>} */
async function withSeeds({ name, build }) {
  const operator = join(build, "dashboard", "dashboard.js");
  if (![operator, join(build, "worker.js")].every((file) => existsSync(file)))
    throw new UserError(`\`${build}\` has no built Worker, or no \`dashboard\` folder beside it`);
  const { initSync, seed } = await import(pathToFileURL(operator).href);
  initSync({ module: readFileSync(join(build, "dashboard", "dashboard_bg.wasm")) });
  const seeds = [];
  await seed({
    read: async (names) => names.map(() => ({ value: null, metadata: null })),
    write: async (entry) => void seeds.push(entry),
  });
  return { name, build, seeds };
}

/** Measures the microseconds per request in a new process. */
async function measured(task, execArgv) {
  const child = fork(CHILD, { execArgv });
  let { microseconds, error } = { microseconds: 0, error: "the process said nothing" };
  child.on("message", (/** @type {any} */ result) => ({ microseconds, error } = result));
  child.send(task);
  await Promise.all([once(child, "disconnect"), once(child, "exit")]);
  if (error) throw new UserError(`${task.build}, ${task.kind}: ${error}`);
  return microseconds;
}

function tableOf(results) {
  const [first, ...others] = Object.keys(Object.values(results)[0]).filter(
    (name) => ![TWIN, NOTHING].includes(name),
  );
  const rows = NAMES.filter((kind) => kind in results).map((kind) => {
    const times = results[kind];
    const limit = noise(times[first], times[TWIN]);
    const micros = (name) => figure(median(times[name]));
    const cell = (name) => `${micros(name)}, ${compared(times[name], times[first], limit)}`;
    const noted = `± ${Math.ceil((limit - 1) * 100)} %`;
    return [kind, micros(first), noted, ...others.map(cell), micros(NOTHING)];
  });
  return table(["µs per request", first, "noise", ...others, NOTHING], rows);
}

await program.parseAsync();
