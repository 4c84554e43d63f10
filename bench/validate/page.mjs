/** The contest in a page. */
import { contest } from "./contest.mjs";

globalThis.contest = (plan, verdicts) => contest(plan, verdicts, (line) => console.log(line));
