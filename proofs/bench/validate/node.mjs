/**
 * The contest in a Node of its own. Input: the plan and the cases as JSON; output: the results as
 * JSON.
 */
import { json } from "node:stream/consumers";
import { contest } from "./contest.mjs";

const { plan, cases } = /** @type {any} */ (await json(process.stdin));
process.stdout.write(JSON.stringify(await contest(plan, cases, (line) => console.error(line))));
