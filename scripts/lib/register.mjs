/** The register of units and teams, which finds misspelt IDs. */
import { confirm } from "./command.mjs";
import { operator } from "./operator.mjs";

/**
 * Asks before IDs that the register lacks are taken into it.
 * @param {{tools: any, port: any, terminal: import("./output.mjs").Terminal}} at
 * @param {{units?: string[], team?: string}} ids
 * @param {{yes?: boolean, otherwise: string}} about as {@link confirm} takes it
 */
export async function confirmNew({ tools, port, terminal }, { units = [], team }, about) {
  const { lookUp } = await operator(tools);
  const levels = [...(team === undefined ? [] : [{ team }]), ...units.map((unit) => ({ unit }))];
  const unknown = await lookUp(port, levels);
  if (unknown.length === 0) return;
  const question = `The register has no ${unknown.map(named).join(", ")}. Add it?`;
  await confirm({ question, ...about }, terminal);
}

const named = ({ unit, team, suggestion }) =>
  `${unit === undefined ? `team \`${team}\`` : `unit \`${unit}\``}${suggestion ? ` (did you mean \`${suggestion}\`?)` : ""}`;
