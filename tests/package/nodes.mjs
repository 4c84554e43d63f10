/** Lists the versions of Node to test with: the Node that runs the tests, and another one if PATH has one. */
import { realpathSync } from "node:fs";
import { delimiter } from "node:path";
import { find } from "../../scripts/lib/run.mjs";

/** @returns {{name: string, node: string}[]} */
export function nodes() {
  const found = (process.env.PATH ?? "").split(delimiter).map((folder) => find("node", folder));
  const other = found.find((path) => path && realpathSync(path) !== realpathSync(process.execPath));
  return [
    { name: "this Node", node: process.execPath },
    ...(other ? [{ name: "the other Node in PATH", node: other }] : []),
  ];
}
