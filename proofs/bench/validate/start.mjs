/**
 * Runs in a fresh process: loads one bundle, checks one payload, and prints the milliseconds. Arguments: the bundle,
 * the payload.
 */
import { performance } from "node:perf_hooks";
import { pathToFileURL } from "node:url";

const [bundle, payload] = process.argv.slice(2);
const value = JSON.parse(payload);
const started = performance.now();
const { check } = await import(pathToFileURL(bundle).href);
const problems = check(value);
const took = performance.now() - started;
if (problems.length > 0) throw new Error(`${bundle} refuses a valid payload`);
process.stdout.write(String(took));
