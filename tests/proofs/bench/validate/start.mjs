/**
 * Measures the start of one validator in a fresh process: loads a bundle, checks a payload, and prints how
 * much processor time both took, in milliseconds. Arguments: the bundle and the payload.
 */
import { pathToFileURL } from "node:url";

const [bundle, payload] = process.argv.slice(2);
const value = JSON.parse(payload);
const started = process.cpuUsage();
const { check } = await import(pathToFileURL(bundle).href);
const problems = check(value);
const { user, system } = process.cpuUsage(started);
if (problems.length > 0) throw new Error(`${bundle} refuses a valid payload`);
process.stdout.write(String((user + system) / 1_000));
