/** Runs the benchmark of validators in a web page. */
import { contest } from "./contest.mjs";

globalThis.contest = ({ plan, cases }) => contest(plan, cases, (line) => console.log(line));
