/**
 * Measures the start of one validator in a fresh process: loads a bundle, checks a payload, and prints how
 * long both took, in milliseconds. Arguments: the bundle and the payload.
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
