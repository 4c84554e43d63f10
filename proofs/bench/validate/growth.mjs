/**
 * A fresh process with `--expose-gc`: one competitor on one payload of a size.
 * Arguments: `ours` or `ajv`, the number of pledges, `valid` or `problems`. Output: JSON.
 */
import { performance } from "node:perf_hooks";
import { fullRequest, generator, requestWithManyProblems } from "../data.mjs";
import { median } from "../numbers.mjs";

const LEAST_MS = 400;
const LEAST_RUNS = 3;
const MOST_RUNS = 2_000;

const [who, count, what] = process.argv.slice(2);
const instances = watchInstances();
const { check } = await import(who === "ours" ? "../rivals/ours.mjs" : "../rivals/ajv.mjs");
check({});
const make = what === "valid" ? fullRequest : requestWithManyProblems;
const value = JSON.parse(JSON.stringify(make(generator(3), Number(count))));
const { problems, bytes } = memoryOf(() => check(value));
process.stdout.write(
  JSON.stringify({ problems, bytes, wasm: wasmBytes(), microseconds: timeOf(() => check(value)) }),
);

/** A wasm's memory never shrinks, so what it has at the end is what it took. */
function watchInstances() {
  const made = [];
  WebAssembly.Instance = class extends WebAssembly.Instance {
    /** @param {ConstructorParameters<typeof WebAssembly.Instance>} args */
    constructor(...args) {
      super(...args);
      made.push(this);
    }
  };
  return made;
}

function wasmBytes() {
  return instances
    .map(({ exports }) => exports.memory?.buffer.byteLength ?? 0)
    .reduce((a, b) => a + b, 0);
}

/** The memory that the process has gained while the problems are referenced. */
function memoryOf(work) {
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  const problems = work();
  return { bytes: Math.max(0, process.memoryUsage().rss - before), problems: problems.length };
}

function timeOf(work) {
  const times = [];
  const end = performance.now() + LEAST_MS;
  while (times.length < LEAST_RUNS || (performance.now() < end && times.length < MOST_RUNS)) {
    const started = performance.now();
    work();
    times.push((performance.now() - started) * 1_000);
  }
  return median(times);
}
