/**
 * The parts of `npm run prove`. Each part is a program or a set of tests that fails if it finds a problem.
 */

/**
 * A part. `about`: what it checks; `minutes`: how long it takes on two processors; `program`: a module of this folder
 * and its arguments; `tests`: files of tests; `env`: environment variables for them.
 * @typedef {{name: string, about: string, minutes: number, program?: string[], tests?: string[], env?: NodeJS.ProcessEnv}} Part
 * @type {Part[]}
 */
export const PARTS = [
  {
    name: "simulation",
    about: "promises that the service breaks while KV is late, fails and loses writes",
    minutes: 10,
    program: ["simulation/command", "--minutes", "10"],
  },
  {
    name: "planted",
    about: "bugs, planted in a copy of the source, that the simulation misses",
    minutes: 5,
    program: ["simulation/command", "--bugs"],
  },
  {
    name: "mutants",
    about: "changes of the source that no Rust test notices",
    minutes: 60,
    program: ["mutants/command"],
  },
  {
    name: "faults",
    about: "data that the built Worker loses or duplicates while KV fails and workerd is killed",
    minutes: 5,
    program: ["faults/command", "--requests", "100000"],
  },
  {
    name: "kills",
    about: "data that a backup or a restore loses when its process is killed",
    minutes: 1,
    tests: ["tests/proofs/kills/kills.mjs"],
  },
  {
    name: "ledger",
    about:
      "rows of the ledger that are missing, doubled or different from KV after service and dashboard were killed",
    minutes: 14,
    tests: ["tests/proofs/ledger/ledger.mjs"],
  },
  {
    name: "orders",
    about: "orders of shops that are lost or pledged twice at 50 a second",
    minutes: 6,
    tests: ["tests/proofs/orders/orders.mjs"],
  },
  {
    name: "scale",
    about: "calls, rows and bytes of a transaction that the documented costs do not have",
    minutes: 2,
    tests: ["tests/proofs/scale/scale.mjs"],
  },
  {
    name: "crowds",
    about: "requests that fill an isolate's memory when 64 run at once",
    minutes: 1,
    tests: ["tests/server/limits.test.mjs"],
    env: { CROWDS: "all" },
  },
  {
    name: "schemathesis",
    about: "answers that differ from openapi.yaml",
    minutes: 1,
    tests: ["tests/proofs/schemathesis/schemathesis.mjs"],
  },
  {
    name: "clients",
    about: "clients in other languages, generated from openapi.yaml, that do not work",
    minutes: 4,
    tests: ["tests/proofs/clients/clients.mjs"],
  },
  {
    name: "fuzz",
    about: "inputs that break a reader of untrusted data",
    minutes: 10,
    program: ["fuzz/command", "--minutes", "2"],
  },
  {
    name: "package",
    about: "payloads and forms that the package reads wrongly, or for too long",
    minutes: 10,
    tests: [
      "tests/browser/form-posted.test.mjs",
      "tests/package/form-fuzz.test.mjs",
      "tests/package/form.test.mjs",
      "tests/package/validate-fuzz.test.mjs",
      "tests/package/validate-limits.test.mjs",
    ],
    env: { FC_MINUTES: "5", FC_RUNS: "20000", FUZZ_COUNT: "1000000", HOSTILE_COUNT: "200000" },
  },
  {
    name: "project",
    about: "steps of an operator that fail with Node and npm alone",
    minutes: 2,
    tests: ["tests/proofs/project/project.mjs"],
  },
  {
    name: "matrix",
    about: "runtimes, bundlers and test runners in which the packed package does not work",
    minutes: 5,
    program: ["matrix/command"],
  },
];
