/** Runs the contest in a page. */
import { contest } from "./contest.mjs";

globalThis.contest = ({ plan, cases }) => contest(plan, cases, (line) => console.log(line));
