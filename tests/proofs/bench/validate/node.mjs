/**
 * Runs the benchmark of validators in a separate Node process. Argument: a file with the plan and the cases.
 * Output: the results as JSON.
 */
import { readFileSync } from "node:fs";
import { contest } from "./contest.mjs";

const { plan, cases } = JSON.parse(readFileSync(process.argv[2], "utf8"));
process.stdout.write(JSON.stringify(await contest(plan, cases, () => {})));
