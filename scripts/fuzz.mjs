/** `npm run fuzz [-- --minutes 1] [door…]`: inputs that nobody has tried, through every door that untrusted data comes by. */
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join, resolve } from "node:path";
import { x } from "tinyexec";
import { entry } from "./lib/cache.mjs";
import { command, readMinutes } from "./lib/command.mjs";
import { prepareTools } from "./lib/tools.mjs";
import { UserError, duration, log } from "./lib/output.mjs";
import { find, run, withPath } from "./lib/run.mjs";

const ABOUT = `New inputs for every door of the service and of the client, by libFuzzer, and for the names of a form, by fast-check. It
ends with status 1 after an input that fails, and says where the input is and how to play it again.`;
const CARGO_FUZZ = "0.13.2";
const FORM = "form"; // the one door that is JavaScript
const REPORT_MS = 15_000;

const program = command("npm run fuzz --", ABOUT)
  .argument("[doors...]", "such as `json`; none means all")
  .option("--minutes <n>", "how long for each door", readMinutes, 1)
  .option("--input <file>", "only this input, through one door");

program.action(async (names, { minutes, input }) => {
  const { root, cache, native, env } = await prepareTools();
  const targets = readdirSync(join(root, "fuzz", "src", "bin")).map((file) =>
    basename(file, ".rs"),
  );
  const unknown = names.find((name) => ![...targets, FORM].includes(name));
  if (unknown)
    program.error(`there is no door \`${unknown}\`; name one of: ${[...targets, FORM].join(", ")}`);
  if (input && (names.length !== 1 || names[0] === FORM))
    program.error(
      "`--input` takes one door, and not `form`: that is played again by FC_SEED and FC_PATH",
    );
  const doors = names.length > 0 ? names : [...targets, FORM];
  const tools = { root, cargo: native.cargo, env, minutes };
  if (doors.some((door) => door !== FORM)) {
    tools.env = withPath(native.env, await cargoFuzz(cache, native));
    await run(native.cargo, fuzz("build"), { cwd: root, env: tools.env, show: true });
  }
  if (input)
    return run(native.cargo, fuzz("run", names[0], resolve(input)), {
      cwd: root,
      env: tools.env,
      show: true,
    });
  return playAll(doors, (door) => (door === FORM ? playForm(tools) : play(door, tools)), minutes);
});

/** The other sanitizers take a nightly Rust, and find nothing in safe code. */
const fuzz = (command, ...args) => ["fuzz", command, "--sanitizer", "none", ...args];

/** Plays as many doors at once as there are processors, all of them to the end. */
async function playAll(doors, playOne, minutes) {
  const queue = [...doors],
    failures = [],
    started = Date.now();
  log(`${doors.length} doors, each for ${minutes} min`);
  const work = async () => {
    for (let door = queue.shift(); door; door = queue.shift())
      await playOne(door).catch((error) => failures.push(error));
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  if (failures.length > 0) throw new UserError(failures.map(({ message }) => message).join("\n\n"));
  log(`nothing found in ${duration(Date.now() - started)}`);
}

/** New inputs are kept beside the corpus, for the next run; the corpus itself grows by hand. */
async function play(door, { root, cargo, env, minutes }) {
  const [found, corpus, artifacts] = ["found", "corpus", "artifacts"].map((folder) =>
    join(root, "fuzz", folder, door),
  );
  for (const folder of [found, artifacts]) mkdirSync(folder, { recursive: true });
  const limits = [
    `-max_total_time=${minutes * 60}`,
    "-max_len=4096",
    "-timeout=20",
    "-rss_limit_mb=1024",
    `-dict=${join(root, "fuzz", "contract.dict")}`,
  ];
  const child = x(cargo, fuzz("run", door, found, corpus, "--", ...limits), {
    nodeOptions: { cwd: root, env },
  });
  const lines = [];
  const state = () =>
    lines.findLast((line) => /^#\d+/.test(line))?.replace(/\s+/g, " ") ?? "starting";
  const beat = setInterval(() => log(`${door}: ${state()}`), REPORT_MS);
  for await (const line of child) if (lines.push(line) > 2_000) lines.splice(0, 1_000); // libFuzzer says much, of which the end counts
  clearInterval(beat);
  await child;
  if (child.exitCode !== 0) throw new UserError(failureOf(door, lines));
  log(`${door}: nothing found; ${state()}`);
}

/** What failed, where the input is, and how to play it again. */
function failureOf(door, lines) {
  const panic = lines.findIndex((line) => line.includes("panicked at"));
  const about =
    panic < 0 ? lines.slice(-20) : lines.slice(panic, lines.indexOf("stack backtrace:", panic));
  const file = lines.join("\n").match(/Test unit written to (.+)/)?.[1];
  const replay = [
    `the input is ${file}`,
    `play it again: npm run fuzz -- ${door} --input ${file}`,
    `once mended, keep it in fuzz/corpus/${door}: \`cargo test\` plays all of that`,
  ];
  return [`${door} failed`, ...about, ...(file ? replay : [])].join("\n");
}

async function playForm({ root, env, minutes }) {
  if (!existsSync(join(root, "pkg", "form.js")))
    await run(process.execPath, [join("scripts", "run.mjs"), "build", "package"], {
      cwd: root,
      show: true,
    });
  const test = run(
    process.execPath,
    ["--test", "--test-reporter=spec", "tests/package/form-fuzz.test.mjs"],
    { cwd: root, env: { ...env, FC_MINUTES: `${minutes}` } },
  );
  const output = await test.catch(({ output, message }) =>
    Promise.reject(new UserError(`${FORM} failed\n${output || message}`)),
  );
  log(
    `${FORM}: nothing found; ${[...output.matchAll(/ℹ (\d+ forms, seed -?\d+)/g)].map(([, ran]) => ran).join("; ")}`,
  );
}

/** The folder of cargo-fuzz in the shared cache. */
async function cargoFuzz(cache, { cargo, env }) {
  if (![process.env.CXX, "c++", "g++", "clang++"].some((name) => name && find(name, env.PATH))) {
    throw new UserError(
      "libFuzzer is C++, and there is no compiler of it: install one (Debian: `apt-get install g++`), or name yours in CXX",
    );
  }
  const folder = await entry(join(cache, `cargo-fuzz-${CARGO_FUZZ}`), async (folder) => {
    log(`set-up: cargo-fuzz ${CARGO_FUZZ}, about 2 minutes`);
    await run(
      cargo,
      ["install", "cargo-fuzz", "--version", CARGO_FUZZ, "--locked", "--root", folder],
      { env, show: true },
    );
  });
  return join(folder, "bin");
}

await program.parseAsync();
