/** The parts of `npm run prove`: each is a program that ends badly where it finds something. */

/**
 * `about`: what it finds; `minutes`: how long it takes on two processors; `program`: a module of this folder and its
 * arguments, or files of tests; `env`: variables for them.
 * @typedef {{name: string, about: string, minutes: number, program?: string[], tests?: string[], env?: NodeJS.ProcessEnv}} Part
 * @type {Part[]}
 */
export const PARTS = [
  {
    name: "simulation",
    about: "promises that the service breaks over a KV that is late, fails and loses",
    minutes: 10,
    program: ["simulation/command", "--minutes", "10"],
  },
  {
    name: "planted",
    about: "bugs planted in a copy of the source that the simulation does not find",
    minutes: 5,
    program: ["simulation/command", "--bugs"],
  },
  {
    name: "mutants",
    about: "changes of the source that no test finds",
    minutes: 60,
    program: ["mutants/command"],
  },
  {
    name: "faults",
    about: "what the built Worker loses or doubles while its KV fails and workerd is killed",
    minutes: 5,
    program: ["faults/command", "--requests", "100000"],
  },
  {
    name: "fuzz",
    about: "inputs that break a reader of untrusted data",
    minutes: 10,
    program: ["fuzz/command", "--minutes", "2"],
  },
  {
    name: "matrix",
    about: "runtimes, bundlers and test runners in which the packed package does not work",
    minutes: 5,
    program: ["matrix/command"],
  },
];
