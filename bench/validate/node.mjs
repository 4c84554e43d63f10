/** The contest in a Node of its own. Input: the plan and the verdicts as JSON; output: the results as JSON. */
import { json } from "node:stream/consumers";
import { contest } from "./contest.mjs";

const { plan, verdicts } = await json(process.stdin);
process.stdout.write(JSON.stringify(await contest(plan, verdicts, (line) => console.error(line))));
